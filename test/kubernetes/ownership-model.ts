/**
 * The rule of two writers and one owner, as a state and what each happening makes of it. Pure, and without a word about
 * queues, watches or transactions: what the operator and the Config API must have come to once they are left alone.
 *
 * A tenant has objects, each with a name. Each object has one owner, a manifest or the API, and only its owner changes it.
 * Manifests come and go in two namespaces; the API is asked at any time; the operator is up or down.
 */
import { type Kind, registered, written } from './ownership-kinds.ts';

/** A place in which a manifest can be: its kind, its namespace and object name, and the name in the tenant that it claims. */
type Place = { kind: Kind; namespace: 'own' | 'other'; object: string; claims: string };
export type Slot = string;

/** Of policies four; of each other kind two in the two namespaces, which claim one name. */
export const slots: Readonly<Record<Slot, Place>> = {
  first: { kind: 'Policy', namespace: 'own', object: 'first', claims: 'doc:read' },
  second: { kind: 'Policy', namespace: 'own', object: 'second', claims: 'doc:read' },
  abroad: { kind: 'Policy', namespace: 'other', object: 'first', claims: 'doc:read' },
  writing: { kind: 'Policy', namespace: 'other', object: 'writing', claims: 'doc:write' },
  ...Object.fromEntries(
    [...registered.keys()]
      .filter((kind) => kind !== 'Policy')
      .flatMap((kind) => {
        const { claims, isObjectName } = written[kind];
        const of = { kind, claims, object: isObjectName ? claims : kind.toLowerCase() };
        return [
          [kind, { ...of, namespace: 'own' }],
          [`${kind} abroad`, { ...of, namespace: 'other' }],
        ] as [Slot, Place][];
      }),
  ),
};

/** Of an object of the tenant: `Policy doc:read`. */
export type Name = `${Kind} ${string}`;
export const placeOf = (slot: Slot): Place => slots[slot] as Place;
export const nameOf = (slot: Slot): Name => `${placeOf(slot).kind} ${placeOf(slot).claims}`;
export const names = [...new Set(Object.keys(slots).map(nameOf))];

export type Wish = {
  managementPolicy: 'Enforce' | 'CreateOnly' | 'Observe';
  adoptionPolicy: 'Refuse' | 'Adopt';
  /** What the object is to say. */
  content: number;
  /** A policy that does not compile; nothing else can be broken here. */
  broken: boolean;
};
/** @property createdAt RFC 3339, of the API server @property leaving its deletion was asked for, or it is gone already */
export type Manifest = Wish & { uid: string; createdAt: string; leaving: boolean };
export type Row = { owner: 'api' | { slot: Slot; uid: string }; content: number };
export type Authority = 'PerObject' | 'Kubernetes' | 'Api';
/** The Tenant's allowedNamespaces: none, names, or a selector that only the other namespace meets. */
export type Allowed = 'absent' | 'both' | 'selected';

/** @property authority of the Tenant as it is written @property governing and as the operator has last seen it */
export type State = {
  authority: Authority;
  governing: Authority;
  allowed: Allowed;
  manifests: Map<Slot, Manifest>;
  rows: Map<Name, Row>;
};

export const emptyState = (): State => ({
  authority: 'PerObject',
  governing: 'PerObject',
  allowed: 'absent',
  manifests: new Map(),
  rows: new Map(),
});

/** Absent, allowedNamespaces is the namespace that is named like the tenant. */
function isAllowed({ allowed }: State, slot: Slot): boolean {
  return allowed === 'both' || (allowed === 'absent') === (placeOf(slot).namespace === 'own');
}

export type Reason = 'Valid' | 'NamespaceNotAllowed' | 'DuplicateName' | 'OwnedByAPI' | 'CompileError';

/**
 * What the operator comes to, from the manifests and the rows as they are.
 * @returns the reason of Accepted that each manifest is told
 */
export function operate(state: State): Map<Slot, Reason> {
  state.governing = state.authority;
  for (const [name, row] of state.rows) if (row.owner !== 'api') handOn(state, name, row, row.owner.slot);
  for (const [slot, { leaving }] of state.manifests) if (leaving) state.manifests.delete(slot);
  const reasons = new Map<Slot, Reason>();
  for (const slot of byAge(state)) reasons.set(slot, judge(state, slot));
  return reasons;
}

