/** SQL that reads what decisions are given of relationships and attributes: one statement for the questions of one tenant that were asked together. */
import type { Static } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { column, type Sql, sql } from '../core/db/sql.ts';
import { limits } from '../core/limits.ts';
import type { PathPattern } from './graph/path-pattern.ts';
import { type Group, groupsOf, numberedSteps, type PathSteps } from './graph/path-steps.ts';
import type { Asked, GraphQuery, Pointed, Walk } from './graph/query.ts';
import { GraphRow } from './graph/schema.ts';

type Row = Static<typeof GraphRow>;
/** Rows, and walks that met too much: nothing of those is among the rows. */
export type Found = { rows: Row[]; unfinished: GraphQuery['walks'] };

/** Rows in no order; a relationship may come more than once. More than limits.factsEdgesMax of a query: too many. */
export async function readGraph(tx: Transaction, query: GraphQuery): Promise<Found> {
  const groups = { from: groupsOf(query.walks.from, 'from'), to: groupsOf(query.walks.to, 'to') };
  // What holds over a path may also be stored itself.
  const exact = [...query.exact, ...query.walks.from, ...query.walks.to];
  const parts = [
    ...(query.from.length > 0 ? [relationships(query, 'from')] : []),
    ...(query.to.length > 0 ? [relationships(query, 'to')] : []),
    ...(query.subject.length > 0 ? [entities(query, query.subject)] : []),
    ...(query.resource.length > 0 ? [entities(query, query.resource)] : []),
    ...(exact.length > 0 ? [pointed(query, exact, sql`${leaving} and ${arriving}`, 'is there')] : []),
    ...(query.ranges.from.length > 0
      ? [pointed(query, query.ranges.from, sql`${leaving} and r.to_type = q.to_type`, 'itself')]
      : []),
    ...(query.ranges.to.length > 0
      ? [pointed(query, query.ranges.to, sql`${arriving} and r.from_type = q.from_type`, 'itself')]
      : []),
    ...walked(query, 'from', groups.from, 0),
    ...walked(query, 'to', groups.to, groups.from.length),
  ];
  const [first, ...others] = parts;
  if (first === undefined) return { rows: [], unfinished: { from: [], to: [] } };
  const rows = await tx.many(
    GraphRow,
    others.reduce((all, part) => sql`${all} union all ${part}`, first),
  );
  return groups.from.length + groups.to.length === 0
    ? { rows, unfinished: { from: [], to: [] } }
    : shared(rows, groups);
}

/** Gives what a group met to its members, and takes away what is too much. */
function shared(rows: readonly Row[], groups: Record<'from' | 'to', readonly Group[]>): Found {
  const of = [...groups.from, ...groups.to];
  const met = { from: 0, to: 0 };
  for (const { query_id: id } of rows) if (id < 0) met[-1 - id < groups.from.length ? 'from' : 'to']++;
  const all = rows.flatMap((row) =>
    row.query_id >= 0
      ? [row]
      : (of[-1 - row.query_id] as Group).members.map(({ queryId }) => ({ ...row, query_id: queryId })),
  );
  const counts = new Map<number, number>();
  if (all.length > limits.factsEdgesMax) for (const { query_id: id } of all) counts.set(id, (counts.get(id) ?? 0) + 1);
  const tooMuch = (start: 'from' | 'to'): Walk[] =>
    groups[start].flatMap(({ members }) =>
      members.filter(
        ({ queryId }) => met[start] > limits.factsEdgesMax || (counts.get(queryId) ?? 0) > limits.factsEdgesMax,
      ),
    );
  const unfinished = { from: tooMuch('from'), to: tooMuch('to') };
  if (unfinished.from.length + unfinished.to.length === 0) return { rows: all, unfinished };
  const gone = new Set([...unfinished.from, ...unfinished.to].map(({ queryId }) => queryId));
  return { rows: all.filter((row) => !gone.has(row.query_id)), unfinished };
}

