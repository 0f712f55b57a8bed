/** What a new user, one who agreed to an older version, and an invited one see at the instant of the line. */
import { useState } from 'react';
import { useLanguage, useTexts } from '../../core/texts.ts';
import { ChoiceFilter, State } from '../../ui/index.ts';
import { type Gave, inEffect, type Seen, type SeenVersion, seenAt } from './seen.ts';
import { texts } from './texts.ts';

type Props = { versions: readonly SeenVersion[]; languages: readonly string[]; at: number };
const tones = { given: 'ok', valid: 'ok', grace: 'warn', expired: 'bad', required: 'accent' } as const;

export function Preview({ versions, languages, at }: Props) {
  const t = useTexts(texts);
  const [chosen, setChosen] = useState<{ language?: string; version?: string }>({});
  const language = chosen.language ?? languages[0] ?? '';
  const older =
    versions.find(({ version }) => version === chosen.version) ?? versions.find((one) => one.endOfLife) ?? versions[0];
  const agreed = older && (inEffect(older, at, language)[0] ?? inEffect(older, at)[0]);
  const gave: Gave | undefined = older &&
    agreed && { version: older.version, document: agreed.version, language: agreed.language };
  const start = older?.endOfLife?.startDate;
  const invited: Gave | undefined =
    gave && start !== undefined && at >= start ? { ...gave, invitedAt: start } : undefined;
  const name = older?.version ?? '';
  return (
    <div className="stack">
      <div className="chips">
        <ChoiceFilter
          label={t.language}
          value={language}
          options={languages.map((one) => ({ value: one, label: one }))}
          onChange={(one) => setChosen({ ...chosen, language: one })}
        />
        <ChoiceFilter
          label={t.agreedTo}
          value={name}
          options={versions.map(({ version }) => ({ value: version, label: version }))}
          onChange={(version) => setChosen({ ...chosen, version })}
        />
      </div>
      <div className="seen">
        <Sees who={t.newUser} seen={seenAt(versions, language, undefined, at)} />
        <Sees
          who={t.oldUser(name)}
          seen={gave && seenAt(versions, language, gave, at)}
          instead={gave === undefined ? t.notYet(name) : undefined}
        />
        <Sees
          who={t.invitedUser(name)}
          seen={invited && seenAt(versions, language, invited, at)}
          instead={invited === undefined ? (start === undefined ? t.noEnd(name) : t.notInvited) : undefined}
        />
      </div>
    </div>
  );
}

function Sees({ who, seen, instead }: { who: string; seen: Seen | undefined; instead?: string | undefined }) {
  const t = useTexts(texts);
  const { language } = useLanguage();
  const day = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' });
  return (
    <div>
      <h3>{who}</h3>
      {seen === undefined ? (
        <p className="dim">{instead ?? t.nothingAsked}</p>
      ) : (
        <>
          <p>
            <State tone={tones[seen.status]}>{t.statuses[seen.status]}</State>
          </p>
          <p>{t.sees[seen.status](seen.version, `${seen.document.version}, ${seen.document.language}`)}</p>
          {seen.gracePeriodEnds !== undefined && <p>{t.until(day.format(seen.gracePeriodEnds))}</p>}
        </>
      )}
    </div>
  );
}
