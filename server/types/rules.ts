/** The rules of types, pure: names, specs, and what inheritance makes of them for decisions. */
import {
  type Attribute,
  apiVersion,
  checkManifest,
  type DisplayName,
  patterns,
  type RelationshipTypeManifest,
} from '../../crds/index.ts';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import { typeProblem } from './problems.ts';
import type {
  EntityTypeBody,
  EntityTypeRow,
  EntityTypeSpec,
  Inheritance,
  RelationshipTypeBody,
  RelationshipTypeRow,
  RelationshipTypeSpec,
  TypeKey,
  Types,
} from './schema.ts';

const NAME = new RegExp(patterns.typeName.source, 'u');

function isTypeName(name: string): boolean {
  return NAME.test(name) && name.length <= limits.typeNameCharsMax;
}

/** @throws Problem type_name_invalid */
export function checkTypeName(name: string): void {
  if (isTypeName(name)) return;
  const detail = `${JSON.stringify(name.slice(0, 80))} is not ${patterns.typeName.words} and of at most ${limits.typeNameCharsMax} characters.`;
  throw typeProblem('type_name_invalid', { detail, errors: [{ pointer: '/params/type', detail }] });
}

/** The three names of From:rel:To. @throws Problem type_name_invalid */
export function parseTypeKey(text: string): TypeKey {
  const names = text.split(':');
  const [from = '', name = '', to = ''] = names;
  if (names.length === 3 && names.every(isTypeName)) return { from, name, to };
  const detail = `${JSON.stringify(text.slice(0, 200))} is not From:relationship:To.`;
  throw typeProblem('type_name_invalid', { detail, errors: [{ pointer: '/params/relationshipType', detail }] });
}

/** From:rel:To */
export function typeKeyOf({ from, name, to }: TypeKey): string {
  return `${from}:${name}:${to}`;
}

/** What is stored of a body. @throws Problem invalid_request for an attribute that everything has, and for two names in one language */
export function entityTypeSpec({ displayNames = [], attributes = {} }: EntityTypeBody): EntityTypeSpec {
  checkLanguages(displayNames);
  const entries = Object.entries(attributes).map(([name, { type, required = false }]) => {
    if (name === 'id' || name === 'type' || name.length > limits.attributeNameCharsMax) {
      const detail = `An attribute has at most ${limits.attributeNameCharsMax} characters and is not called id or type.`;
      throw problem('invalid_request', { detail, errors: [{ pointer: `/attributes/${name}`, detail }] });
    }
    return [name, { type, required }] as const;
  });
  return {
    ...(displayNames.length === 0 ? {} : { displayNames }),
    ...(entries.length === 0 ? {} : { attributes: Object.fromEntries(entries) }),
  };
}

/** @throws Problem invalid_request */
function checkLanguages(displayNames: readonly DisplayName[]): void {
  const languages = displayNames.map(({ language }) => language);
  const repeated = languages.findIndex((language, n) => languages.indexOf(language) < n);
  if (repeated < 0) return;
  const pointer = `/displayNames/${repeated}`;
  const detail = `Repeats the language of entry ${languages.indexOf(languages[repeated] as string)}.`;
  throw problem('invalid_request', { detail: `${pointer}: ${detail}`, errors: [{ pointer, detail }] });
}

/** What is stored of a manifest, which lists the attributes. */
export function entityTypeOfManifest({
  displayNames = [],
  attributes = [],
}: {
  displayNames?: DisplayName[];
  attributes?: readonly Attribute[];
}): EntityTypeSpec {
  const byName = Object.fromEntries(attributes.map(({ name, ...rest }) => [name, rest]));
  return entityTypeSpec({ displayNames, attributes: byName });
}

/**
 * Checks a body of the Config API by the rules that manifests have.
 * @returns it with its defaults
 * @throws Problem invalid_request with the places
 */
export function relationshipTypeSpec(tenant: string, key: TypeKey, body: RelationshipTypeBody): RelationshipTypeSpec {
  const spec = { ...body, ...key, tenantRef: { name: tenant } };
  const checked = checkManifest({
    apiVersion,
    kind: 'RelationshipType',
    metadata: { name: 'api', namespace: 'api' },
    spec,
  });
  if (checked.ok) return relationshipTypeOfManifest((checked.manifest as RelationshipTypeManifest).spec);
  const errors = checked.errors.map(({ pointer, detail }) => ({ pointer: pointer.replace(/^\/spec/, ''), detail }));
  const detail = errors.map((error) => `${error.pointer} ${error.detail}`).join('; ');
  throw problem('invalid_request', { detail, errors });
}

