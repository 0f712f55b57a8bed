/** Changes the spec of a manifest as YAML, for kinds without a form. Nothing is written: the change is a text to apply. */
import { yaml } from '@codemirror/lang-yaml';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useDraft } from '../core/drafts.ts';
import { readOnce } from '../core/query.ts';
import { useTenant } from '../core/session.ts';
import { useTexts } from '../core/texts.ts';
import { CodeEditor, type LineProblem } from '../editor/code-editor.tsx';
import { CodeBlock, DraftConflict, Notice, ProblemAlert } from '../ui/index.ts';
import ChangeDialog from './change-dialog.tsx';
import type { Of, Spec, Stored } from './manifest.ts';
import { readManifest } from './read.ts';
import { texts } from './texts.ts';
import { parseYaml, type Refusal, yamlOf } from './yaml.ts';

const language = yaml();

export default function SpecEditor({ of, draftKey }: { of: Of; draftKey: string }) {
  const { tenant, api } = useTenant();
  const found = useQuery({
    queryKey: ['manifests', tenant.code, 'spec', draftKey],
    queryFn: ({ signal }) => readManifest(api, of, signal),
    ...readOnce,
  });
  if (found.error) return <ProblemAlert error={found.error} onRetry={() => void found.refetch()} />;
  if (found.data === undefined) return <span className="skeleton" />;
  return <Editor stored={found.data} draftKey={draftKey} />;
}

function Editor({ stored, draftKey }: { stored: Stored; draftKey: string }) {
  const t = useTexts(texts);
  const first = yamlOf(stored.manifest.spec);
  // A draft stays a change of what it was begun with.
  const { draft, isOld, keep, rebase, drop } = useDraft<string>(draftKey, first);
  const text = draft ?? first;
  const checking = useCheck(stored);
  const title = t.editing(stored.manifest.kind);
  const change = (typed: string) => {
    checking.forget();
    if (typed === first) drop();
    else keep(typed);
  };
  return (
    <section className="card stack" aria-label={title}>
      <h2>{title}</h2>
      <p className="dim">
        {t.editingAbout} {t.secrets}
      </p>
      {isOld && (
        <DraftConflict onKeep={() => rebase(text)} onDrop={drop}>
          <CodeBlock code={first} />
        </DraftConflict>
      )}
      <CodeEditor label={title} language={language} value={text} onChange={change} problems={checking.problems} />
      {checking.problems.length > 0 && (
        <Notice tone="bad">
          <p role="alert">{t.wrong}</p>
          <ul>
            {checking.problems.map(({ line, detail }) => (
              <li key={`${line} ${detail}`}>{detail}</li>
            ))}
          </ul>
        </Notice>
      )}
      {checking.error !== undefined && <ProblemAlert error={checking.error} />}
      <div className="row">
        <Button disabled={isOld || text === first} loading={checking.isBusy} onClick={() => checking.check(text)}>
          {t.show}
        </Button>
        {draft !== undefined && (
          <Button variant="default" onClick={() => change(first)}>
            {t.discard}
          </Button>
        )}
      </div>
      {checking.spec && <ChangeDialog stored={stored} spec={checking.spec} onClose={checking.forget} />}
    </section>
  );
}

/** What the server says of a manifest before its change is shown. */
function useCheck({ manifest }: Stored) {
  const t = useTexts(texts);
  const { api } = useTenant();
  const [problems, setProblems] = useState<readonly LineProblem[]>([]);
  const [spec, setSpec] = useState<Spec>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  // Also what is being asked: the answer is of a text that is not there any more.
  const forget = () => {
    running.current?.abort();
    setBusy(false);
    setSpec(undefined);
    setError(undefined);
    if (problems.length > 0) setProblems([]);
  };
  const check = async (text: string) => {
    forget();
    const parsed = parseYaml(text);
    if (parsed.problems.length > 0) return setProblems(parsed.problems);
    const { value } = parsed;
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return setProblems([{ line: 1, detail: t.notObject }]);
    const stop = new AbortController();
    const { signal } = stop;
    running.current = stop;
    setBusy(true);
    try {
      const body = { manifest: { ...manifest, spec: value } };
      const { data } = await api.post<{ errors: Refusal[] }>('/resources/manifest/check', { body, signal });
      if (signal.aborted) return;
      // Pointers are of the manifest, lines of its spec.
      const ofSpec = data.errors.map((one) => ({ ...one, pointer: one.pointer.replace(/^\/spec/, '') }));
      if (ofSpec.length > 0) setProblems(parsed.placed(ofSpec));
      else setSpec(value as Spec);
    } catch (caught) {
      if (!signal.aborted) setError(caught);
    }
    if (!signal.aborted) setBusy(false);
  };
  return { problems, spec, error, isBusy, check: (text: string) => void check(text), forget };
}
