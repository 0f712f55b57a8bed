/**
 * What ties relationship types together: which types one of them names, which may be written with it, and which are
 * in use by others. Two that are inherited through one another can only be made, and only be removed, together.
 */
import type { Transaction } from '../core/db/database.ts';
import { checkOwnership, type Writer } from '../core/ownership.ts';
import type { ConfigUnit } from '../writes/index.ts';
import { typeProblem } from './problems.ts';
import { parseTypeKey, typeKeyOf } from './rules.ts';
import type { RelationshipTypeRow, RelationshipTypeSpec, TypeKey } from './schema.ts';
import { loadRelationshipTypes, readEntityType, readRelationshipType, withRelationships } from './store.ts';

/** A relationship type that is not stored and may be written with one that names it, as its own writer says. */
type Peer = { writer: Writer; spec: RelationshipTypeSpec };
/** Peers by their names, From:rel:To. */
export type Peers = (name: string) => Peer | undefined;

type Named = { key: TypeKey; spec: RelationshipTypeSpec };

/**
 * Checks that the types which a relationship type names are there, or come with it.
 * @returns the peers that have to be written with it
 * @throws Problem type_unknown, and those of ownership for a peer
 */
export async function resolveReferences(
  { tx, tenant, tenantRow }: ConfigUnit,
  first: Named,
  peers: Peers = () => undefined,
): Promise<(Named & Peer)[]> {
  const together: (Named & Peer)[] = [];
  const isComing = (name: string) => [first, ...together].some(({ key }) => typeKeyOf(key) === name);
  await requireEnds(tx, tenant, first);
  await resolve(first);
  // `together` grows while it is read.
  for (const one of together) await resolve(one);
  return together;

  async function resolve(one: Named): Promise<void> {
    for (const { name, pointer } of inheritedReferences(one)) {
      const key = parseTypeKey(name);
      if (isComing(name) || (await readRelationshipType(tx, tenant, key)) !== undefined) continue;
      const peer = peers(name);
      if (peer === undefined) throw unknown(one === first, `There is no relationship type ${name}`, one, pointer);
      checkOwnership(undefined, peer.writer, tenantRow.spec.configAuthority);
      await requireEnds(tx, tenant, { key, spec: peer.spec });
      together.push({ key, ...peer });
    }
  }
}

function inheritedReferences({ spec }: Named): { name: string; pointer: string }[] {
  return (spec.inheritedThrough ?? []).flatMap((way, index) =>
    (['relationship', 'from'] as const).map((field) => ({
      name: way[field],
      pointer: `/inheritedThrough/${index}/${field}`,
    })),
  );
}

async function requireEnds(tx: Transaction, tenant: string, { key }: Named): Promise<void> {
  for (const type of [key.from, key.to]) {
    if ((await readEntityType(tx, tenant, type, 'use')) !== undefined) continue;
    throw typeProblem('type_unknown', {
      detail: `There is no actor or resource type ${type}, which ${typeKeyOf(key)} names.`,
    });
  }
}

/** @param isOwn whether the place is one of the caller's own spec */
function unknown(isOwn: boolean, what: string, { key }: Named, pointer: string) {
  if (isOwn) return typeProblem('type_unknown', { detail: `${what}.`, errors: [{ pointer, detail: `${what}.` }] });
  return typeProblem('type_unknown', { detail: `${what}, which ${typeKeyOf(key)} names.` });
}

/**
 * What is in the way of removing a relationship type: another that is inherited through it, or relationships. A retired
 * type that nothing needs is in nobody's way.
 * @returns `use`, or the retired types that are tied to this one and go with it
 */
export async function usesOfRelationshipType(
  tx: Transaction,
  tenant: string,
  key: TypeKey,
  now: string,
): Promise<{ use: string } | { use: undefined; with: TypeKey[] }> {
  const name = typeKeyOf(key);
  const ties = tiesOf(await loadRelationshipTypes(tx, tenant));
  const going = tiedTo(name, ties);
  const used = await withRelationships(tx, tenant, [...going].map(parseTypeKey), now);
  for (const one of used) going.delete(typeKeyOf(one));
  if (!going.has(name)) return { use: `relationships of the type ${name}` };
  // What one that stays is inherited through stays as well, and so on.
  const staying = [...ties.names.keys()].filter((one) => !going.has(one));
  for (const heir of staying) {
    for (const of of ties.names.get(heir) ?? []) {
      if (of === name) return { use: `${heir}, which is inherited through it` };
      // `staying` grows while it is read.
      if (going.delete(of)) staying.push(of);
    }
  }
  going.delete(name);
  return { use: undefined, with: [...going].map(parseTypeKey) };
}

/** What each relationship type is inherited through, the reverse of it, and which types are retired. */
type Ties = { names: Map<string, string[]>; heirs: Map<string, string[]>; retired: Set<string> };

function tiesOf(rows: readonly RelationshipTypeRow[]): Ties {
  const ties: Ties = { names: new Map(), heirs: new Map(), retired: new Set() };
  for (const row of rows) {
    const name = typeKeyOf(keyOf(row));
    const named = (row.spec.inheritedThrough ?? []).flatMap(({ relationship, from }) => [relationship, from]);
    ties.names.set(name, named);
    if (row.retired) ties.retired.add(name);
    for (const one of named) {
      const heirs = ties.heirs.get(one);
      if (heirs) heirs.push(name);
      else ties.heirs.set(one, [name]);
    }
  }
  return ties;
}

/** The type and the retired ones that it is tied to by inheritance, in either direction, directly or not. */
function tiedTo(name: string, { names, heirs, retired }: Ties): Set<string> {
  const tied = new Set([name]);
  // `tied` grows while it is read.
  for (const one of tied) {
    for (const other of [...(names.get(one) ?? []), ...(heirs.get(one) ?? [])]) {
      if (retired.has(other)) tied.add(other);
    }
  }
  return tied;
}

function keyOf(row: RelationshipTypeRow): TypeKey {
  return { from: row.from_type, name: row.name, to: row.to_type };
}