const edge = sql`r.from_type, r.from_id, r.name, r.to_type, r.to_id`;
/** Of a row that says less than a relationship. */
const nameless = sql`null as from_type, null as from_id, null as name, null as to_type, null as to_id`;

/** At most so many stored relationships (`r`) that fit and hold at an instant. */
function stored({ tenant }: GraphQuery, fits: Sql, now: Sql, most: number): Sql {
  return sql`select ${edge} from accord.relationship r
    where r.tenant = ${tenant} and ${fits} and (r.expires_at is null or r.expires_at > ${now}) limit ${most}`;
}

/** The attributes of the far end of relationships `e`, and the join for them; `q.part` tells which end that is. */
function far({ tenant, attributes }: GraphQuery): { values: Sql; join: Sql } {
  if (!attributes) return { values: sql`null::jsonb`, join: sql`` };
  const join = sql`left join accord.entity t on t.tenant = ${tenant}
    and t.type = case q.part when 'from' then e.to_type else e.from_type end
    and t.id = case q.part when 'from' then e.to_id else e.from_id end`;
  return { values: sql`t.attributes`, join };
}

const leaving = sql`r.name = q.name and r.from_type = q.from_type and r.from_id = q.from_id`;
const arriving = sql`r.name = q.name and r.to_type = q.to_type and r.to_id = q.to_id`;

function asked(list: readonly Asked[]): Sql {
  return sql`unnest(${column.integers(list, ({ queryId }) => queryId)}, ${column.texts(list, ({ type }) => type)},
    ${column.texts(list, ({ id }) => id)}, ${column.instants(list, ({ now }) => now)},
    ${column.booleans(list, ({ walk }) => walk)}) as q (query_id, type, id, now, walks)`;
}

function relationships(query: GraphQuery, side: 'from' | 'to'): Sql {
  const { tenant } = query;
  const mine =
    side === 'from' ? sql`r.from_type = q.type and r.from_id = q.id` : sql`r.to_type = q.type and r.to_id = q.id`;
  const direct = stored(query, mine, sql`q.now`, limits.factsEntriesMax + 1);
  const walks = query[side].some((one) => one.walk);
  const end =
    side === 'from' ? sql`t.type = e.to_type and t.id = e.to_id` : sql`t.type = e.from_type and t.id = e.from_id`;
  const [attributes, join] = query.attributes
    ? [sql`t.attributes`, sql`left join accord.entity t on t.tenant = ${tenant} and ${end}`]
    : [sql`null::jsonb`, sql``];
  return sql`select q.query_id, e.*, ${attributes} as attributes
    from ${asked(query[side])} cross join lateral (${walks ? walk(query, side, direct) : direct}) as e ${join}`;
}

function pointers(list: readonly Pointed[]): Sql {
  return sql`unnest(${column.integers(list, ({ queryId }) => queryId)}, ${column.texts(list, ({ from }) => from.type)},
    ${column.texts(list, ({ from }) => from.id ?? '')}, ${column.texts(list, ({ name }) => name)},
    ${column.texts(list, ({ to }) => to.type)}, ${column.texts(list, ({ to }) => to.id ?? '')},
    ${column.instants(list, ({ now }) => now)}, ${column.texts(list, ({ part }) => part)})
    as q (query_id, from_type, from_id, name, to_type, to_id, now, part)`;
}

/** What each of a list finds: the relationships themselves, or only that there is one; and the attributes of the far end. */
function pointed(query: GraphQuery, list: readonly Pointed[], fits: Sql, shown: 'itself' | 'is there'): Sql {
  const { values, join } = far(query);
  const [told, most] = shown === 'itself' ? [sql`e.*`, limits.factsEntriesMax + 1] : [nameless, 1];
  return sql`select q.query_id, ${told}, ${values} as attributes
    from ${pointers(list)} cross join lateral (${stored(query, fits, sql`q.now`, most)}) as e ${join}`;
}

