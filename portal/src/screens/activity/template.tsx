/** One mail template: its texts, and what a mail by it looks like. */
import { Button, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useRouteParams } from '../../core/address.ts';
import { asRead, notStored, segment } from '../../core/api.ts';
import { useDraft } from '../../core/drafts.ts';
import { isConflict } from '../../core/problem.ts';
import { queryClient } from '../../core/query.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { newManifest, Owned, ShowChange, type Spec, storedYaml, yamlOfNew } from '../../manifests/index.ts';
import { HtmlFrame } from '../../ui/html-frame.tsx';
import {
  CodeBlock,
  Confirm,
  curl,
  DraftConflict,
  Facts,
  Notice,
  ProblemAlert,
  ShowAs,
  toast,
  WithPanel,
} from '../../ui/index.ts';
import { ActivityPage } from './tabs.tsx';
import { TestMail, type Tried } from './test-mail.tsx';
import { texts } from './texts.ts';

type Parts = { subject: string; html?: string; text?: string };
type Shown = { subject: string; text: string; html?: string };
type Template = Parts & Tried & { builtIn: boolean; managedBy?: string };

export default function TemplatePage() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const { name = '', language = '' } = useRouteParams();
  const path = `/mail/templates/${segment(name)}/${segment(language)}`;
  const found = useQuery({
    queryKey: ['templates', tenant.code, name, language],
    queryFn: ({ signal }) => api.get<Template>(path, { signal }),
  });
  const [isChanging, setChanging] = useState(false);
  const template = found.data?.data;
  const of = { kind: 'MailTemplate', name: `${name}/${language}` };
  const builtIn = ({ subject, html, text }: Parts) =>
    yamlOfNew(newManifest('MailTemplate', tenant.code, `${name}-${language}`, { name, language, subject, html, text }));
  return (
    <ActivityPage
      place="templates"
      title={`${name} (${language})`}
      about={t.templatesAbout}
      actions={
        <ShowAs
          curl={curl(api.path(path))}
          {...(template && { manifest: template.builtIn ? builtIn(template) : storedYaml(api, of) })}
        />
      }
    >
      {found.error && <ProblemAlert error={found.error} onRetry={() => void found.refetch()} />}
      <Owned of={of} owner={template?.managedBy ?? 'api'} form={{ isOpen: isChanging, onOpen: setChanging }} />
      {template && (
        <Editor
          key={path}
          template={template}
          etag={found.data?.etag}
          path={path}
          draftKey={`${tenant.code}/template/${name}/${language}`}
          of={of}
          isChanging={isChanging}
        />
      )}
    </ActivityPage>
  );
}

type EditorProps = {
  template: Template;
  etag: string | undefined;
  path: string;
  draftKey: string;
  of: { kind: string; name: string };
  /** A change of what a manifest owns is open. */
  isChanging: boolean;
};

