/** All SQL of the facts room: one statement for the questions of one tenant that were asked together. */
import type { Static } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { type Sql, sql } from '../core/db/sql.ts';
import { limits } from '../core/limits.ts';
import { FactRow } from './schema.ts';
import { stepsOf, type Ways } from './ways.ts';

/** A thing that question `n` is about, at its instant (RFC 3339). `walk`: also what may follow by inheritance. */
export type Asked = { n: number; type: string; id: string; now: string; walk: boolean };
export type FactsQuery = {
  tenant: string;
  from: readonly Asked[];
  to: readonly Asked[];
  subject: readonly Asked[];
  resource: readonly Asked[];
  /** Pairs of relationship types (From:rel:To) that stand one after the other on a way of inheritance. */
  follows: readonly (readonly [string, string])[];
  /** Whether any type has attributes. */
  attributes: boolean;
  /** Relationships that are asked for one by one: by their whole key, of a root to any thing of a type, over ways. */
  exact: readonly Pointed[];
  ranges: Record<'from' | 'to', readonly Pointed[]>;
  walks: Record<'from' | 'to', readonly Pointed[]>;
  /** Of the relationship types that walks are for, by `way`. */
  ways: readonly Ways[];
};

/**
 * One relationship that question `n` asks for. `from` and `to` are its ends, the one that is not known without id; `part`
 * is whose it is. Walks begin at the end that names their list.
 */
export type Pointed = {
  n: number;
  p: number;
  part: 'from' | 'to';
  from: { type: string; id?: string };
  name: string;
  to: { type: string; id?: string };
  now: string;
  way: number;
};

type Row = Static<typeof FactRow>;

const edge = sql`r.from_type, r.from_id, r.name, r.to_type, r.to_id`;
const holding = sql`(r.expires_at is null or r.expires_at > q.now)`;

/** Rows in no order; a relationship may come more than once. More than limits.factsEdgesMax of a question and part: too many. */
export async function readFacts(tx: Transaction, query: FactsQuery): Promise<Row[]> {
  const groups = { from: groupsOf(query.walks.from, 'from'), to: groupsOf(query.walks.to, 'to') };
  const parts = [
    ...(query.from.length > 0 ? [relationships(query, 'from')] : []),
    ...(query.to.length > 0 ? [relationships(query, 'to')] : []),
    ...(query.subject.length > 0 ? [things(query, 'subject')] : []),
    ...(query.resource.length > 0 ? [things(query, 'resource')] : []),
    ...pointed(query),
    ...(groups.from.length > 0 ? [walked(query, 'from', groups.from)] : []),
    ...(groups.to.length > 0 ? [walked(query, 'to', groups.to)] : []),
  ];
  const [first, ...others] = parts;
  if (first === undefined) return [];
  const rows = await tx.many(
    FactRow,
    others.reduce((all, part) => sql`${all} union all ${part}`, first),
  );
  if (groups.from.length + groups.to.length === 0) return rows;
  return rows.flatMap((row) => {
    if (row.n >= 0) return [row];
    const { members } = groups[row.n === IN_COMMON.from ? 'from' : 'to'][row.p as number] as Group;
    return members.map(({ n, p, part }) => ({ ...row, n, p, part }));
  });
}

/**
 * A list as a sub-select, so that the planner cannot see how long it is: otherwise it plans each query anew for that, which
 * took 0.4 of 0.6 ms of a query for one subject, and 1.5 of 1.8 ms of a walk.
 */
const texts = (list: readonly string[]) => sql`(select ${list}::text[])`;
const integers = (list: readonly number[]) => sql`(select ${list}::integer[])`;

function asked(list: readonly Asked[]): Sql {
  return sql`unnest(${integers(list.map((one) => one.n))}, ${texts(list.map((one) => one.type))},
    ${texts(list.map((one) => one.id))}, (select ${list.map((one) => one.now)}::timestamptz[]),
    ${integers(list.map((one) => (one.walk ? limits.inheritanceDepthMax : 1)))}) as q (n, type, id, now, depth)`;
}

function relationships(query: FactsQuery, side: 'from' | 'to'): Sql {
  const { tenant } = query;
  const mine =
    side === 'from' ? sql`r.from_type = q.type and r.from_id = q.id` : sql`r.to_type = q.type and r.to_id = q.id`;
  const direct = sql`select ${edge} from accord.relationship r where r.tenant = ${tenant} and ${mine} and ${holding}
    limit ${limits.factsEntriesMax + 1}`;
  const walks = query[side].some((one) => one.walk);
  const far =
    side === 'from' ? sql`t.type = e.to_type and t.id = e.to_id` : sql`t.type = e.from_type and t.id = e.from_id`;
  const [attributes, join] = query.attributes
    ? [sql`t.attributes`, sql`left join accord.thing t on t.tenant = ${tenant} and ${far}`]
    : [sql`null::jsonb`, sql``];
  return sql`select q.n, null::integer as p, ${partTexts[side]} as part, e.from_type, e.from_id, e.name, e.to_type, e.to_id, ${attributes} as attributes
    from ${asked(query[side])} cross join lateral (${walks ? walk(query, side, direct) : direct}) as e ${join}`;
}

