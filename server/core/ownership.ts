/**
 * The rule of two writers and one owner: manifests and the Config API write the same rows, and a row says whose
 * it is. The comparison is made under the tenant's row lock, in the transaction that writes.
 */
import type { IdempotencyReservation } from './idempotency-key.ts';
import { defineProblems } from './problems.ts';

export type Owner = {
  source: 'kubernetes' | 'files' | 'api';
  namespace?: string;
  name?: string;
  uid?: string;
};

/** Who writes a configuration row, for the row, the audit entry and the ownership rule. */
export type Writer = {
  owner: Owner;
  /** For updatedBy and the audit: `member:<email>`, `operator:<source>/<namespace>/<name>`, `cli`. */
  actor: string;
  requestId?: string;
  /** Set where the request has an Idempotency-Key. */
  idempotency?: IdempotencyReservation;
  /** A manifest with adoptionPolicy Adopt takes an API-owned row over. */
  adopt?: boolean;
};

export const apiOwner: Owner = { source: 'api' };

export const ownershipProblem = defineProblems({
  owned_by_manifest: {
    status: 409,
    title: 'Owned by a manifest',
    when: 'The object is managed by a manifest and cannot be changed through the API.',
    refusal: { reason: 'DuplicateName', dependsOnOthers: true },
  },
  owned_by_api: {
    status: 409,
    title: 'Owned by the API',
    when: 'The object was created through the API. A manifest can take it over only with adoptionPolicy Adopt.',
    refusal: { reason: 'OwnedByAPI', dependsOnOthers: true },
  },
  duplicate_name: {
    status: 409,
    title: 'Name taken by another manifest',
    when: 'An older manifest already owns this name in this tenant.',
    refusal: { reason: 'DuplicateName', dependsOnOthers: true },
  },
  config_authority: {
    status: 409,
    title: 'Not the configuration authority',
    when: "The tenant's configAuthority allows only the other writer (the API or manifests) to change its configuration.",
    refusal: { reason: 'OwnedByAPI', dependsOnOthers: true },
  },
});

type ConfigAuthority = 'PerObject' | 'Kubernetes' | 'Api';

/**
 * Checks that the writer may write a row.
 * @param current the row's owner, undefined when there is no row
 * @returns `adopted`: the write takes the row over from the API
 * @throws Problem owned_by_manifest, owned_by_api, duplicate_name or config_authority
 */
export function checkOwnership(
  current: Owner | undefined,
  writer: Writer,
  authority: ConfigAuthority = 'PerObject',
): 'new' | 'own' | 'adopted' {
  const byApi = writer.owner.source === 'api';
  if ((authority === 'Kubernetes' && byApi) || (authority === 'Api' && !byApi))
    throw ownershipProblem('config_authority');
  if (current === undefined) return 'new';
  if (byApi) {
    if (current.source === 'api') return 'own';
    throw ownershipProblem('owned_by_manifest', {
      detail: `This object is managed by the manifest ${describeOwner(current)}.`,
    });
  }
  if (current.source === 'api') {
    if (writer.adopt) return 'adopted';
    throw ownershipProblem('owned_by_api');
  }
  // The same manifest, or one made again under the same name: its uid is new, its right to the name is not.
  if (isSameManifest(current, writer.owner)) return 'own';
  throw ownershipProblem('duplicate_name', {
    detail: `The manifest ${describeOwner(current)} already owns this name.`,
  });
}

/**
 * As checkOwnership, for a deletion: the row of a manifest goes with that very object, told by its uid, and not with another that
 * had or has its name.
 */
export function checkDeletionOwnership(current: Owner, writer: Writer, authority: ConfigAuthority = 'PerObject'): void {
  checkOwnership(current, writer, authority);
  if (isSameObject(current, writer.owner)) return;
  throw ownershipProblem('duplicate_name', {
    detail: `The manifest ${describeOwner(current)} was recreated, and the new manifest owns the object.`,
  });
}

/** The same manifest, and not one that was made again under its name. */
export function isSameObject(a: Owner, b: Owner): boolean {
  return isSameManifest(a, b) && a.uid === b.uid;
}

/** Same source, namespace and name. */
export function isSameManifest(a: Owner, b: Owner): boolean {
  return a.source === b.source && a.namespace === b.namespace && a.name === b.name;
}

/** For `managedBy` in answers and for messages: `kubernetes fleet/car-read`. */
export function describeOwner(owner: Owner): string {
  if (owner.source === 'api') return 'api';
  return `${owner.source} ${owner.namespace ? `${owner.namespace}/` : ''}${owner.name}`;
}
