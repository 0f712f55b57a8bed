/** Random graphs of relationships, with cycles, inheritance and expiry, and putting them into the database. */
import type { Database } from '../../server/core/db/database.ts';
import { sql } from '../../server/core/db/sql.ts';
import { typesOf } from '../../server/types/index.ts';

export const NOW = Date.UTC(2026, 0, 1);

export type Node = { type: string; id: string };
export type Edge = { from: Node; name: string; to: Node; expiresAt?: number };
export type Way = { makes: string; through: string; next: string };

/** Mulberry32: the same graphs in each run. */
export function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

export const nodeTypes = ['user', 'group', 'doc'];
export const names = ['member_of', 'owns', 'reads'];

export function randomGraph(seed: number): { edges: Edge[]; ways: Way[] } {
  const below = random(seed);
  const pick = <T>(list: readonly T[]) => list[below(list.length)] as T;
  const node = (type: string): Node => ({ type, id: `${below(4)}` });
  const edges: Edge[] = [];
  for (let i = 0; i < 4 + below(16); i++) {
    const expiresAt = [undefined, undefined, NOW + 1, NOW, NOW - 1][below(5)];
    edges.push({
      from: node(pick(nodeTypes)),
      name: pick(names),
      to: node(pick(nodeTypes)),
      ...(expiresAt ? { expiresAt } : {}),
    });
  }
  const ways = Array.from({ length: 1 + below(5) }, () => {
    const [from, middle, to] = [pick(nodeTypes), pick(nodeTypes), pick(nodeTypes)];
    return {
      makes: `${from}:${pick(names)}:${to}`,
      through: `${from}:${pick(names)}:${middle}`,
      next: `${middle}:${pick(names)}:${to}`,
    };
  });
  return { edges, ways };
}

/** The types room's rows of a graph: every type that it or its ways name. */
export function typesFor(edges: readonly Edge[], ways: readonly Way[]) {
  const keys = new Set([
    ...edges.map(({ from, name, to }) => `${from.type}:${name}:${to.type}`),
    ...ways.flatMap(({ makes, through, next }) => [makes, through, next]),
  ]);
  const rows = [...keys].map((key) => {
    const [from_type = '', name = '', to_type = ''] = key.split(':');
    const inheritedThrough = ways
      .filter((way) => way.makes === key)
      .map(({ through, next }) => ({ relationship: through, from: next }));
    return { from_type, name, to_type, spec: { inheritedThrough } };
  });
  return typesOf(
    [...nodeTypes, 'car'].map((name) => ({ name, spec: {} })),
    rows,
  );
}

export async function store(database: Database, tenant: string, edges: readonly Edge[]): Promise<void> {
  const of = <T>(read: (edge: Edge) => T) => edges.map(read);
  await database.tenant(tenant, (tx) =>
    tx.run(sql`insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id, expires_at)
      select ${tenant}, * from unnest(${of((e) => e.from.type)}::text[], ${of((e) => e.from.id)}::text[], ${of((e) => e.name)}::text[],
        ${of((e) => e.to.type)}::text[], ${of((e) => e.to.id)}::text[],
        ${of((e) => (e.expiresAt ? new Date(e.expiresAt).toISOString() : null))}::timestamptz[]) on conflict do nothing`),
  );
}

/** The first of equal edges counts, as in the table. */
export function distinct(edges: readonly Edge[]): Edge[] {
  return [
    ...new Map(
      [...edges].reverse().map((e) => [`${JSON.stringify(e.from)} ${e.name} ${JSON.stringify(e.to)}`, e]),
    ).values(),
  ];
}