function Editor({ template, etag, path, draftKey, of, isChanging }: EditorProps) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const kept = useDraft<Parts>(draftKey, etag ?? notStored);
  const { draft, keep, rebase, drop } = kept;
  const stored: Parts = { subject: template.subject, html: template.html ?? '', text: template.text ?? '' };
  const isManaged = (template.managedBy ?? 'api') !== 'api';
  // Where nothing can be changed, what is stored is shown, also when this browser has a draft.
  const parts = isManaged && !isChanging ? stored : (draft ?? stored);
  const [isRestoring, setRestoring] = useState(false);
  const [isTesting, setTesting] = useState(false);
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const isOld = kept.isOld && !isBusy;
  const mayType = mayDo(tenant.role, 'edit') && (!isManaged || isChanging);
  const mayEdit = mayType && !isManaged;
  const sent = {
    subject: parts.subject,
    ...(parts.html ? { html: parts.html } : {}),
    ...(parts.text ? { text: parts.text } : {}),
  };
  const specOf = ({ subject: _subject, html: _html, text: _text, ...rest }: Spec): Spec => ({ ...rest, ...sent });
  const attempt = (work: () => Promise<unknown>) => {
    setError(undefined);
    work().catch(setError);
  };
  const reload = () => queryClient.invalidateQueries({ queryKey: ['templates', tenant.code] });
  const { preview, show } = usePreview(path, sent, setError);
  const save = async () => {
    setBusy(true);
    try {
      const written = await api.put(path, { ...asRead(etag), body: sent });
      await reload();
      kept.saved(draft, written.etag);
      toast({ text: t.saved });
    } catch (caught) {
      // What somebody else saved is shown, with the draft where there is one.
      if (isConflict(caught)) await reload();
      if (!isConflict(caught) || draft === undefined) throw caught;
    } finally {
      setBusy(false);
    }
  };
  const test = isTesting && <TestMail of={template} hasDraft={draft !== undefined} onClose={() => setTesting(false)} />;
  return (
    <WithPanel panel={test}>
      {isOld && mayType && (
        <DraftConflict onKeep={() => rebase(parts)} onDrop={drop}>
          <Facts facts={factsOf(stored, t)} />
        </DraftConflict>
      )}
      {draft !== undefined && !isOld && mayType && (
        <Notice>
          {t.draftKept}{' '}
          <button type="button" className="plain chip" onClick={drop}>
            {t.dropDraft}
          </button>
        </Notice>
      )}
      <div className="form" style={{ maxWidth: 'none' }}>
        <Fields parts={parts} isReadOnly={!mayType} onChange={(changed) => keep({ ...parts, ...changed })} />
        {template.variables.length > 0 && (
          <p className="dim">
            {t.variables}: <span className="mono">{template.variables.map((one) => `{{ ${one} }}`).join(' ')}</span>
          </p>
        )}
        {error !== undefined && <ProblemAlert error={error} />}
        <div className="chips">
          {mayDo(tenant.role, 'edit') && (
            <Button variant="default" onClick={() => void show()}>
              {t.preview}
            </Button>
          )}
          {mayDo(tenant.role, 'admin') && (
            <Button variant="default" aria-expanded={isTesting} onClick={() => setTesting(!isTesting)}>
              {t.testMail}
            </Button>
          )}
          {mayType && isManaged && <ShowChange of={of} spec={specOf} isDisabled={draft === undefined || isOld} />}
          {mayEdit && (
            <Button loading={isBusy} disabled={isOld} onClick={() => attempt(save)}>
              {t.save}
            </Button>
          )}
          {mayEdit && !template.builtIn && (
            <Button variant="default" onClick={() => setRestoring(true)}>
              {t.restore}
            </Button>
          )}
        </div>
      </div>
      {preview && <Preview key={preview.count} preview={preview} />}
      {isRestoring && (
        <Confirm
          title={t.restoreTitle}
          consequences={t.restoreWhat}
          action={t.restore}
          onClose={() => setRestoring(false)}
          onConfirm={async () => {
            await api.delete(path, etag === undefined ? {} : { ifMatch: etag });
            drop();
            await reload();
            toast({ text: t.restored });
          }}
        />
      )}
    </WithPanel>
  );
}

/** What the mail looks like once it was asked for, made again after a moment without typing. */
function usePreview(path: string, body: object, setError: (error: unknown) => void) {
  const { api } = useTenant();
  const [preview, setPreview] = useState<Shown & { count: number }>();
  const made = useRef<string>(undefined);
  const source = JSON.stringify(body);
  const isShown = preview !== undefined;
  const show = async (signal?: AbortSignal) => {
    made.current = source;
    try {
      const { data } = await api.post<Shown>(`${path}/preview`, { body, ...(signal && { signal }) });
      setError(undefined);
      setPreview((before) => ({ ...data, count: (before?.count ?? 0) + 1 }));
    } catch (error) {
      if (!signal?.aborted) setError(error);
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: of what is typed
  useEffect(() => {
    if (!isShown || made.current === source) return;
    const stop = new AbortController();
    const timer = setTimeout(() => void show(stop.signal), 500);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [source, isShown]);
  return { preview, show };
}

type FieldsProps = { parts: Parts; isReadOnly: boolean; onChange: (changed: Partial<Parts>) => void };

function Fields({ parts, isReadOnly, onChange }: FieldsProps) {
  const t = useTexts(texts);
  return (
    <>
      <TextInput
        label={t.mailSubject}
        readOnly={isReadOnly}
        value={parts.subject}
        onChange={(event) => onChange({ subject: event.currentTarget.value })}
      />
      <Textarea
        label={t.html}
        readOnly={isReadOnly}
        rows={14}
        className="mono"
        value={parts.html ?? ''}
        onChange={(event) => onChange({ html: event.currentTarget.value })}
      />
      <Textarea
        label={t.text}
        readOnly={isReadOnly}
        rows={8}
        className="mono"
        value={parts.text ?? ''}
        onChange={(event) => onChange({ text: event.currentTarget.value })}
      />
    </>
  );
}

const factsOf = ({ subject, html, text }: Parts, t: (typeof texts)['en']): [string, ReactNode][] => [
  [t.mailSubject, subject],
  [t.html, html && <CodeBlock key="html" code={html} />],
  [t.text, text && <CodeBlock key="text" code={text} />],
];

function Preview({ preview: { subject, text, html } }: { preview: Shown }) {
  const t = useTexts(texts);
  return (
    <section className="card stack" aria-label={t.preview}>
      <h2>{subject}</h2>
      {html !== undefined && (
        <>
          <HtmlFrame html={html} title={t.previewHtml} />
          <p className="dim">{t.previewLimits}</p>
          <details>
            <summary>{t.previewSource}</summary>
            <CodeBlock code={html} />
          </details>
        </>
      )}
      <h3>{t.previewText}</h3>
      <CodeBlock code={text} />
    </section>
  );
}
