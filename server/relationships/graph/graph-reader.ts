/**
 * Reads what decisions are given of relationships and stored attributes: one query for the questions of a tenant that are asked
 * together.
 */
import type { Static } from 'typebox';
import { BatchLoader } from '../../core/batch-loader.ts';
import type { Database } from '../../core/db/database.ts';
import type { FairScheduler } from '../../core/fair-scheduler.ts';
import { limits } from '../../core/limits.ts';
import { RowsCost } from '../../core/rows-cost.ts';
import { type Facts, type InheritedPath, noFacts, type RecordsQuery } from '../../facts/index.ts';
import type { Types } from '../../types/index.ts';
import { type Found, readGraph } from '../graph-store.ts';
import { pathPatternOf } from './path-pattern.ts';
import { groupsOf } from './path-steps.ts';
import { isPointedTo, keyOf, type Pointer, pointersOf } from './pointers.ts';
import { emptyQuery, type GraphQuery, type Pointed, type Walk } from './query.ts';
import { distinct, nodeKey, resolve } from './resolve.ts';
import type { Edge, GraphRow, Named } from './schema.ts';
import { type TooMuch, tooLarge, tooMuchBefore, tooMuchOf } from './too-much.ts';

type Row = Static<typeof GraphRow>;
type Asked = { recordsQuery: RecordsQuery; parts: Parts };
type Part = 'from' | 'to' | 'subject' | 'resource';
/** Whose part a row is, by its number in the query; and which relationship it is, where it was asked for by its key. */
type Place = { n: number; part: Part; asked?: Pointed };
/** What was read for a question, and of which sides there is too much. */
type Read = {
  from: Edge[];
  to: Edge[];
  subject?: Attributes;
  resource?: Attributes;
  tooMuch: Partial<Record<'from' | 'to', TooMuch>>;
};
type Attributes = Record<string, unknown> | null;

export class GraphReader {
  readonly #database: Pick<Database, 'read'>;
  readonly #questions: BatchLoader<Asked, Facts>;
  readonly #cost: RowsCost;
  readonly #scheduler: FairScheduler | undefined;

  /** @param scheduler absent: nothing else uses the main thread */
  constructor(database: Pick<Database, 'read'>, scheduler?: FairScheduler) {
    this.#database = database;
    this.#scheduler = scheduler;
    this.#cost = new RowsCost(scheduler);
    this.#questions = new BatchLoader({
      read: (tenant, asked) => this.#readTogether(tenant, asked),
      // A new snapshot's may differ.
      alike: (first, other) => first.recordsQuery.types === other.recordsQuery.types,
      mostOf: (tenant) => this.#cost.questionsMost(tenant),
    });
  }

  /** Without a promise where there is nothing to read. */
  read(recordsQuery: RecordsQuery): Facts | Promise<Facts> {
    const { types } = recordsQuery;
    // The usual case where nothing is shared: most decisions pass here.
    if (types.relationships.size === 0 && !types.anyAttributes) return noFacts;
    const parts = partsOf(recordsQuery);
    if (!readsAnything(parts)) return noFacts;
    return this.#questions.ask(recordsQuery.tenant, { recordsQuery, parts });
  }

  async #readTogether(tenant: string, asked: readonly Asked[]): Promise<Facts[]> {
    const { query, places } = queryOf(tenant, asked);
    const { rows, unfinished } = await this.#readAll(query);
    const turn = this.#cost.read(tenant, asked.length, rows.length, unfinished.length * limits.factsEdgesMax);
    if (turn) await turn;
    const found = asked.map((): Read => ({ from: [], to: [], tooMuch: {} }));
    for (const row of rows) {
      const { n, part, asked: pointed } = places[row.query_id] as Place;
      const read = found[n] as Read;
      if (part === 'subject' || part === 'resource') read[part] = row.attributes;
      else read[part].push(edgeOf(row, pointed));
    }
    for (const walk of unfinished)
      (found[(places[walk.queryId] as Place).n] as Read).tooMuch[walk.part] ??= tooMuchBefore(walk);
    return this.#factsOfAll(tenant, asked, found);
  }

  /** What thousands of rows are made into takes tens of ms a question: others have their turn in between, and the tenant is charged. */
  async #factsOfAll(tenant: string, asked: readonly Asked[], found: readonly Read[]): Promise<Facts[]> {
    const facts: Facts[] = [];
    for (const [n, { recordsQuery, parts }] of asked.entries()) {
      const started = performance.now();
      facts.push(factsOf(recordsQuery, parts, found[n] as Read));
      const ms = performance.now() - started;
      if (ms < limits.turnMs || !this.#scheduler?.isShared) continue;
      this.#scheduler.charge(tenant, ms);
      await this.#scheduler.turn(tenant);
    }
    return facts;
  }

  /**
   * Walks that met too much together are begun again each alone, so that one that meets much does not harm the others; and
   * what meets too much alone, at its other end, where there may be less.
   */
  async #readAll(query: GraphQuery): Promise<{ rows: Row[]; unfinished: Walk[] }> {
    const together = await this.#read(query.tenant, [query]);
    if (together.unfinished.from.length + together.unfinished.to.length === 0)
      return { rows: together.rows, unfinished: [] };
    const alone = await this.#read(query.tenant, oneByOne(query, together.unfinished));
    const { from, to } = alone.unfinished;
    const turned = await this.#read(query.tenant, oneByOne(query, { from: to, to: from }));
    return {
      rows: [...together.rows, ...alone.rows, ...turned.rows],
      unfinished: [...turned.unfinished.from, ...turned.unfinished.to],
    };
  }

  /** In one transaction, and all sent at once. */
  async #read(tenant: string, queries: readonly GraphQuery[]): Promise<Found> {
    if (queries.length === 0) return { rows: [], unfinished: nothing };
    const found = await this.#database.read(tenant, (tx) => Promise.all(queries.map((query) => readGraph(tx, query))));
    if (found.length === 1) return found[0] as Found;
    return {
      rows: found.flatMap(({ rows }) => rows),
      unfinished: {
        from: found.flatMap(({ unfinished }) => unfinished.from),
        to: found.flatMap(({ unfinished }) => unfinished.to),
      },
    };
  }
}