const columnsOf = {
  from: {
    near: sql`r.from_type = q.type and r.from_id = q.id`,
    next: sql`r.from_type = i.to_type and r.from_id = i.to_id`,
    farType: sql`r.to_type`,
    farId: sql`r.to_id`,
  },
  to: {
    near: sql`r.to_type = q.type and r.to_id = q.id`,
    next: sql`r.to_type = i.from_type and r.to_id = i.from_id`,
    farType: sql`r.from_type`,
    farId: sql`r.from_id`,
  },
};
const most = limits.factsEdgesMax + 1;

/**
 * Every stored relationship on a path between two entities that are both known, and few others: from one end over those that
 * another may follow, and from each entity reached those that lead to the other end, by their key. So an entity that has very
 * many costs nothing where they can only be the last of a path. What is stored as the whole path is not among them.
 *
 * All walks go together, and their groups meet at most one more than factsEdgesMax together. What a group met has as
 * query_id its number, from -1 - offset downwards.
 */
function walked(query: GraphQuery, start: 'from' | 'to', groups: readonly Group[], offset: number): Sql[] {
  const numbered = numberedSteps(groups, start);
  const of = (pattern: PathPattern) => numbered.get(pattern) as PathSteps & { base: number };
  const firsts = groups.flatMap((group, g) => {
    const { first, base } = of(group.pattern);
    return first.map((step) => ({ g, state: base + step.state, group, step }));
  });
  if (firsts.length === 0) return [];
  const lasts = groups.flatMap((group, g) => {
    const { last, base } = of(group.pattern);
    return group.members.flatMap((one) => last.map((step) => ({ g, after: base + step.after, one, step })));
  });
  const { near, next, farType, farId } = columnsOf[start];
  const begin = sql`select q.g, q.state, q.now, e.* from unnest(${column.integers(firsts, ({ g }) => g)},
      ${column.integers(firsts, ({ state }) => state)}, ${column.texts(firsts, ({ group }) => group.type)},
      ${column.texts(firsts, ({ group }) => group.id)}, ${column.texts(firsts, ({ step }) => step.name)},
      ${column.texts(firsts, ({ step }) => step.type)}, ${column.instants(firsts, ({ group }) => group.now)})
      as q (g, state, type, id, name, far_type, now)
    cross join lateral (${stored(query, sql`r.name = q.name and ${near} and ${farType} = q.far_type`, sql`q.now`, most)}) as e`;
  const inner = [...numbered.values()].flatMap(({ inner: steps, base }) => steps.map((step) => ({ base, step })));
  const other = start === 'from' ? 'to' : 'from';
  const at = sql`unnest(${column.integers(lasts, ({ one }) => one.queryId)}, ${column.integers(lasts, ({ g }) => g)},
      ${column.integers(lasts, ({ after }) => after)}, ${column.texts(lasts, ({ step }) => step.name)},
      ${column.texts(lasts, ({ step }) => step.type)}, ${column.texts(lasts, ({ one }) => one[other].id ?? '')},
      ${column.instants(lasts, ({ one }) => one.now)}, ${column.texts(lasts, ({ one }) => one.part)})
      as q (query_id, g, after, name, type, id, now, part)`;
  const end = stored(
    query,
    sql`r.name = q.name and ${next} and ${farType} = q.type and ${farId} = q.id`,
    sql`q.now`,
    1,
  );
  const { values, join } = far(query);
  const met = turned(query, start, groups);
  return [
    sql`(with ${inner.length === 0 ? sql`i as materialized (${begin} limit ${most})` : levels(query, start, begin, inner)}
      select ${-1 - offset}::integer - i.g as query_id, i.from_type, i.from_id, i.name, i.to_type, i.to_id, ${met.values} as attributes from i ${met.join}
      union all select q.query_id, e.*, ${values} from i join ${at} on q.g = i.g and q.after = i.state
        cross join lateral (${end}) as e ${join})`,
  ];
}

