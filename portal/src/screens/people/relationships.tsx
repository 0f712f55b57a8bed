/** The relationships that a person has, and those that lead to it. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { segment } from '../../core/api.ts';
import { queryClient, usePages } from '../../core/query.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { keyOf, Relation, useTenantNames } from '../../model/names.tsx';
import { Confirm, Icon, Link, ProblemAlert, RelativeTime, toast } from '../../ui/index.ts';
import { useUiTexts } from '../../ui/texts.ts';
import { type Entity, type Relationship, text } from './shapes.ts';
import { texts } from './texts.ts';

type Listed = { relationshipType: string; from?: Entity; to?: Entity; expiresAt?: string };

export function Relationships({ of, side }: { of: Entity; side: 'from' | 'to' }) {
  const t = useTexts(texts);
  const ui = useUiTexts();
  const { tenant, api } = useTenant();
  const [ending, setEnding] = useState<Relationship>();
  const path = `/${side === 'from' ? 'actors' : 'resources'}/${segment(of.type)}/${segment(of.id)}/relationships`;
  const pages = usePages(['people', tenant.code, of, 'relationships', side], async (cursor, signal) => {
    const { data } = await api.get<{ relationships: Listed[]; cursor?: string }>(path, {
      query: { cursor, limit: 20 },
      signal,
    });
    const rows = data.relationships.map((one): Relationship => ({ from: of, to: of, ...one }));
    return { rows, after: data.cursor };
  });
  const title = side === 'from' ? t.relationships : t.reachedBy;
  return (
    <section className="card stack" aria-label={title}>
      <h2>{title}</h2>
      {pages.error && <ProblemAlert error={pages.error} onRetry={pages.retry} />}
      {!pages.isLoading && !pages.error && pages.rows.length === 0 && (
        <p className="dim">{side === 'from' ? t.noRelationships : t.notReached}</p>
      )}
      <ul className="person-list">
        {pages.rows.map((one) => (
          <li key={`${text(one.from)} ${one.relationshipType} ${text(one.to)}`}>
            <span>
              {side === 'from' ? (
                <>
                  <Relation of={one} /> <Other entity={one.to} />
                </>
              ) : (
                <>
                  <Other entity={one.from} /> <Relation of={one} />
                </>
              )}
              {one.expiresAt !== undefined && (
                <span className="dim">
                  {' '}
                  · {t.until} <RelativeTime at={one.expiresAt} />
                </span>
              )}
            </span>
            {mayDo(tenant.role, 'admin') && (
              <button
                type="button"
                className="plain chip"
                aria-label={`${t.end}: ${text(one.from)} ${one.relationshipType} ${text(one.to)}`}
                onClick={() => setEnding(one)}
              >
                {t.end}
              </button>
            )}
          </li>
        ))}
      </ul>
      {pages.hasMore && (
        <Button variant="default" loading={pages.isLoadingMore} onClick={pages.loadMore}>
          {ui.loadMore}
        </Button>
      )}
      {tenant.role !== 'support' && (
        <Link to={`/model/relationships?type=${segment(of.type)}&id=${segment(of.id)}`}>
          <Icon name="model" /> {t.drawn}
        </Link>
      )}
      {ending && <EndRelationship of={ending} onClose={() => setEnding(undefined)} />}
    </section>
  );
}

function Other({ entity }: { entity: Entity }) {
  const { tenant } = useTenant();
  if (tenant.role === 'support') return <span className="mono">{text(entity)}</span>;
  return (
    <Link to={`/model/relationships?type=${segment(entity.type)}&id=${segment(entity.id)}`} className="mono">
      {text(entity)}
    </Link>
  );
}

function EndRelationship({
  of: { from, relationshipType, to, expiresAt },
  onClose,
}: {
  of: Relationship;
  onClose: () => void;
}) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const list = `/actors/${segment(from.type)}/${segment(from.id)}/relationships`;
  const reload = () => queryClient.invalidateQueries({ queryKey: ['people', tenant.code] });
  const said = `${text(from)} ${useTenantNames()(keyOf({ from, relationshipType, to }))} ${text(to)}`;
  const undo = () =>
    void api
      .post(list, { body: { relationshipType, to, ...(expiresAt && { expiresAt }) } })
      .then(reload, () => toast({ text: t.notUndone }));
  return (
    <Confirm
      title={t.endTitle(said)}
      consequences={t.endWhat(text(from), text(to))}
      action={t.endIt}
      onClose={onClose}
      onConfirm={async () => {
        await api.delete(`${list}/${segment(relationshipType)}/${segment(to.type)}/${segment(to.id)}`);
        await reload();
        toast({ text: t.ended(said), undo });
      }}
    />
  );
}
