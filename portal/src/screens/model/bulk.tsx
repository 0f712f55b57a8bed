/** Relationships in bulk: a file of lines goes in, with progress, errors by line and going on after an interruption; all come out. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ChangeEvent, useRef, useState } from 'react';
import { useFilters } from '../../core/address.ts';
import { segment } from '../../core/api.ts';
import { isMissing } from '../../core/problem.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { reloadModel } from '../../model/load.ts';
import {
  CodeBlock,
  CopyId,
  curl,
  DataTable,
  Icon,
  Notice,
  ProblemAlert,
  Progress,
  ShowAs,
  State,
  useExport,
} from '../../ui/index.ts';
import { ModelPage } from './page.tsx';
import { texts } from './texts.ts';

type Import = {
  importId: string;
  lines: number;
  created: number;
  updated: number;
  unchanged: number;
  refused: number;
  errors: { line: number; pointer?: string; detail: string }[];
  finishedAt?: string;
};
const example =
  '{"from": {"type": "user", "id": "alice"}, "relationshipType": "drives", "to": {"type": "car", "id": "7"}}';

export default function Bulk() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const call = curl(api.path('/relationships/import'), { method: 'POST' });
  const asFile = `${call.replace(/\\?$/, '')} \\\n  -H 'Content-Type: application/x-ndjson' \\\n  --data-binary @relationships.ndjson`;
  return (
    <ModelPage place="bulk" about={t.bulkAbout} actions={<ShowAs curl={asFile} />}>
      {mayDo(tenant.role, 'admin') ? (
        <div className="model-columns">
          <ImportFile />
          <ExportAll />
        </div>
      ) : (
        <Notice>{t.adminsOnly}</Notice>
      )}
    </ModelPage>
  );
}

function ImportFile() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [{ import: importId }, set] = useFilters(['import']);
  const [file, setFile] = useState<{ name: string; body: string; lines: number }>();
  const [isRunning, setRunning] = useState(false);
  const [isStarting, setStarting] = useState(false);
  const [error, setError] = useState<unknown>();
  const stop = useRef<AbortController>(undefined);
  const newest = useRef<File>(undefined);
  const state = useQuery({
    queryKey: ['model', tenant.code, 'import', importId],
    // Before the first lines arrive there is nothing to ask for.
    enabled: importId !== undefined && !isStarting,
    refetchInterval: isRunning ? 1_000 : false,
    queryFn: async ({ signal }) => {
      try {
        return (await api.get<Import>(`/relationships/imports/${segment(importId ?? '')}`, { signal })).data;
      } catch (caught) {
        // The first line may not have arrived yet.
        if (isMissing(caught)) return null;
        throw caught;
      }
    },
  });
  const choose = async (event: ChangeEvent<HTMLInputElement>) => {
    const chosen = event.currentTarget.files?.[0];
    newest.current = chosen;
    setFile(undefined);
    setError(undefined);
    if (chosen === undefined) return;
    try {
      const body = await chosen.text();
      if (newest.current !== chosen) return; // another one was chosen meanwhile
      setFile({ name: chosen.name, body, lines: body.split('\n').filter((line) => line.trim() !== '').length });
    } catch (caught) {
      if (newest.current === chosen) setError(caught);
    }
  };
  const run = async (id: string) => {
    if (file === undefined) return;
    stop.current = new AbortController();
    setRunning(true);
    setStarting(true);
    const started = setTimeout(() => setStarting(false), 1_500);
    setError(undefined);
    set({ import: id });
    try {
      await api.post('/relationships/import', {
        query: { importId: id },
        text: { type: 'application/x-ndjson', body: file.body },
        signal: stop.current.signal,
      });
    } catch (caught) {
      if (!stop.current.signal.aborted) setError(caught);
    }
    clearTimeout(started);
    setStarting(false);
    setRunning(false);
    await reloadModel(tenant.code);
  };
  const known = state.data ?? undefined;
  const canResume = importId !== undefined && known?.finishedAt === undefined && !isRunning;
  return (
    <section className="card stack" aria-labelledby="import">
      <h2 id="import">{t.importTitle}</h2>
      <p className="dim">{t.importAbout}</p>
      <CodeBlock code={example} />
      {isRunning ? (
        <Progress
          label={t.importing(file?.name ?? '')}
          done={known?.lines ?? 0}
          total={file?.lines}
          onCancel={() => stop.current?.abort()}
        />
      ) : (
        <>
          <label className="field">
            {t.file}
            <input type="file" accept=".ndjson,.jsonl,.json,.txt,application/x-ndjson" onChange={choose} />
          </label>
          <div className="row">
            <Button disabled={file === undefined || file.lines === 0} onClick={() => run(crypto.randomUUID())}>
              {t.startImport(file?.lines ?? 0)}
            </Button>
            {canResume && (
              <Button variant="default" disabled={file === undefined} onClick={() => run(importId)}>
                {t.resume}
              </Button>
            )}
          </div>
          {canResume && <p className="dim">{file === undefined ? t.resumeAbout : t.resumeFile(file.name)}</p>}
        </>
      )}
      {error !== undefined && <ProblemAlert error={error} />}
      {state.error && <ProblemAlert error={state.error} onRetry={() => state.refetch()} />}
      {known && <Report of={known} />}
    </section>
  );
}

function Report({ of }: { of: Import }) {
  const t = useTexts(texts);
  return (
    <section className="stack" aria-label={t.importReport}>
      <p className="row" role="status">
        {of.finishedAt === undefined ? (
          <State tone="accent">{t.notFinished}</State>
        ) : (
          <State tone={of.refused > 0 ? 'warn' : 'ok'}>{t.finished}</State>
        )}
        {t.importCounts(of.lines, of.created, of.updated, of.unchanged)}
      </p>
      <p className="dim">
        {t.importId} <CopyId id={of.importId} max={40} />
      </p>
      {of.refused > 0 && (
        <>
          <h3>{t.refused(of.refused)}</h3>
          <DataTable
            label={t.refused(of.refused)}
            pages={{ rows: of.errors }}
            rowKey={({ line, pointer }) => `${line} ${pointer}`}
            columns={[
              { id: 'line', header: t.line, numeric: true, cell: ({ line }) => line },
              { id: 'place', header: t.place, cell: ({ pointer }) => <code>{pointer}</code> },
              { id: 'why', header: t.problem, cell: ({ detail }) => detail },
            ]}
          />
          {of.errors.length < of.refused && <p className="dim">{t.firstErrors(of.errors.length)}</p>}
        </>
      )}
    </section>
  );
}

function ExportAll() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const { start, isBusy, shown } = useExport();
  const total = async () => {
    const { data } = await api.get<{ maxRelationships: { used: number } }>('/limits');
    return data.maxRelationships.used || undefined;
  };
  const file = { path: api.path('/relationships/export'), name: `${tenant.code}-relationships.ndjson`, total };
  return (
    <section className="card stack" aria-labelledby="export">
      <h2 id="export">{t.exportTitle}</h2>
      <p className="dim">{t.exportAbout}</p>
      <div>
        <Button
          variant="default"
          disabled={isBusy}
          leftSection={<Icon name="download" />}
          onClick={() => void start(file)}
        >
          {t.exportAll}
        </Button>
      </div>
      {shown}
    </section>
  );
}
