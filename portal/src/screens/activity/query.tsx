/** Queries of one's own over the GraphQL of the tenant, with its schema beside them. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { graphql } from 'cm6-graphql';
import { buildSchema } from 'graphql';
import { useMemo, useState } from 'react';
import { useDraft } from '../../core/drafts.ts';
import { useTenant } from '../../core/session.ts';
import { useRecord } from '../../core/session-end.ts';
import { useTexts } from '../../core/texts.ts';
import { CodeEditor } from '../../editor/code-editor.tsx';
import { CodeBlock, curl, Notice, ProblemAlert, ShowAs } from '../../ui/index.ts';
import { ActivityPage, maySee } from './tabs.tsx';
import { texts } from './texts.ts';
import './query.css';

type Asked = { query: string; variables: string };
const first: Asked = {
  query: `query ($type: String!, $id: String!) {
  allRelationships(first: 50, filter: { fromType: { equalTo: $type }, fromId: { equalTo: $id } }) {
    nodes { relationship toType toId expiresAt }
    pageInfo { hasNextPage endCursor }
  }
}`,
  variables: '{ "type": "user", "id": "alice" }',
};

export default function Query() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  if (!maySee(tenant.role, 'query'))
    return (
      <ActivityPage place="query" about={t.queryAbout}>
        <Notice>{t.notForRole}</Notice>
      </ActivityPage>
    );
  const body = { query: first.query, variables: JSON.parse(first.variables) };
  const call = curl(api.path('/graphql'), { method: 'POST', body });
  return (
    <ActivityPage place="query" about={t.queryAbout} actions={<ShowAs curl={call} graphql={first.query} />}>
      <Asking />
    </ActivityPage>
  );
}

function Asking() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const schema = useQuery({
    queryKey: ['graphql', tenant.code],
    queryFn: async ({ signal }) => (await api.get<string>('/graphql/schema', { signal })).data,
    staleTime: Number.POSITIVE_INFINITY,
  });
  // The names are completed, and wrong ones marked, once the schema is there.
  const language = useMemo(
    () => (schema.data === undefined ? graphql() : graphql(buildSchema(schema.data))),
    [schema.data],
  );
  const { draft = first, keep } = useDraft<Asked>(`${tenant.code}/query`);
  const [answer, setAnswer] = useRecord<{ data: unknown; ms: number }>();
  const [error, setError] = useState<unknown>();
  const [wrong, setWrong] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    setError(undefined);
    setWrong(undefined);
    try {
      const variables = variablesOf(draft.variables);
      if (typeof variables === 'string') return setWrong(variables);
      const began = performance.now();
      const { data } = await api.post<{ data: unknown }>('/graphql', { body: { query: draft.query, variables } });
      setAnswer({ data: data.data, ms: Math.round(performance.now() - began) });
    } catch (caught) {
      setAnswer(undefined);
      setError(caught);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="query-sides">
      <div className="stack">
        {schema.error && <ProblemAlert error={schema.error} onRetry={() => void schema.refetch()} />}
        <CodeEditor
          label={t.document}
          language={language}
          value={draft.query}
          onChange={(query) => keep({ ...draft, query })}
        />
        <h2>{t.queryVariables}</h2>
        <CodeEditor
          label={t.queryVariables}
          language="json"
          value={draft.variables}
          onChange={(variables) => keep({ ...draft, variables })}
        />
        {wrong !== undefined && <Notice tone="bad">{t.notJson(wrong)}</Notice>}
        {error !== undefined && <ProblemAlert error={error} />}
        <div>
          <Button loading={isBusy} onClick={() => void run()}>
            {t.run}
          </Button>
        </div>
        {answer && (
          <section aria-label={t.result}>
            <h2>
              {t.result} <span className="dim">{t.tookMs(answer.ms)}</span>
            </h2>
            <CodeBlock code={JSON.stringify(answer.data, undefined, 2)} />
          </section>
        )}
      </div>
      {schema.data !== undefined && (
        <details className="query-schema" open>
          <summary>{t.schema}</summary>
          <CodeBlock code={schema.data} />
        </details>
      )}
    </div>
  );
}

/** A text says why they are none. */
function variablesOf(text: string): object | string {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : text;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
