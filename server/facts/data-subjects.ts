/**
 * The data subjects of a decision: all actors that have a relationship to the resource, and the one that the request names.
 * Missing or invalid data denies, because a policy that asks whether all agreed would allow over a shorter list. So does
 * either of the two that finds nobody, where the policy states both.
 */
import type { DataSubjects } from '../../crds/data-subjects.ts';
import type { Actor } from '../core/auth/schema.ts';
import { isTypeName, wrongId } from '../core/ids.ts';
import { limits } from '../core/limits.ts';
import type {
  DataSubject,
  Denial,
  FactReaders,
  Facts,
  FactsQuery,
  FactsSnapshot,
  HoldersFound,
  Holding,
} from './schema.ts';

type About = {
  readers: Pick<FactReaders, 'records' | 'dataSubjects'>;
  snapshot: FactsSnapshot;
  query: FactsQuery;
  stated: DataSubjects;
  /** With the stored attributes that the path may lead to. */
  stored: Facts | Promise<Facts>;
};

export async function dataSubjectsOf(about: About): Promise<Pick<Facts, 'dataSubjects' | 'denial'>> {
  const { snapshot, query, stated } = about;
  const { defaultActorType } = snapshot.spec.tokenMapping;
  const named: Actor[] = [];
  if (stated.path !== undefined) {
    if (query.caller !== 'backend') return deny('data_subject_forbidden', `only a back end may state ${stated.path}`);
    const found = namedAt(stated.path, query, await about.stored, defaultActorType);
    if ('denial' in found) return found;
    named.push(found);
  }
  const holding = holdingOf(stated.relationship, query);
  if (stated.relationship !== undefined && holding === undefined) return nobody(stated);
  const isInherited = snapshot.types.inheritances.some(({ makes }) => makes === stated.relationship);
  const inherited = holding && isInherited ? await inheritedHolders(about, holding) : [];
  if (!Array.isArray(inherited)) return inherited;
  if (isInherited && inherited.length === 0) return nobody(stated);
  const direct = isInherited ? undefined : holding;
  const known = [...named, ...inherited];
  const persons = known.filter(({ type }) => type === defaultActorType).map(({ id }) => id);
  return withConsents(about, direct, known, persons);
}

async function withConsents(
  { readers, snapshot, query, stated }: About,
  holding: Holding | undefined,
  known: readonly Actor[],
  persons: readonly string[],
): Promise<Pick<Facts, 'dataSubjects' | 'denial'>> {
  const { tenant, definitions, spec } = snapshot;
  if (known.length > limits.dataSubjectsMax) return tooMany();
  const read = { tenant, definitions, persons, ...(holding === undefined ? {} : { holding }) };
  const isAsked = holding !== undefined || persons.length > 0;
  const { holders, consents } = isAsked ? await readers.dataSubjects(read, query.now) : nothing;
  if (holding !== undefined && holders.length === 0) return nobody(stated);
  const all = new Map<string, DataSubject>();
  const add = ({ type, id }: Actor) => {
    const given = type === spec.tokenMapping.defaultActorType ? consents.get(id) : undefined;
    all.set(`${type} ${id}`, { type, id, consents: given ?? [] }); // no type has a space
  };
  for (const one of known) add(one);
  if (holding !== undefined) for (const id of holders) add({ type: holding.from, id });
  if (all.size > limits.dataSubjectsMax) return tooMany();
  return { dataSubjects: [...all.values()].sort(byTypeAndId) };
}

const nothing: HoldersFound = { holders: [], consents: new Map() };

/** Undefined if nobody can have the relationship: the resource has no id, or another type. */
function holdingOf(relationship: string | undefined, { request: { resource } }: FactsQuery): Holding | undefined {
  if (relationship === undefined) return undefined;
  const [from = '', name = '', type = ''] = relationship.split(':');
  if (resource?.type !== type || typeof resource.id !== 'string') return undefined;
  return { from, name, to: { type, id: resource.id } };
}

/** Inherited relationships are derived from all relationships on their paths, which the records reader fetches. */
async function inheritedHolders({ readers, snapshot, query }: About, { from, name, to }: Holding) {
  const { tenant, types } = snapshot;
  const needed = {
    ...{ subject: false, resource: true, subjectAttributes: false, resourceAttributes: false },
    uses: { resource: [{ name, type: { literal: from } }] },
  };
  const compared = { subject: {}, resource: to };
  const asked = { tenant, types, ...compared, compared, needed, now: query.now };
  const { graph, denial } = await readers.records(asked);
  if (denial !== undefined) return { denial };
  return graph.resource
    .filter((one) => one.relationshipType === name && one.from.type === from)
    .map((one) => ({ type: from, id: one.from.id }));
}

type Named = Actor | { denial: Denial };

/** A stored attribute wins over the request's, as in the policy's input. */
function namedAt(path: string, { request }: FactsQuery, stored: Facts, defaultType: string): Named {
  const [root, ...names] = path.split('.') as ['subject' | 'resource' | 'context', ...string[]];
  let found: unknown = root === 'context' ? request.context : { ...request[root], ...stored[root] };
  for (const name of names) {
    if (Array.isArray(found)) return deny('data_subject_malformed', `${path} leads into an array`);
    const isThere = typeof found === 'object' && found !== null && Object.hasOwn(found, name);
    found = isThere ? (found as Record<string, unknown>)[name] : undefined;
  }
  if (found === undefined || found === null) return deny('data_subject_absent', `the request has no ${path}`);
  const { type, id } = typeof found === 'string' ? { type: defaultType, id: found } : (found as Partial<Actor>);
  if (!isTypeName(type) || typeof id !== 'string')
    return deny('data_subject_malformed', `${path} is neither an id nor an object of type and id`);
  const wrong = wrongId(id);
  return wrong === undefined ? { type, id } : deny('data_subject_malformed', `${path} is no id: ${wrong}`);
}

function nobody({ relationship }: DataSubjects) {
  return deny('no_data_subject', `nobody has the relationship ${relationship} to the resource`);
}

function tooMany() {
  return deny('data_subjects_too_many', `the data is about more than ${limits.dataSubjectsMax}`);
}

function deny(reason: Denial['reason'], detail: string): { denial: Denial } {
  return { denial: { reason, detail } };
}

function byTypeAndId(a: Actor, b: Actor): number {
  if (a.type !== b.type) return a.type < b.type ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}