/** Walks that begin at the far end of what is asked for meet that end first: the attributes of the far end of what they met. */
function turned({ tenant, attributes }: GraphQuery, start: 'from' | 'to', groups: readonly Group[]) {
  const isTurned = groups.some(({ members }) => members.some(({ part }) => part !== start));
  if (!attributes || !isTurned) return { values: sql`null::jsonb`, join: sql`` };
  const end =
    start === 'to' ? sql`t.type = i.to_type and t.id = i.to_id` : sql`t.type = i.from_type and t.id = i.from_id`;
  return { values: sql`t.attributes`, join: sql`left join accord.entity t on t.tenant = ${tenant} and ${end}` };
}

/**
 * Level by level, where more than one may stand between the ends, each relationship once in each state, so that a cycle
 * ends. Limited, so that it stays a look-up for each place and step: the planner knows nothing of how many come together.
 * And compared with columns only: anything else that row-level security takes for leaky keeps the index from being used.
 */
function levels(
  query: GraphQuery,
  start: 'from' | 'to',
  begin: Sql,
  steps: readonly { base: number; step: PathSteps['inner'][number] }[],
): Sql {
  const { next, farType } = columnsOf[start];
  const at = sql`unnest(${column.integers(steps, ({ base, step }) => base + step.after)},
      ${column.integers(steps, ({ base, step }) => base + step.state)}, ${column.texts(steps, ({ step }) => step.name)},
      ${column.texts(steps, ({ step }) => step.type)}) as s (after, state, name, type)`;
  const onward = stored(query, sql`r.name = s.name and ${next} and ${farType} = s.type`, sql`i.now`, most);
  return sql`recursive w (g, state, now, from_type, from_id, name, to_type, to_id) as (
      select b.* from (${begin}) as b
      union
      select i.g, s.state, i.now, e.* from w as i join ${at} on s.after = i.state cross join lateral (${onward}) as e),
    i as materialized (select * from w limit ${most})`;
}

/** Level by level from the direct ones, each once, so that a cycle ends. Cut past factsEdgesMax, which its reader refuses. */
function walk({ tenant, follows }: GraphQuery, side: 'from' | 'to', direct: Sql): Sql {
  const pairs = follows.map(([first, second]) => [...first.split(':'), ...second.split(':')]);
  const at = (index: number) => column.texts(pairs, (pair) => pair[index] as string);
  const after = sql`unnest(${at(0)}, ${at(1)}, ${at(2)}, ${at(4)},
    ${at(5)}) as f (first_from, first_name, middle, second_name, second_to)`;
  const step =
    side === 'from'
      ? sql`f on f.first_from = w.from_type and f.first_name = w.name and f.middle = w.to_type
        join accord.relationship r on r.tenant = ${tenant} and r.from_type = w.to_type and r.from_id = w.to_id
          and r.name = f.second_name and r.to_type = f.second_to`
      : sql`f on f.middle = w.from_type and f.second_name = w.name and f.second_to = w.to_type
        join accord.relationship r on r.tenant = ${tenant} and r.to_type = w.from_type and r.to_id = w.from_id
          and r.name = f.first_name and r.from_type = f.first_from`;
  return sql`with recursive w (from_type, from_id, name, to_type, to_id) as (
      select d.* from (${direct}) as d
      union
      select ${edge} from w join (select * from ${after}) as ${step} where q.walks and (r.expires_at is null or r.expires_at > q.now))
    select from_type, from_id, name, to_type, to_id from w limit ${limits.factsEdgesMax + 1}`;
}

function entities({ tenant }: GraphQuery, list: readonly Asked[]): Sql {
  return sql`select q.query_id, ${nameless}, t.attributes
    from ${asked(list)} join accord.entity t on t.tenant = ${tenant} and t.type = q.type and t.id = q.id`;
}

/**
 * Ids of the actors that have a stored relationship, given a query's row `q` (from_type, name, to_type, to_id, now). Another room
 * joins it laterally with its own tables.
 */
export function holders(tenant: string, most: number): Sql {
  return sql`select r.from_id as id from accord.relationship r where r.tenant = ${tenant} and ${arriving}
    and r.from_type = q.from_type and (r.expires_at is null or r.expires_at > q.now) limit ${most}`;
}
