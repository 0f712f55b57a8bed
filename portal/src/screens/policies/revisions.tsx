/** The revisions of a policy on a vertical line: who made each, what changed, and how to have it back. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import './policies.css';
import { useFilters, useRouteParams } from '../../core/address.ts';
import { segment } from '../../core/api.ts';
import { queryClient, usePages } from '../../core/query.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { CodeEditor } from '../../editor/code-editor.tsx';
import { Difference } from '../../editor/difference.tsx';
import { Confirm, curl, PageHeader, ProblemAlert, RelativeTime, ShowAs, State, toast } from '../../ui/index.ts';
import { Served } from './served.tsx';
import { type Serving, useServing } from './serving.ts';
import type { Revision, RevisionSource } from './shapes.ts';
import { texts } from './texts.ts';
import { readPolicy } from './use-editing.ts';

export default function Revisions() {
  const t = useTexts(texts);
  const { name = '' } = useRouteParams();
  const { tenant, api } = useTenant();
  const [{ revision: shown }, setFilters] = useFilters(['revision']);
  const [restored, setRestored] = useState<number>();
  const path = `/policies/${segment(name)}`;
  const pages = usePages(['policies', tenant.code, 'revisions', name], async (cursor, signal) => {
    const query = { cursor, limit: 50 };
    const { data } = await api.get<{ revisions: Revision[]; cursor?: string }>(`${path}/revisions`, { query, signal });
    return { rows: data.revisions, after: data.cursor };
  });
  const stored = useQuery({
    queryKey: ['policies', tenant.code, 'stored', name],
    queryFn: async ({ signal }) => (await readPolicy(api, name, signal)) ?? null,
  }).data;
  const serving = useServing()?.(name);
  const mayRestore = mayDo(tenant.role, 'edit') && stored?.policy.managedBy === 'api';
  const restore = async (number: number) => {
    await api.post(`${path}/revisions/${number}/restore`, { ifMatch: stored?.etag });
    await queryClient.invalidateQueries({ queryKey: ['policies', tenant.code] });
    toast({ text: t.restored(number) });
  };
  return (
    <>
      <PageHeader
        title={t.revisionsOf(name)}
        about={t.revisionsAbout}
        back={{ to: path, label: name }}
        actions={<ShowAs curl={curl(api.path(`${path}/revisions`))} />}
      />
      {pages.error && <ProblemAlert error={pages.error} onRetry={pages.reload} />}
      {pages.isLoading && <span className="skeleton" />}
      <ol className="policy-revisions">
        {pages.rows.map((one, index) => (
          <Entry
            key={one.revision}
            {...{ name, one, serving: index === 0 ? serving : undefined }}
            isCurrent={one.revision === stored?.policy.revision}
            before={pages.rows[index + 1]}
            isShown={shown === String(one.revision)}
            onShow={(isOn) => setFilters({ revision: isOn ? String(one.revision) : undefined })}
            onRestore={mayRestore && index > 0 && one.action !== 'delete' ? () => setRestored(one.revision) : undefined}
          />
        ))}
      </ol>
      {pages.hasMore && (
        <Button variant="default" loading={pages.isLoadingMore} onClick={pages.loadMore}>
          {t.older}
        </Button>
      )}
      {restored !== undefined && (
        <Confirm
          title={t.restoreTitle(restored, name)}
          consequences={[t.restoreNext((stored?.policy.revision ?? 0) + 1), t.restoreTests, t.restoreUndo]}
          action={t.restore}
          onConfirm={() => restore(restored)}
          onClose={() => setRestored(undefined)}
        />
      )}
    </>
  );
}

type EntryProps = {
  name: string;
  one: Revision;
  before: Revision | undefined;
  serving: Serving | undefined;
  isCurrent: boolean;
  isShown: boolean;
  onShow: (isOn: boolean) => void;
  onRestore: (() => void) | undefined;
};

function Entry({ name, one, before, serving, isCurrent, isShown, onShow, onRestore }: EntryProps) {
  const t = useTexts(texts);
  const { revision, action, updatedAt, updatedBy } = one;
  return (
    <li className={isCurrent ? 'current' : undefined}>
      <div className="row">
        <h2>{t.revisionNumber(revision)}</h2>
        {isCurrent && <State tone="ok">{t.isServed}</State>}
        <span>{t.actions[action] ?? action}</span>
        <span className="dim">
          <RelativeTime at={updatedAt} /> · {updatedBy}
        </span>
        {isCurrent && serving && <Served by={serving} />}
      </div>
      <div className="row">
        <button type="button" className="plain chip" aria-expanded={isShown} onClick={() => onShow(!isShown)}>
          {before ? t.differenceTo(before.revision) : t.showSource}
        </button>
        {onRestore && (
          <button type="button" className="plain chip" onClick={onRestore}>
            {t.restoreThis(revision)}
          </button>
        )}
      </div>
      {isShown && <Sources {...{ name, one, before }} />}
    </li>
  );
}

function Sources({ name, one, before }: Pick<EntryProps, 'name' | 'one' | 'before'>) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const found = useQuery({
    queryKey: ['policies', tenant.code, 'revision', name, one.revision, before?.revision],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const read = async (number: number | undefined) => {
        if (number === undefined) return '';
        const path = `/policies/${segment(name)}/revisions/${number}`;
        const { rego, effectiveRego } = (await api.get<RevisionSource>(path, { signal })).data;
        return rego ?? effectiveRego ?? '';
      };
      const [earlier = '', later = ''] = await Promise.all([read(before?.revision), read(one.revision)]);
      return { earlier, later };
    },
  });
  if (found.error) return <ProblemAlert error={found.error} />;
  if (found.data === undefined) return <span className="skeleton" />;
  const { earlier, later } = found.data;
  if (before === undefined)
    return <CodeEditor label={t.revisionNumber(one.revision)} language="rego" value={later} readOnly />;
  if (earlier === later) return <p className="dim">{t.sameSource}</p>;
  return (
    <Difference
      before={{ label: t.revisionNumber(before.revision), text: earlier }}
      after={{ label: t.revisionNumber(one.revision), text: later }}
    />
  );
}
