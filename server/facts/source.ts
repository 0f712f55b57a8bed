/**
 * Owns gathering facts from Postgres: every question is answered by a query that begins after it was asked, and questions
 * of one tenant that come while others are being read go together in the next query.
 */
import type { Static } from 'typebox';
import type { Database } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import type { Types } from '../types/index.ts';
import { isPointedTo, keyOf, type Pointer, pointersOf } from './pointers.ts';
import { nodeKey, resolve } from './resolve.ts';
import {
  type Edge,
  type FactRow,
  type Facts,
  type FactsQuestion,
  type FactsSource,
  type InheritedPath,
  type Named,
  noFacts,
} from './schema.ts';
import { type Asked, type FactsQuery, type Pointed, readFacts } from './store.ts';
import { type Ways, waysOf } from './ways.ts';

type Row = Static<typeof FactRow>;
type Waiting = {
  question: FactsQuestion;
  parts: Parts;
  resolve: (facts: Facts) => void;
  reject: (error: unknown) => void;
};
type Lane = { waiting: Waiting[]; queries: number; scheduled: boolean };

export class FactsFromDatabase implements FactsSource {
  readonly #database: Pick<Database, 'read'>;
  readonly #lanes = new Map<string, Lane>();

  constructor(database: Pick<Database, 'read'>) {
    this.#database = database;
  }

  gather(question: FactsQuestion): Facts | Promise<Facts> {
    const { types } = question;
    // The usual case where nothing is shared: most decisions pass here.
    if (types.relationships.size === 0 && !types.anyAttributes) return noFacts;
    const parts = partsOf(question);
    if (!readsAnything(parts)) return noFacts;
    return new Promise((resolve, reject) => {
      const lane = this.#laneOf(question.tenant);
      lane.waiting.push({ question, parts, resolve, reject });
      this.#schedule(question.tenant, lane);
    });
  }

  #laneOf(tenant: string): Lane {
    let lane = this.#lanes.get(tenant);
    if (lane === undefined) {
      lane = { waiting: [], queries: 0, scheduled: false };
      this.#lanes.set(tenant, lane);
    }
    return lane;
  }

  /** After all requests that have arrived together were looked at. */
  #schedule(tenant: string, lane: Lane): void {
    if (lane.scheduled || lane.queries >= limits.factsQueriesPerTenantMax) return;
    lane.scheduled = true;
    setImmediate(() => {
      lane.scheduled = false;
      void this.#query(tenant, lane);
    });
  }

  async #query(tenant: string, lane: Lane): Promise<void> {
    const batch = takeAlike(lane.waiting);
    lane.queries++;
    if (lane.waiting.length > 0) this.#schedule(tenant, lane);
    try {
      const query = queryOf(tenant, batch);
      const rows = Map.groupBy(await this.#readAll(query), (row) => row.n);
      for (const [n, { question, parts, resolve }] of batch.entries())
        resolve(factsOf(question, parts, rows.get(n) ?? []));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      lane.queries--;
      if (lane.waiting.length > 0) this.#schedule(tenant, lane);
      else if (lane.queries === 0 && !lane.scheduled) this.#lanes.delete(tenant);
    }
  }

  /** A walk that met too much is begun again at its other end, where there may be less. */
  async #readAll(query: FactsQuery): Promise<Row[]> {
    const read = (asked: FactsQuery) => this.#database.read(asked.tenant, (tx) => readFacts(tx, asked));
    const rows = await read(query);
    if (query.ways.length === 0) return rows;
    const counts = new Map<number | null, number>();
    for (const { p } of rows) counts.set(p, (counts.get(p) ?? 0) + 1);
    const isFull = ({ p }: Pick<Row, 'p'>) => p !== null && (counts.get(p) ?? 0) > limits.factsEdgesMax;
    const walks = { from: query.walks.to.filter(isFull), to: query.walks.from.filter(isFull) };
    if (walks.from.length + walks.to.length === 0) return rows;
    const again = { ...emptyQuery, tenant: query.tenant, attributes: query.attributes, ways: query.ways, walks };
    return [...rows.filter((row) => !isFull(row)), ...(await read(again))];
  }
}

/** The first questions that have the same types: a new snapshot's may differ. */
function takeAlike(waiting: Waiting[]): Waiting[] {
  const types = waiting[0]?.question.types;
  const other = waiting.findIndex(({ question }) => question.types !== types);
  return waiting.splice(0, Math.min(limits.factsQuestionsMax, other < 0 ? waiting.length : other));
}

const isNamed = (thing: Partial<Named>): thing is Named => thing.type !== undefined && thing.id !== undefined;

/** A side of the graph: all of it, or only what is pointed to. */
type SideAsked = 'all' | readonly Pointer[] | undefined;
type Parts = { from: SideAsked; to: SideAsked; subject: boolean; resource: boolean };

/** What of a question is read: nothing about things that have no name, and no attributes where a type has none. */
function partsOf(question: FactsQuestion): Parts {
  const { types, subject, resource, needed } = question;
  const side = (which: 'from' | 'to', root: Partial<Named>, isNeeded: boolean): SideAsked => {
    if (types.relationships.size === 0 || !isNeeded || !isNamed(root)) return undefined;
    const pointers = pointersOf(question, which, root) ?? 'all';
    return pointers.length === 0 ? undefined : pointers;
  };
  const declared = ({ type }: Partial<Named>) => ((type && types.attributes.get(type)?.size) || 0) > 0;
  return {
    from: side('from', subject, needed.subject),
    to: side('to', resource, needed.resource),
    subject: needed.subjectAttributes && isNamed(subject) && declared(subject),
    resource: needed.resourceAttributes && isNamed(resource) && declared(resource),
  };
}

