/** A new version, and the end of life of one, with their rules said before they refuse. */
import { Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useLanguage, useTexts } from '../../core/texts.ts';
import { Notice, ProblemAlert, SidePanel, toast } from '../../ui/index.ts';
import { AttributesInput, useAttributes } from './attributes.tsx';
import { durationText, hourFrom, instantOf, localOf } from './instants.ts';
import { addDuration, inEffect, type SeenVersion } from './seen.ts';
import { type EndOfLife, pathOfEnd, pathOfVersion, type Tree, versionsOf } from './shapes.ts';
import { texts } from './texts.ts';
import { useSave } from './use-save.ts';

type Props = { tree: Tree; onClose: () => void };
const DAY_MS = 86_400_000;

export function VersionForm({ tree, onClose }: Props) {
  const t = useTexts(texts);
  const [version, setVersion] = useState('');
  const attributes = useAttributes();
  const { save, error, isBusy } = useSave(() => {
    toast({ text: t.madeVersion(version.trim()) });
    onClose();
  });
  const isTaken = tree.versions.some((one) => one.config.version === version.trim());
  const path = pathOfVersion(tree.config.name, version.trim());
  const body = { ...attributes.value, optInConfig: { type: 'direct' } };
  return (
    <SidePanel label={t.newVersion} title={t.newVersion} onClose={onClose}>
      <form className="form" onSubmit={(event) => void save(event, { path, body, etag: undefined })}>
        <p className="dim">{t.versionRule}</p>
        <TextInput
          label={t.version}
          required
          maxLength={64}
          value={version}
          error={isTaken ? t.taken(version.trim()) : undefined}
          onChange={(event) => setVersion(event.currentTarget.value)}
        />
        <AttributesInput attributes={attributes} />
        {error !== undefined && <ProblemAlert error={error} />}
        <Button type="submit" loading={isBusy} disabled={isTaken || attributes.isWrong}>
          {t.create}
        </Button>
      </form>
    </SidePanel>
  );
}

/** One that is changed, as it was when the form was opened. */
export type ChangedEnd = { config: EndOfLife; etag: string | undefined };
type EndProps = Props & { version: string; changed: ChangedEnd | undefined; now: number };

export function EndForm({ tree, version, changed, now, onClose }: EndProps) {
  const t = useTexts(texts);
  const { language } = useLanguage();
  const before = changed?.config;
  const [start, setStart] = useState(localOf(before ? Date.parse(before.startDate) : hourFrom(now, 7 * DAY_MS)));
  const [end, setEnd] = useState(localOf(before ? Date.parse(before.endDate) : hourFrom(now, 97 * DAY_MS)));
  const [grace, setGrace] = useState(before?.gracePeriod ?? 'P30D');
  const { save, error, isBusy } = useSave(() => {
    toast({ text: t.madeEnd(version) });
    onClose();
  });
  const [from, until] = [instantOf(start), instantOf(end)];
  const wrong = {
    start: from === undefined || from <= now ? t.inFuture : undefined,
    end: from !== undefined && until !== undefined && until > from ? undefined : t.endAfter,
    grace: addDuration(0, grace) === undefined ? t.noDuration : undefined,
  };
  const hasSuccessor = from !== undefined && versionsOf(tree).some((one) => isSuccessor(one, version, from));
  const day = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'short' });
  const body = {
    ...{ startDate: new Date(from ?? 0).toISOString(), endDate: new Date(until ?? 0).toISOString() },
    gracePeriod: grace,
  };
  const path = pathOfEnd(tree.config.name, version);
  const isWrong = Object.values(wrong).some((one) => one !== undefined);
  return (
    <SidePanel label={t.endOfLife} title={t.endOf(version)} onClose={onClose}>
      <form className="form" onSubmit={(event) => void save(event, { path, body, etag: changed?.etag })}>
        <ul className="dim">
          {t.endRules.map((rule) => (
            <li key={rule}>{rule}</li>
          ))}
        </ul>
        <TextInput
          type="datetime-local"
          label={t.startDate}
          required
          value={start}
          error={wrong.start}
          onChange={(event) => setStart(event.currentTarget.value)}
        />
        <TextInput
          type="datetime-local"
          label={t.endDate}
          required
          value={end}
          error={wrong.end}
          onChange={(event) => setEnd(event.currentTarget.value)}
        />
        <TextInput
          label={t.gracePeriod}
          description={t.graceRule}
          required
          value={grace}
          error={wrong.grace}
          onChange={(event) => setGrace(event.currentTarget.value)}
        />
        {!isWrong && from !== undefined && until !== undefined && (
          <Notice>{t.endMeans(version, day.format(from), durationText(language, grace), day.format(until))}</Notice>
        )}
        {!isWrong && !hasSuccessor && <Notice tone="warn">{t.noSuccessor}</Notice>}
        {error !== undefined && <ProblemAlert error={error} />}
        <Button type="submit" loading={isBusy} disabled={isWrong}>
          {t.save}
        </Button>
      </form>
    </SidePanel>
  );
}

/** A version that users can go to when the other begins to end. */
const isSuccessor = (one: SeenVersion, ending: string, at: number) =>
  one.version !== ending && inEffect(one, at).length > 0 && !(one.endOfLife && one.endOfLife.startDate <= at);
