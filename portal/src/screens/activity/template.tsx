/** One mail template: its texts, and what a mail by it looks like. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useRouteParams } from '../../core/address.ts';
import { asRead, notStored, segment, type TenantApi } from '../../core/api.ts';
import { useDraft } from '../../core/drafts.ts';
import { isConflict, isMissing } from '../../core/problem.ts';
import { queryClient } from '../../core/query.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import {
  CodeBlock,
  Confirm,
  curl,
  DraftConflict,
  Facts,
  ManagedBy,
  Notice,
  ProblemAlert,
  ShowAs,
  toast,
  WithPanel,
} from '../../ui/index.ts';
import { manifestOf } from './manifest.ts';
import { ActivityPage } from './tabs.tsx';
import './template.css';
import { draftKeyOf, type Listed, nearest, TemplateLanguages, useTemplates } from './template-languages.tsx';
import { type Parts, TemplateParts } from './template-parts.tsx';
import { TemplatePreview, usePreview } from './template-preview.tsx';
import { TestMail, type Tried } from './test-mail.tsx';
import { texts } from './texts.ts';

type Template = Parts & Tried & { builtIn: boolean; managedBy?: string };

const apiPath = ({ name, language }: { name: string; language: string }) =>
  `/mail/templates/${segment(name)}/${segment(language)}`;

export default function TemplatePage() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const { name = '', language = '' } = useRouteParams();
  const path = apiPath({ name, language });
  const found = useQuery({
    queryKey: ['templates', tenant.code, name, language],
    queryFn: ({ signal }) => readTemplate(api, path, signal),
  });
  const isAbsent = found.data === null;
  const { copied, isSomewhere } = useCopied(isAbsent ? { name, language } : undefined);
  const template = found.data?.data;
  const edited = template ?? (isAbsent && mayDo(tenant.role, 'edit') ? copied : undefined);
  return (
    <ActivityPage
      place="templates"
      title={`${name} (${language})`}
      about={t.templatesAbout}
      actions={
        <ShowAs
          curl={curl(api.path(path))}
          manifest={template && manifestOf({ tenant: tenant.code, name, language }, template)}
        />
      }
    >
      <TemplateLanguages name={name} language={language} />
      {found.error && <ProblemAlert error={found.error} onRetry={() => void found.refetch()} />}
      {isAbsent && copied && (
        <Notice tone="warn">{edited ? t.isMissing(language, copied.copiedFrom) : t.isMissingHere(language)}</Notice>
      )}
      {isAbsent && !isSomewhere && <Notice>{t.noTemplate(name)}</Notice>}
      {template?.managedBy !== undefined && template.managedBy !== 'api' && <ManagedBy owner={template.managedBy} />}
      {edited && (
        <Editor
          key={path}
          template={edited}
          etag={found.data?.etag}
          path={path}
          draftKey={draftKeyOf(tenant.code, { name, language })}
        />
      )}
    </ActivityPage>
  );
}

/** null: there is none, which stays so while it is read again after the first save. */
async function readTemplate(api: TenantApi, path: string, signal: AbortSignal) {
  try {
    return await api.get<Template>(path, { signal });
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** What one in a language that is missing begins with. */
function useCopied(missing: { name: string; language: string } | undefined) {
  const { tenant, api } = useTenant();
  const listed = useTemplates().data?.data.templates;
  const from = missing && nearest(listed ?? [], missing.name, missing.language);
  const { data } = useQuery({
    queryKey: ['templates', tenant.code, from?.name, from?.language],
    queryFn: ({ signal }) => readTemplate(api, apiPath(from as Listed), signal),
    enabled: from !== undefined,
  });
  // Until the list is there, nobody knows.
  const isSomewhere = listed === undefined || from !== undefined;
  if (missing === undefined || from === undefined || !data) return { isSomewhere };
  // Nothing is stored in this language: it is nobody's.
  const { managedBy: _, ...rest } = data.data;
  return { isSomewhere, copied: { ...rest, ...missing, copiedFrom: from.language } };
}

type EditorProps = {
  template: Template & { copiedFrom?: string };
  etag: string | undefined;
  path: string;
  draftKey: string;
};

function Editor({ template, etag, path, draftKey }: EditorProps) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const kept = useDraft<Parts>(draftKey, etag ?? notStored);
  const { draft, keep, rebase, drop } = kept;
  const stored: Parts = { subject: template.subject, html: template.html ?? '', text: template.text ?? '' };
  const parts = draft ?? stored;
  const [isRestoring, setRestoring] = useState(false);
  const [isTesting, setTesting] = useState(false);
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const isOld = kept.isOld && !isBusy;
  const mayEdit = mayDo(tenant.role, 'edit') && (template.managedBy ?? 'api') === 'api';
  const sent = {
    subject: parts.subject,
    ...(parts.html ? { html: parts.html } : {}),
    ...(parts.text ? { text: parts.text } : {}),
  };
  const attempt = (work: () => Promise<unknown>) => {
    setError(undefined);
    work().catch(setError);
  };
  const reload = () => queryClient.invalidateQueries({ queryKey: ['templates', tenant.code] });
  const previewed = usePreview({ path, parts: sent, isBuiltIn: template.samples !== undefined });
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
      {isOld && (
        <DraftConflict onKeep={() => rebase(parts)} onDrop={drop}>
          <Facts facts={factsOf(stored, t)} />
        </DraftConflict>
      )}
      {draft !== undefined && !isOld && (
        <Notice>
          {t.draftKept}{' '}
          <button type="button" className="plain chip" onClick={drop}>
            {t.dropDraft}
          </button>
        </Notice>
      )}
      <div className="template-sides">
        <div className="stack">
          <TemplateParts
            {...{ parts, variables: template.variables, problems: previewed.problems, isReadOnly: !mayEdit }}
            onChange={(changed) => keep({ ...parts, ...changed })}
          />
          {template.variables.length > 0 && (
            <p className="dim">
              {t.variables}: <span className="mono">{template.variables.map((one) => `{{ ${one} }}`).join(' ')}</span>
            </p>
          )}
          {error !== undefined && <ProblemAlert error={error} />}
          <div className="chips">
            {mayDo(tenant.role, 'admin') && template.copiedFrom === undefined && (
              <Button variant="default" aria-expanded={isTesting} onClick={() => setTesting(!isTesting)}>
                {t.testMail}
              </Button>
            )}
            {mayEdit && (
              <Button loading={isBusy} disabled={isOld} onClick={() => attempt(save)}>
                {t.save}
              </Button>
            )}
            {mayEdit && !template.builtIn && template.copiedFrom === undefined && (
              <Button variant="default" onClick={() => setRestoring(true)}>
                {t.restore}
              </Button>
            )}
          </div>
        </div>
        <TemplatePreview previewed={previewed} />
      </div>
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

const factsOf = ({ subject, html, text }: Parts, t: (typeof texts)['en']): [string, ReactNode][] => [
  [t.mailSubject, subject],
  [t.html, html && <CodeBlock key="html" code={html} />],
  [t.text, text && <CodeBlock key="text" code={text} />],
];