function pointed(query: FactsQuery): Sql[] {
  const { tenant, exact, ranges } = query;
  const [t, f] = [
    sql`r.to_type = q.to_type and r.to_id = q.to_id`,
    sql`r.from_type = q.from_type and r.from_id = q.from_id`,
  ];
  const stored = (ends: Sql, most: number) => sql`select ${edge} from accord.relationship r where r.tenant = ${tenant}
    and r.name = q.name and ${ends} and ${holding} limit ${most}`;
  const most = limits.factsEntriesMax + 1;
  return [
    ...(exact.length > 0 ? [found(query, exact, stored(sql`${f} and ${t}`, 1))] : []),
    ...(ranges.from.length > 0 ? [found(query, ranges.from, stored(sql`${f} and r.to_type = q.to_type`, most))] : []),
    ...(ranges.to.length > 0 ? [found(query, ranges.to, stored(sql`${t} and r.from_type = q.from_type`, most))] : []),
  ];
}

/** What each of a list finds, with the attributes of the far end. */
function found({ tenant, attributes }: FactsQuery, list: readonly (Pointed & { group?: number })[], edges: Sql): Sql {
  const at = sql`unnest(${integers(list.map((one) => one.n))}, ${integers(list.map((one) => one.p))},
    ${texts(list.map((one) => one.part))}, ${texts(list.map((one) => one.from.type))}, ${texts(list.map((one) => one.from.id ?? ''))},
    ${texts(list.map((one) => one.name))}, ${texts(list.map((one) => one.to.type))}, ${texts(list.map((one) => one.to.id ?? ''))},
    (select ${list.map((one) => one.now)}::timestamptz[]), ${integers(list.map((one) => one.way))},
    ${integers(list.map((one) => one.group ?? -1))})
    as q (n, p, part, from_type, from_id, name, to_type, to_id, now, way, g)`;
  const [values, join] = attributes
    ? [
        sql`t.attributes`,
        sql`left join accord.thing t on t.tenant = ${tenant}
          and t.type = case q.part when 'from' then e.to_type else e.from_type end
          and t.id = case q.part when 'from' then e.to_id else e.from_id end`,
      ]
    : [sql`null::jsonb`, sql``];
  return sql`select q.n, q.p, q.part, e.from_type, e.from_id, e.name, e.to_type, e.to_id, ${values} as attributes
    from ${at} cross join lateral (${edges}) as e ${join}`;
}

/** Walks that begin alike: what they have in common is walked once. */
type Group = { type: string; id: string; way: number; now: string; members: Pointed[] };
/** `n` of rows that are in common; their `p` is the group. */
const IN_COMMON = { from: -1, to: -2 };

function groupsOf(list: readonly Pointed[], start: 'from' | 'to'): Group[] {
  const groups = new Map<string, Group>();
  for (const one of list) {
    const { type, id = '' } = one[start];
    const key = JSON.stringify([type, id, one.way, one.now]);
    const group = groups.get(key) ?? { type, id, way: one.way, now: one.now, members: [] };
    groups.set(key, group);
    group.members.push(one);
  }
  return [...groups.values()];
}

/**
 * Every stored relationship on a way between two things that are both known, and few others: from one end level by level
 * over those that another may follow, and from each thing reached those that lead to the other end, by their key. So a
 * thing that has very many costs nothing where they can only be the last of a way.
 */
