/** A document of a version: new, or one that is not in effect yet. What is typed is kept until it is saved. */
import { Button, NativeSelect, Textarea, TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';
import { notStored } from '../../core/api.ts';
import { useDraft } from '../../core/drafts.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { DraftConflict, Facts, Notice, ProblemAlert, SidePanel, toast } from '../../ui/index.ts';
import { hourFrom, instantOf, localOf } from './instants.ts';
import { type DocumentConfig, languagesOf, pathOfDocument, type Tree } from './shapes.ts';
import { texts } from './texts.ts';
import { type Sanitized, useSave } from './use-save.ts';

type Fields = {
  version: string;
  language: string;
  document: string;
  date: string;
  title: string;
  mediaType: string;
  body: string;
};
export type Changed = { version: string; config: DocumentConfig; etag: string | undefined };
type Props = { tree: Tree; now: number; changed?: Changed | undefined; onClose: () => void };

export function DocumentForm({ tree, now, changed: opened, onClose }: Props) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [changed, setChanged] = useState(opened);
  const { name } = tree.config;
  const key = changed ? `${changed.version}/${changed.config.language}/${changed.config.version}` : '';
  const draftKey = `${tenant.code}/consent/${name}/document/${key}`;
  const { draft, isOld, keep, rebase, drop, saved } = useDraft<Fields>(draftKey, changed?.etag ?? notStored);
  const fields = draft ?? firstOf(tree, now, changed);
  const set = (some: Partial<Fields>) => keep({ ...fields, ...some });
  const [moving, setMoving] = useState<Fields>();
  useEffect(() => {
    if (moving !== undefined) keep(moving);
    setMoving(undefined);
  }, [moving, keep]);
  const [sanitized, setSanitized] = useState<Sanitized>();
  const { save, error, isBusy } = useSave(
    (told, etag) => {
      const typed = saved(draft, changed === undefined ? notStored : etag);
      toast({ text: t.madeDocument(fields.document) });
      setSanitized(told);
      if (typed !== undefined) goOn(typed, etag);
      else if (told === undefined) onClose();
    },
    async () => {
      if (changed === undefined) return;
      const { data, etag } = await api.get<{ config: DocumentConfig }>(path);
      setChanged({ ...changed, config: data.config, etag });
    },
  );
  /** What was typed while it was saved is a change of what is saved now, unless it is of another document. */
  const goOn = (typed: Fields, etag: string | undefined) => {
    const { version, language, document } = fields;
    const isSame = typed.version === version && typed.language === language && typed.document === document;
    if (changed === undefined && isSame) {
      drop();
      setMoving(typed);
    }
    if (changed !== undefined || isSame)
      setChanged({ version, config: { ...body, version: document.trim(), language: language.trim() }, etag });
  };
  const wrong = wrongOf(fields, tree, { now, changed, t });
  const path = pathOfDocument(name, fields.version, {
    language: fields.language.trim(),
    version: fields.document.trim(),
  });
  const body = bodyOf(fields, changed?.config);
  const isWrong = Object.values(wrong).some((one) => one !== undefined);
  const title = changed ? t.changeDocument(changed.config.version) : t.newDocument;
  if (sanitized !== undefined)
    return (
      <SidePanel
        label={title}
        title={title}
        onClose={() => (draft === undefined ? onClose() : setSanitized(undefined))}
      >
        <Notice tone="warn">
          <p>{t.sanitized}</p>
          <p className="mono">{sanitized.removed.join(' ')}</p>
        </Notice>
      </SidePanel>
    );
  return (
    <SidePanel label={title} title={title} onClose={onClose}>
      <form className="form" onSubmit={(event) => void save(event, { path, body, etag: changed?.etag })}>
        <ul className="dim">
          {t.documentRules.map((rule) => (
            <li key={rule}>{rule}</li>
          ))}
        </ul>
        <NativeSelect
          label={t.version}
          data={tree.versions.map(({ config }) => config.version)}
          value={fields.version}
          disabled={changed !== undefined}
          onChange={(event) => set({ version: event.currentTarget.value })}
        />
        <TextInput
          label={t.language}
          description={t.languageRule(languagesOf(tree))}
          required
          maxLength={64}
          disabled={changed !== undefined}
          value={fields.language}
          error={wrong.language}
          onChange={(event) => set({ language: event.currentTarget.value })}
        />
        <TextInput
          label={t.documentVersion}
          required
          maxLength={64}
          disabled={changed !== undefined}
          value={fields.document}
          error={wrong.document}
          onChange={(event) => set({ document: event.currentTarget.value })}
        />
        <TextInput
          type="datetime-local"
          label={t.effectiveDate}
          required
          value={fields.date}
          error={wrong.date}
          onChange={(event) => set({ date: event.currentTarget.value })}
        />
        <TextInput
          label={t.textTitle}
          description={t.textRule}
          maxLength={200}
          required={fields.body !== ''}
          value={fields.title}
          onChange={(event) => set({ title: event.currentTarget.value })}
        />
        <MediaType value={fields.mediaType} onChange={(mediaType) => set({ mediaType })} />
        <Textarea
          label={t.text}
          autosize={false}
          rows={8}
          required={fields.title !== ''}
          value={fields.body}
          onChange={(event) => set({ body: event.currentTarget.value })}
        />
        {isOld && (
          <DraftConflict onKeep={() => rebase(fields)} onDrop={drop}>
            <Facts facts={factsOf(firstOf(tree, now, changed), t)} />
          </DraftConflict>
        )}
        {error !== undefined && !isOld && <ProblemAlert error={error} />}
        <Button type="submit" loading={isBusy} disabled={isWrong || isOld}>
          {t.save}
        </Button>
      </form>
    </SidePanel>
  );
}

