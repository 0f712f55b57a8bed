/** Which events a subscription asks for: by type, and by the types of actors and resources that they are about. Pure. */
import { isNamed } from './rules.ts';
import type { Matched, SubscriptionSpec } from './schema.ts';

type Filters = NonNullable<SubscriptionSpec['filters']>;

/** Members of data that name an entity, `{type, id}`: those that act or have a relationship, and those that it is to. */
const ACTORS = ['from', 'entity', 'invitor', 'acceptor', 'actor', 'subject'];
const RESOURCES = ['to', 'entity', 'target', 'resource'];
/** Members that hold such members: of DECISION and of RELATIONSHIPS_IMPORTED. */
const NESTED = ['request', 'relationships'];

/** What is odd about a subscription that is stored nevertheless: it may be right when something else comes. */
export type Warning = { pointer: string; detail: string };

/** Filters by types that the tenant does not have. They match nothing, until there is such a type. */
export function unknownTypes(filters: Filters | undefined, known: ReadonlySet<string>): Warning[] {
  return (['actorTypes', 'resourceTypes'] as const).flatMap((field) =>
    (filters?.[field] ?? []).flatMap((type, index) => {
      const detail = `The tenant has no type ${type}. No event passes by it until there is one.`;
      return known.has(type) ? [] : [{ pointer: `/filters/${field}/${index}`, detail }];
    }),
  );
}

/** The types that patterns name: names, or beginnings with a `*` at the end. 'all' where that is each of them. */
export function typesOf(patterns: readonly string[], known: readonly string[]): 'all' | ReadonlySet<string> {
  const named = known.filter((type) => patterns.some((pattern) => isNamed(pattern, type)));
  return named.length === known.length ? 'all' : new Set(named);
}

/**
 * @param types as typesOf returns them
 * @param userType the type of the users of consents
 */
export function matcher(
  types: 'all' | ReadonlySet<string>,
  filters: Filters | undefined,
  userType: string,
): (event: Matched) => boolean {
  const { actorTypes, resourceTypes } = filters ?? {};
  return ({ type, body }) =>
    (types === 'all' || types.has(type)) &&
    (actorTypes === undefined || isAbout(body, ACTORS, 'fromType', actorTypes, userType)) &&
    (resourceTypes === undefined || isAbout(body, RESOURCES, 'toType', resourceTypes, undefined));
}

function isAbout(
  data: Record<string, unknown>,
  members: readonly string[],
  typeMember: 'fromType' | 'toType',
  wanted: readonly string[],
  userType: string | undefined,
): boolean {
  if ('deleted' in data) {
    // The members of the deletion: what is absent matches every value, so relationships of the wanted types may be among those deleted.
    return data[typeMember] === undefined || wanted.includes(data[typeMember] as string);
  }
  if (userType !== undefined && typeof data.userId === 'string' && wanted.includes(userType)) return true;
  const places = [data, ...NESTED.flatMap((member) => data[member] ?? [])] as Record<string, unknown>[];
  return places.some((place) =>
    members.some((member) => wanted.includes((place[member] as { type?: string } | null | undefined)?.type as string)),
  );
}
