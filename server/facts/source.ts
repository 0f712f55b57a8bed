/**
 * Owns gathering facts from Postgres: every question is answered by a query that begins after it was asked, and questions
 * of one tenant that come while others are being read go together in the next query.
 */
import type { Static } from 'typebox';
import type { Database } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import type { Types } from '../types/index.ts';
import { nodeKey, resolve } from './resolve.ts';
import {
  type Edge,
  type FactRow,
  type Facts,
  type FactsQuestion,
  type FactsSource,
  type InheritedPath,
  noFacts,
} from './schema.ts';
import { type Asked, type FactsQuery, readFacts } from './store.ts';

type Row = Static<typeof FactRow>;
type Waiting = { question: FactsQuestion; resolve: (facts: Facts) => void; reject: (error: unknown) => void };
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
    if (!readsAnything(question)) return noFacts;
    return new Promise((resolve, reject) => {
      const lane = this.#laneOf(question.tenant);
      lane.waiting.push({ question, resolve, reject });
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
      const questions = batch.map(({ question }) => question);
      const query = queryOf(tenant, questions);
      const rows = Map.groupBy(await this.#database.read(tenant, (tx) => readFacts(tx, query)), (row) => row.n);
      for (const [n, { question, resolve }] of batch.entries()) resolve(factsOf(question, rows.get(n) ?? []));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      lane.queries--;
      if (lane.waiting.length > 0) this.#schedule(tenant, lane);
      else if (lane.queries === 0 && !lane.scheduled) this.#lanes.delete(tenant);
    }
  }
}

/** The first questions that have the same types: a new snapshot's may differ. */
function takeAlike(waiting: Waiting[]): Waiting[] {
  const types = waiting[0]?.question.types;
  const other = waiting.findIndex(({ question }) => question.types !== types);
  return waiting.splice(0, Math.min(limits.factsQuestionsMax, other < 0 ? waiting.length : other));
}

type Named = { type: string; id: string };
const isNamed = (thing: Partial<Named>): thing is Named => thing.type !== undefined && thing.id !== undefined;

/** What of a question is read: nothing about things that have no name, and no attributes where a type has none. */
function partsOf({
  types,
  subject,
  resource,
  needed,
}: FactsQuestion): Record<'from' | 'to' | 'subject' | 'resource', boolean> {
  const has = types.relationships.size > 0;
  const declared = ({ type }: Partial<Named>) => ((type && types.attributes.get(type)?.size) || 0) > 0;
  return {
    from: has && needed.subject && isNamed(subject),
    to: has && needed.resource && isNamed(resource),
    subject: needed.subjectAttributes && isNamed(subject) && declared(subject),
    resource: needed.resourceAttributes && isNamed(resource) && declared(resource),
  };
}

function readsAnything(question: FactsQuestion): boolean {
  const { from, to, subject, resource } = partsOf(question);
  return from || to || subject || resource;
}

function queryOf(tenant: string, questions: readonly FactsQuestion[]): FactsQuery {
  const { types } = questions[0] as FactsQuestion;
  const query = { from: [] as Asked[], to: [] as Asked[], subject: [] as Asked[], resource: [] as Asked[] };
  const leaving = new Set(types.follows.map(([first]) => first.split(':')[0]));
  const arriving = new Set(types.follows.map(([, second]) => second.split(':')[2]));
  for (const [n, question] of questions.entries()) {
    const parts = partsOf(question);
    const now = new Date(question.now).toISOString();
    const ask = (part: keyof typeof query, thing: Partial<Named>, walk: boolean) => {
      if (parts[part]) query[part].push({ n, ...(thing as Named), now, walk });
    };
    ask('from', question.subject, leaving.has(question.subject.type));
    ask('to', question.resource, arriving.has(question.resource.type));
    ask('subject', question.subject, false);
    ask('resource', question.resource, false);
  }
  return { tenant, ...query, follows: types.follows, attributes: types.anyAttributes };
}

function factsOf(question: FactsQuestion, rows: readonly Row[]): Facts {
  const { types, subject, resource, explain } = question;
  const parts = Map.groupBy(rows, (row) => row.part);
  const from = sideOf('from', subject, parts.get('from'), types);
  if (from === undefined) return { ...noFacts, tooLarge: 'subject' };
  const to = sideOf('to', resource, parts.get('to'), types);
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
): Side | undefined {
  if (rows === undefined) return { entries: [], inherited: [] };
  if (rows.length > limits.factsEdgesMax) return undefined;
  const resolved = resolve(side, root as Named, rows.map(edgeOf), types);
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