/** First, what was a manifest's and cannot stay so. */
function handOn(state: State, name: Name, row: Row, slot: Slot): void {
  const manifest = state.manifests.get(slot);
  if (manifest === undefined || manifest.leaving || !isAllowed(state, slot)) {
    // The object goes with its manifest, and with the permission. Where nobody but the API may change anything, it is left
    // to the API.
    if (state.authority === 'Api') row.owner = 'api';
    else state.rows.delete(name);
    return;
  }
  // A manifest that does not enforce owns nothing; one that was deleted and made again is the same owner.
  row.owner = manifest.managementPolicy === 'Enforce' ? { slot, uid: manifest.uid } : 'api';
}

/** Then each manifest, the oldest first, writes what it may. */
function judge(state: State, slot: Slot): Reason {
  if (!isAllowed(state, slot)) return 'NamespaceNotAllowed';
  const { managementPolicy, adoptionPolicy, broken, content, uid } = state.manifests.get(slot) as Manifest;
  const name = nameOf(slot);
  const row = state.rows.get(name);
  const isOwner = row !== undefined && row.owner !== 'api' && row.owner.slot === slot;
  // The oldest manifest that may claim a name has it, whatever it makes of it, unless another one has the object already.
  const eldest = byAge(state).find((one) => nameOf(one) === name && isAllowed(state, one));
  if (eldest !== slot && !isOwner) return 'DuplicateName';
  if (managementPolicy === 'Observe') return 'Valid';
  if (managementPolicy === 'CreateOnly' && row !== undefined) return 'Valid';
  // Whoever creates only writes as the API does.
  if (state.authority === (managementPolicy === 'CreateOnly' ? 'Kubernetes' : 'Api')) return 'OwnedByAPI';
  if (row?.owner === 'api' && adoptionPolicy === 'Refuse') return 'OwnedByAPI';
  if (row !== undefined && row.owner !== 'api' && !isOwner) return 'DuplicateName';
  // Whose object it is comes before what is wrong with the write.
  if (broken) return 'CompileError'; // and what was there before stays
  state.rows.set(name, { owner: managementPolicy === 'CreateOnly' ? 'api' : { slot, uid }, content });
  return 'Valid';
}

/** Created in the same second, they have the order of their keys. */
function byAge({ manifests }: State): Slot[] {
  const age = (slot: Slot) => {
    const { kind, namespace, object } = placeOf(slot);
    // The name of a namespace is random; `other` sorts behind `own`, as the world makes them.
    return `${manifests.get(slot)?.createdAt} ${kind} ${namespace === 'own' ? 1 : 2} ${object}`;
  };
  return [...manifests.keys()].sort((a, b) => (age(a) < age(b) ? -1 : 1));
}

export type IfMatch = 'absent' | 'any' | 'current' | 'stale';
/** @property code of the problem, where it is refused */
export type Answer = { status: number; code?: string };
const ok: Answer = { status: 200 };

/** What the Config API answers to a PUT, and what comes of it. */
export function put(state: State, name: Name, content: number, ifMatch: IfMatch): Answer {
  const row = state.rows.get(name);
  const refusal = refuse(state, row) ?? compare(row, ifMatch);
  if (refusal) return refusal;
  state.rows.set(name, { owner: 'api', content });
  return ok;
}

/** And to a DELETE. */
export function remove(state: State, name: Name, ifMatch: IfMatch): Answer {
  const row = state.rows.get(name);
  if (row === undefined) return { status: 404 };
  const refusal = refuse(state, row) ?? compare(row, ifMatch);
  if (refusal) return refusal;
  state.rows.delete(name);
  return ok;
}

function refuse({ governing }: State, row: Row | undefined): Answer | undefined {
  if (governing === 'Kubernetes') return { status: 409, code: 'config_authority' };
  if (row !== undefined && row.owner !== 'api') return { status: 409, code: 'owned_by_manifest' };
  return undefined;
}

/** If-Match comes after ownership: whose object it is does not depend on its version. */
function compare(row: Row | undefined, ifMatch: IfMatch): Answer | undefined {
  const holds = ifMatch === 'absent' || (row !== undefined && ifMatch !== 'stale');
  return holds ? undefined : { status: 412, code: 'precondition_failed' };
}