function readsAnything({ from, to, subject, resource }: Parts): boolean {
  return from !== undefined || to !== undefined || subject || resource;
}

const emptyQuery = {
  ...{ from: [] as Asked[], to: [] as Asked[], subject: [] as Asked[], resource: [] as Asked[] },
  ...{ exact: [] as Pointed[], ways: [] as Ways[], follows: [] },
  ranges: { from: [] as Pointed[], to: [] as Pointed[] },
  walks: { from: [] as Pointed[], to: [] as Pointed[] },
};

function queryOf(tenant: string, waiting: readonly Waiting[]): FactsQuery {
  const { types } = (waiting[0] as Waiting).question;
  const query = { ...structuredClone(emptyQuery), tenant, follows: types.follows, attributes: types.anyAttributes };
  const ways = new Map<Ways, number>();
  const leaving = new Set(types.follows.map(([first]) => first.split(':')[0]));
  const arriving = new Set(types.follows.map(([, second]) => second.split(':')[2]));
  let pointed = 0;
  const point = (n: number, part: 'from' | 'to', root: Named, now: string) => (pointer: Pointer) => {
    const far = { type: pointer.type, ...(pointer.id === undefined ? {} : { id: pointer.id }) };
    const [from, to] = part === 'from' ? [root, far] : [far, root];
    const own = waysOf(types, keyOf(part, root.type, pointer));
    if (own !== undefined && !ways.has(own)) ways.set(own, ways.size);
    const way = own === undefined ? -1 : (ways.get(own) as number);
    const list = own !== undefined ? query.walks[part] : far.id === undefined ? query.ranges[part] : query.exact;
    list.push({ n, p: pointed++, part, from, name: pointer.name, to, now, way });
  };
  for (const [n, { question, parts }] of waiting.entries()) {
    const now = new Date(question.now).toISOString();
    const ask = (part: 'from' | 'to' | 'subject' | 'resource', thing: Partial<Named>, walk: boolean) => {
      const asked = parts[part];
      if (Array.isArray(asked)) asked.forEach(point(n, part as 'from' | 'to', thing as Named, now));
      else if (asked) query[part].push({ n, ...(thing as Named), now, walk });
    };
    ask('from', question.subject, leaving.has(question.subject.type));
    ask('to', question.resource, arriving.has(question.resource.type));
    ask('subject', question.subject, false);
    ask('resource', question.resource, false);
  }
  return { ...query, ways: [...ways.keys()] };
}

function factsOf(question: FactsQuestion, asked: Parts, rows: readonly Row[]): Facts {
  const { types, subject, resource, explain } = question;
  const parts = Map.groupBy(rows, (row) => row.part);
  const from = sideOf('from', subject, parts.get('from'), types, asked.from);
  if (from === undefined) return { ...noFacts, tooLarge: 'subject' };
  const to = sideOf('to', resource, parts.get('to'), types, asked.to);
  if (to === undefined) return { ...noFacts, tooLarge: 'resource' };
  const own = (part: 'subject' | 'resource', thing: Partial<Named>) => {
    const attributes = parts.get(part)?.[0]?.attributes;
    return attributes ? { [part]: declaredOf(types, thing.type as string, attributes) } : {};
  };
  return {
    graph: {
      subject: from.entries.map(({ name, node }) => ({ type: name, relationshipType: name, to: node })),
      resource: to.entries.map(({ name, node }) => ({ type: name, relationshipType: name, from: node })),
    },
    consents: [],
    ...own('subject', subject),
    ...own('resource', resource),
    ...(explain ? { inherited: [...from.inherited, ...to.inherited] } : {}),
  };
}

type Side = { entries: { name: string; node: Named & Record<string, unknown> }[]; inherited: InheritedPath[] };

/** @returns undefined when there are too many */
function sideOf(
  side: 'from' | 'to',
  root: Partial<Named>,
  rows: readonly Row[] | undefined,
  types: Types,
  asked: SideAsked,
): Side | undefined {
  if (rows === undefined) return { entries: [], inherited: [] };
  if (rows.length > limits.factsEdgesMax) return undefined;
  const isWanted = Array.isArray(asked)
    ? (name: string, node: Named) => isPointedTo(asked as readonly Pointer[], name, node)
    : undefined;
  const resolved = resolve(side, root as Named, rows.map(edgeOf), types, isWanted);
  if (resolved === undefined) return undefined;
  const entries = resolved.entries.map(({ name, node }) => {
    const attributes = resolved.attributes.get(nodeKey(node));
    return { name, node: attributes ? { ...declaredOf(types, node.type, attributes), ...node } : node };
  });
  return { entries, inherited: resolved.inherited };
}

function edgeOf(row: Row): Edge {
  return {
    from: { type: row.from_type as string, id: row.from_id as string },
    name: row.name as string,
    to: { type: row.to_type as string, id: row.to_id as string },
    attributes: row.attributes ?? undefined,
  };
}

/** What a type declares no more is not given, though it may be stored. */
function declaredOf(types: Types, type: string, attributes: Record<string, unknown>): Record<string, unknown> {
  const declared = types.attributes.get(type);
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => declared?.has(name)));
}