/** Only what is not the type's name: a manifest's spec has more. */
export function relationshipTypeOfManifest(spec: RelationshipTypeSpec): RelationshipTypeSpec {
  const { displayNames = [], inverse, maxPerTarget, invitation, inheritedThrough = [] } = spec;
  return {
    ...(displayNames.length === 0 ? {} : { displayNames }),
    ...(inverse === undefined ? {} : { inverse }),
    ...(maxPerTarget === undefined ? {} : { maxPerTarget }),
    ...(invitation === undefined ? {} : { invitation }),
    ...(inheritedThrough.length === 0 ? {} : { inheritedThrough }),
  };
}

type Entry = Pick<RelationshipTypeRow, 'from_type' | 'name' | 'to_type' | 'spec'>;

/** A tenant's types as decisions use them. */
export function typesOf(
  entities: readonly Pick<EntityTypeRow, 'name' | 'spec'>[],
  relationships: readonly Entry[],
): Types {
  const declared = entities.map((row) => [row.name, new Set(Object.keys(row.spec.attributes ?? {}))] as const);
  const inheritances = relationships.flatMap((row) =>
    (row.spec.inheritedThrough ?? []).map(({ relationship, from }) => ({
      through: relationship,
      next: from,
      makes: keyOf(row),
    })),
  );
  return Object.freeze({
    attributes: new Map(declared),
    anyAttributes: declared.some(([, names]) => names.size > 0),
    relationships: new Set(relationships.map(keyOf)),
    displayNames: displayNamesOf(entities, relationships),
    inheritances,
    follows: followsOf(inheritances),
  });
}

function displayNamesOf(
  entities: readonly Pick<EntityTypeRow, 'name' | 'spec'>[],
  relationships: readonly Entry[],
): Types['displayNames'] {
  const all = [
    ...entities.map(({ name, spec }) => [name, spec.displayNames ?? []] as const),
    ...relationships.map((row) => [keyOf(row), row.spec.displayNames ?? []] as const),
  ];
  return new Map(all.filter(([, names]) => names.length > 0));
}

/**
 * What people read for a type of actors or resources, or for a relationship type.
 * @param key its name, or From:rel:To
 * @returns its display names; if it has none, its name without underscores for each language
 */
export function shownNamesOf({ displayNames }: Pick<Types, 'displayNames'>, key: string): readonly DisplayName[] {
  const [first = '', relationship = first] = key.split(':');
  return displayNames.get(key) ?? [{ language: 'en', name: relationship.replaceAll('_', ' ') }];
}

function keyOf(row: Entry): string {
  return `${row.from_type}:${row.name}:${row.to_type}`;
}

/**
 * Which stored relationship may follow which on a way of inheritance. A way for R is a way for the first step, then one
 * for the second; so whatever can end the first may be followed by whatever can begin the second.
 */
export function followsOf(inheritances: readonly Inheritance[]): (readonly [string, string])[] {
  const begins = closureOf(inheritances, (one) => one.through);
  const ends = closureOf(inheritances, (one) => one.next);
  // Ways share their first step, and types their ends: each set is put together once.
  const after = new Map<string, Set<string>>();
  for (const { through, next } of inheritances) addAll(after, through, begins(next));
  const follows = new Map<string, Set<string>>();
  for (const [through, firsts] of after) for (const last of ends(through)) addAll(follows, last, firsts);
  return [...follows].flatMap(([last, firsts]) => [...firsts].map((first) => [last, first] as const));
}

function addAll(sets: Map<string, Set<string>>, key: string, values: ReadonlySet<string>): void {
  const found = sets.get(key);
  if (found === undefined) sets.set(key, new Set(values));
  else for (const value of values) found.add(value);
}

/** A type and all that stand at one end of its ways, by any number of ways; each asked for once. */
export function closureOf(inheritances: readonly Inheritance[], step: (one: Inheritance) => string) {
  const steps = new Map<string, Set<string>>();
  for (const one of inheritances) addAll(steps, one.makes, new Set([step(one)]));
  const known = new Map<string, ReadonlySet<string>>();
  return (type: string): ReadonlySet<string> => {
    const before = known.get(type);
    if (before) return before;
    const found = new Set([type]);
    for (const reached of found) for (const one of steps.get(reached) ?? []) found.add(one);
    known.set(type, found);
    return found;
  };
}