function walked(query: FactsQuery, start: 'from' | 'to', groups: readonly Group[]): Sql {
  const { tenant, ways } = query;
  const steps = ways.flatMap((one, way) => stepsOf(one, start).map((step) => ({ way, ...step })));
  const column = (read: (step: (typeof steps)[0]) => string) => texts(steps.map(read));
  const step = sql`(select * from unnest(${integers(steps.map((one) => one.way))}, ${column((one) => one.after)},
    ${column((one) => one.name)}, ${column((one) => one.type)}, (select ${steps.map((one) => one.inner)}::boolean[]),
    (select ${steps.map((one) => one.last)}::boolean[])) as s (way, after, name, type, inner_one, last_one)) as s`;
  const at = sql`unnest(${integers(groups.map((_, g) => g))}, ${texts(groups.map((one) => one.type))},
    ${texts(groups.map((one) => one.id))}, ${integers(groups.map((one) => one.way))},
    (select ${groups.map((one) => one.now)}::timestamptz[])) as q (g, type, id, way, now)`;
  const [near, farType, far, begin, end] =
    start === 'from'
      ? [
          sql`r.from_type = a.type and r.from_id = a.id`,
          sql`r.to_type`,
          sql`r.to_id = q.to_id`,
          sql`q.from_type, q.from_id`,
          sql`i.to_type, i.to_id`,
        ]
      : [
          sql`r.to_type = a.type and r.to_id = a.id`,
          sql`r.from_type`,
          sql`r.from_id = q.from_id`,
          sql`q.to_type, q.to_id`,
          sql`i.from_type, i.from_id`,
        ];
  const key = (of: 'w' | 'i') =>
    of === 'w'
      ? sql`w.from_type || ':' || w.name || ':' || w.to_type`
      : sql`i.from_type || ':' || i.name || ':' || i.to_type`;
  // Limited, so that it stays a look-up for each place and step: the planner knows nothing of how many come together. And
  // compared with columns only: anything else that row-level security takes for leaky keeps the index from being used.
  const next = (which: Sql, ends: Sql, most: number) => sql`select e.* from ${step}
    cross join lateral (select ${edge} from accord.relationship r where r.tenant = ${tenant} and ${near} and r.name = s.name
      and ${farType} = s.type ${ends} and ${holding} limit ${most}) as e
    where s.way = q.way and s.after = a.key and ${which}`;
  const noText = sql`null::text collate "C"`;
  const inner = sql`with recursive w (from_type, from_id, name, to_type, to_id, depth) as (
      select ${noText}, ${noText}, ${noText}, ${noText}, ${noText}, 0
      union
      select e.*, w.depth + 1 from w
        cross join lateral (select ${key('w')}, ${start === 'from' ? sql`w.to_type, w.to_id` : sql`w.from_type, w.from_id`} where w.depth > 0
          union all select '', q.type, q.id where w.depth = 0) as a (key, type, id)
        cross join lateral (${next(sql`s.inner_one`, sql``, limits.factsEdgesMax + 1)}) as e
      where w.depth < ${limits.inheritanceDepthMax - 1})
    select from_type, from_id, name, to_type, to_id from w where depth > 0 limit ${limits.factsEdgesMax + 1}`;
  const members = groups.flatMap((group, g) => group.members.map((one) => ({ ...one, group: g })));
  const last = sql`select e.* from (select '', ${begin} union all select ${key('i')}, ${end} from i where i.g = q.g) as a (key, type, id)
    cross join lateral (${next(sql`s.last_one`, sql`and ${far}`, 1)}) as e`;
  return sql`(with i as materialized (select q.g, w.* from ${at} cross join lateral (${inner}) as w)
    select ${commonTexts[start]} as n, i.g as p, 'from' as part, i.from_type, i.from_id, i.name, i.to_type, i.to_id, null::jsonb as attributes from i
    union all ${found(query, members, last)})`;
}

const commonTexts = { from: sql`-1`, to: sql`-2` };

/** Level by level from the direct ones; a row is a relationship at its distance, so that a cycle ends at the depth. */
function walk({ tenant, follows }: FactsQuery, side: 'from' | 'to', direct: Sql): Sql {
  const pairs = follows.map(([first, second]) => [...first.split(':'), ...second.split(':')]);
  const column = (index: number) => pairs.map((pair) => pair[index] as string);
  const after = sql`unnest(${texts(column(0))}, ${texts(column(1))}, ${texts(column(2))}, ${texts(column(4))},
    ${texts(column(5))}) as f (first_from, first_name, middle, second_name, second_to)`;
  const step =
    side === 'from'
      ? sql`f on f.first_from = w.from_type and f.first_name = w.name and f.middle = w.to_type
        join accord.relationship r on r.tenant = ${tenant} and r.from_type = w.to_type and r.from_id = w.to_id
          and r.name = f.second_name and r.to_type = f.second_to`
      : sql`f on f.middle = w.from_type and f.second_name = w.name and f.second_to = w.to_type
        join accord.relationship r on r.tenant = ${tenant} and r.to_type = w.from_type and r.to_id = w.from_id
          and r.name = f.first_name and r.from_type = f.first_from`;
  return sql`with recursive w (from_type, from_id, name, to_type, to_id, depth) as (
      select d.*, 1 from (${direct}) as d
      union
      select ${edge}, w.depth + 1 from w join (select * from ${after}) as ${step} where w.depth < q.depth and ${holding})
    select from_type, from_id, name, to_type, to_id from w limit ${limits.factsEdgesMax + 1}`;
}

function things(query: FactsQuery, part: 'subject' | 'resource'): Sql {
  return sql`select q.n, null::integer as p, ${partTexts[part]} as part, null as from_type, null as from_id, null as name,
      null as to_type, null as to_id, t.attributes
    from ${asked(query[part])} join accord.thing t on t.tenant = ${query.tenant} and t.type = q.type and t.id = q.id`;
}

/** Literals, not parameters: Postgres would not know their type. */
const partTexts = { from: sql`'from'`, to: sql`'to'`, subject: sql`'subject'`, resource: sql`'resource'` };