const nothing: GraphQuery['walks'] = { from: [], to: [] };

/** A query for each group of walks that begin alike. */
function oneByOne(query: GraphQuery, walks: GraphQuery['walks']): GraphQuery[] {
  return (['from', 'to'] as const).flatMap((start) =>
    groupsOf(walks[start], start).map(({ members }) => ({
      ...emptyQuery(query),
      walks: { ...nothing, [start]: members },
    })),
  );
}

const isNamed = (entity: Partial<Named>): entity is Named => entity.type !== undefined && entity.id !== undefined;

/** A side of the graph: all of it, or only what is pointed to. */
type SideAsked = 'all' | readonly Pointer[] | undefined;
type Parts = { from: SideAsked; to: SideAsked; subject: boolean; resource: boolean };

/** What of a question is read: nothing about entities that have no name, and no attributes where a type has none. */
function partsOf(recordsQuery: RecordsQuery): Parts {
  const { types, subject, resource, needed } = recordsQuery;
  const side = (which: 'from' | 'to', root: Partial<Named>, isNeeded: boolean): SideAsked => {
    if (types.relationships.size === 0 || !isNeeded || !isNamed(root)) return undefined;
    const pointers = pointersOf(recordsQuery, which, root) ?? 'all';
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

/** Of which types stored relationships may begin a path of inheritance, and of which they may end one. */
const ends = new WeakMap<Types, { leaving: Set<string | undefined>; arriving: Set<string | undefined> }>();

function endsOf(types: Types) {
  const found = ends.get(types) ?? {
    leaving: new Set(types.follows.map(([first]) => first.split(':')[0])),
    arriving: new Set(types.follows.map(([, second]) => second.split(':')[2])),
  };
  ends.set(types, found);
  return found;
}

function queryOf(tenant: string, asked: readonly Asked[]): { query: GraphQuery; places: Place[] } {
  const { types } = (asked[0] as Asked).recordsQuery;
  const query = emptyQuery({ tenant, follows: types.follows, attributes: types.anyAttributes });
  const places: Place[] = [];
  const { leaving, arriving } = endsOf(types);
  const point = (n: number, part: 'from' | 'to', root: Named, now: string, pointer: Pointer) => {
    const { name, ...far } = pointer;
    const [from, to] = part === 'from' ? [root, far] : [far, root];
    const one: Pointed = { queryId: places.length, part, from, name, to, now };
    places.push({ n, part, asked: one });
    const pattern = pathPatternOf(types, keyOf(part, root.type, pointer));
    if (pattern !== undefined) query.walks[part].push({ ...one, pattern });
    else (far.id === undefined ? query.ranges[part] : query.exact).push(one);
  };
  let [nowMs, now] = [Number.NaN, ''];
  for (const [n, { recordsQuery, parts }] of asked.entries()) {
    // Most that are asked together are of one millisecond.
    if (recordsQuery.now !== nowMs) [nowMs, now] = [recordsQuery.now, new Date(recordsQuery.now).toISOString()];
    const ask = (part: Part, { type, id }: Partial<Named>, walk: boolean) => {
      const asked = parts[part];
      if (!asked) return;
      const root = { type: type as string, id: id as string };
      if (Array.isArray(asked)) {
        for (const pointer of asked) point(n, part as 'from' | 'to', root, now, pointer);
        return;
      }
      query[part].push({ queryId: places.length, ...root, now, walk });
      places.push({ n, part });
    };
    ask('from', recordsQuery.subject, leaving.has(recordsQuery.subject.type));
    ask('to', recordsQuery.resource, arriving.has(recordsQuery.resource.type));
    ask('subject', recordsQuery.subject, false);
    ask('resource', recordsQuery.resource, false);
  }
  return { query, places };
}

function factsOf(recordsQuery: RecordsQuery, asked: Parts, read: Read): Facts {
  const { types, subject, resource, explain } = recordsQuery;
  const side = (which: 'from' | 'to', root: Partial<Named>) =>
    read.tooMuch[which] ?? sideOf(which, root, read[which], types, asked[which]);
  const from = side('from', subject);
  if (typeof from === 'string') return { ...noFacts, denial: tooLarge('subject', from) };
  const to = side('to', resource);
  if (typeof to === 'string') return { ...noFacts, denial: tooLarge('resource', to) };
  const own = (part: 'subject' | 'resource', entity: Partial<Named>) => {
    const attributes = read[part];
    return attributes ? { [part]: declaredOf(types, entity.type as string, attributes) } : {};
  };
  return {
    graph: {
      subject: from.entries.map(({ name, node }) => ({ type: name, relationshipType: name, to: node })),
      resource: to.entries.map(({ name, node }) => ({ type: name, relationshipType: name, from: node })),
    },
    consents: [],
    ...own('subject', subject),
    ...own('resource', resource),
    ...(explain ? { inherited: [...from.paths(), ...to.paths()] } : {}),
  };
}

type Side = {
  entries: { name: string; node: Named & Record<string, unknown> }[];
  paths: () => InheritedPath[];
};

function sideOf(
  side: 'from' | 'to',
  root: Partial<Named>,
  found: readonly Edge[],
  types: Types,
  asked: SideAsked,
): Side | TooMuch {
  if (found.length === 0) return { entries: [], paths: () => [] };
  // A side that is read as a whole has each once.
  const edges = asked === 'all' ? found : distinct(found);
  if (edges.length > limits.factsEdgesMax) return tooMuchOf(edges);
  const isWanted = Array.isArray(asked)
    ? (name: string, node: Named) => isPointedTo(asked as readonly Pointer[], name, node)
    : undefined;
  const resolved = resolve(side, root as Named, edges, types, isWanted);
  if (typeof resolved === 'string') return resolved;
  const entries = resolved.entries.map(({ name, node }) => {
    const attributes = resolved.attributes.get(nodeKey(node));
    return { name, node: attributes ? { ...declaredOf(types, node.type, attributes), ...node } : node };
  });
  return { entries, paths: resolved.paths };
}

/** @param asked the relationship that the row says is there, where it does not name its ends */
function edgeOf(row: Row, asked: Pointed | undefined): Edge {
  const attributes = row.attributes ?? undefined;
  if (row.name === null) {
    const { from, name, to } = asked as Pointed;
    return { from: from as Named, name, to: to as Named, attributes };
  }
  return {
    from: { type: row.from_type as string, id: row.from_id as string },
    name: row.name,
    to: { type: row.to_type as string, id: row.to_id as string },
    attributes,
  };
}

/** What a type declares no more is not given, though it may be stored. */
function declaredOf(types: Types, type: string, attributes: Record<string, unknown>): Record<string, unknown> {
  const declared = types.attributes.get(type);
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => declared?.has(name)));
}