const MediaType = ({ value, onChange }: { value: string; onChange: (value: string) => void }) => (
  <NativeSelect
    label={useTexts(texts).mediaType}
    data={['text/plain', 'text/html']}
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
  />
);

const factsOf = ({ date, title, mediaType, body }: Fields, t: (typeof texts)['en']): [string, string][] => [
  [t.effectiveDate, date],
  [t.textTitle, title],
  [t.mediaType, mediaType],
  [t.text, body],
];

const HOUR_MS = 3_600_000;

function firstOf(tree: Tree, now: number, changed: Changed | undefined): Fields {
  const version = changed?.version ?? tree.versions.at(-1)?.config.version ?? '';
  const { config } = changed ?? {};
  return {
    ...{ version, language: config?.language ?? languagesOf(tree)[0] ?? 'en', document: config?.version ?? '' },
    date: localOf(config ? Date.parse(config.effectiveDate) : hourFrom(now, HOUR_MS)),
    title: config?.content?.url === undefined ? (config?.content?.title ?? '') : '',
    mediaType: config?.content?.mediaType === 'text/html' ? 'text/html' : 'text/plain',
    body: config?.content?.body ?? '',
  };
}

type Judged = { now: number; changed: Changed | undefined; t: (typeof texts)['en'] };

/** What the server would refuse, said while it is typed. */
function wrongOf({ version, language, document, date }: Fields, tree: Tree, { now, changed, t }: Judged) {
  const at = instantOf(date);
  const spelled = languagesOf(tree).find(
    (one) => one !== language.trim() && one.toLowerCase() === language.trim().toLowerCase(),
  );
  const others = tree.versions.flatMap(({ config, documents }) =>
    documents
      .filter((one) => one.config.language === language.trim())
      .map((one) => ({
        version: config.version,
        document: one.config.version,
        at: Date.parse(one.config.effectiveDate),
      })),
  );
  const isSame = (one: { version: string; document: string }) =>
    one.version === version && one.document === document.trim();
  const isTaken = others.some((one) => one.at === at && !isSame(one));
  return {
    language: spelled === undefined ? undefined : t.otherSpelling(spelled),
    document: changed === undefined && others.some(isSame) ? t.taken(document.trim()) : undefined,
    date: at === undefined || at < now ? t.inFuture : isTaken ? t.dateTaken : undefined,
  };
}

function bodyOf({ date, title, mediaType, body }: Fields, before: DocumentConfig | undefined) {
  const {
    version: _,
    language: __,
    effectiveDate: ___,
    content,
    ...attributes
  } = before ?? { version: '', language: '', effectiveDate: '' };
  const kept = content?.url !== undefined && body === '' ? { content } : {};
  const text = title === '' || body === '' ? kept : { content: { title, mediaType, body } };
  return { ...attributes, effectiveDate: new Date(instantOf(date) ?? 0).toISOString(), ...text };
}
