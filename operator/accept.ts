/** The first half of reconciling a manifest: whether it is accepted, and writing what it asks for. */
import { notesOn, type TenantSpec } from '../crds/index.ts';
import { apiOwner, isSameManifest, type Writer } from '../server/core/ownership.ts';
import type { FoundResource, ResourceClaim } from '../server/room/resource-kind.ts';
import { actorOf, ownerOf, type ReconcileContext } from './context.ts';
import { type NamespaceCheck, permissionIn } from './namespace-check.ts';
import { generatedSecret, readSecret } from './object-secrets.ts';
import { peersOf } from './peers.ts';
import { refusalOf } from './reasons.ts';
import type { ResourceRecord } from './records.ts';
import type { SourceObject } from './source.ts';
import { describeKey } from './source.ts';
import { readTenantSecrets } from './tenant-secrets.ts';
import { isActive } from './tenant-tracker.ts';

export type Accepted =
  /**
   * `revision` is the tenant's revision that holds it (undefined: nothing is to be served); `changed` says that it is a new
   * revision, `fresh` that it is a new generation; `dependsOnOthers` that another manifest has the object; `awaitsManifest` that
   * only another manifest is in the way.
   */
  | {
      ok: true;
      message: string;
      revision: number | undefined;
      changed: boolean;
      fresh?: boolean;
      dependsOnOthers: boolean;
    }
  | { ok: false; reason: string; message: string; dependsOnOthers: boolean; awaitsManifest?: true }
  /** The Tenant's manifest is there and its turn comes: nothing is said yet. */
  | 'later';

type Valid = Extract<SourceObject['checked'], { ok: true }>['manifest'];

/**
 * @param fresh whether this generation was not accepted before
 * @param check of a child
 * @throws what is not the manifest's fault: the database is away, the compiler is busy
 */
export async function accept(
  context: ReconcileContext,
  object: SourceObject,
  record: ResourceRecord,
  { fresh, check }: { fresh: boolean; check: NamespaceCheck | undefined },
): Promise<Accepted> {
  if (object.problem !== undefined) return invalid(object.problem);
  if (!object.checked.ok) return invalid(object.checked.message);
  const { claims: claim } = object;
  if (claim === undefined) return invalid('The manifest does not name a tenant and an object.');
  if (hasMoved(record, claim)) return invalid(describeMove(record, claim));
  const refusal = check && (await requireTenant(context, check));
  if (refusal) return refusal;
  const { manifest } = object.checked;
  const { managementPolicy } = manifest.spec;
  const mayClaim = (namespace: string) =>
    !check || permissionIn(context, check.tenant, check.found, namespace) === 'allowed';
  const rival = context.claims.olderClaimant(object, mayClaim);
  if (rival || managementPolicy !== 'Enforce') {
    const found = await context.kinds.of(object.kind).find(claim);
    if (rival && !(found && isSameManifest(found.owner, ownerOf(context, object)))) {
      const message = `${describeKey(rival.key)} is older and claims this name in tenant ${claim.tenant}.`;
      return { ok: false, reason: 'DuplicateName', message, dependsOnOthers: true, awaitsManifest: true };
    }
    // A tenant's row is made before its first revision: at revision 0 it is not there yet.
    const exists = found !== undefined && found.revision > 0;
    if (managementPolicy === 'Observe' || (managementPolicy === 'CreateOnly' && exists)) {
      return observed(managementPolicy, exists ? found : undefined);
    }
  }
  return write(context, { object, claim, manifest, fresh });
}

type Wanted = { object: SourceObject; claim: ResourceClaim; manifest: Valid; fresh: boolean };

async function write(context: ReconcileContext, { object, claim, manifest, fresh }: Wanted): Promise<Accepted> {
  const writer = writerFor(context, object, manifest);
  const read =
    object.kind === 'Tenant' ? await readTenantSecrets(context.source, object, manifest.spec as TenantSpec) : undefined;
  if (read && !read.ok) return read;
  const kind = context.kinds.of(object.kind);
  const wanted = kind.secretsOf(manifest);
  const values: Record<string, string> = {};
  for (const one of wanted.filter(({ generate }) => generate === undefined)) {
    const referred = await readSecret(context.source, object, one);
    if (!referred.ok) return referred;
    if (referred.value !== undefined) values[one.field] = referred.value;
  }
  try {
    const options = { fresh, secrets: read?.secrets, peers: peersOf(context, object.kind, claim) };
    const first = await kind.put(writer, claim, manifest, { ...options, values });
    // Only for what was accepted: nobody is to use a secret of a client that there is not.
    const toMake = wanted.find(({ generate }) => generate !== undefined);
    const made = toMake && (await generatedSecret(context, object, toMake));
    if (made && !made.ok) return made;
    const second =
      made?.value !== undefined && toMake
        ? await kind.put(writer, claim, manifest, { ...options, values: { ...values, [toMake.field]: made.value } })
        : undefined;
    const { revision } = second ?? first;
    const changed = first.changed || second?.changed === true;
    const message = ['Valid and stored.', ...notesOn(manifest)].join('\n');
    return { ok: true, message, revision, changed, dependsOnOthers: false };
  } catch (error) {
    const refusal = refusalOf(error, object.locate);
    if (refusal === undefined) throw error;
    return { ok: false, ...refusal };
  }
}

/** As whom a manifest's row is written. */
export function writerFor(context: Pick<ReconcileContext, 'source'>, object: SourceObject, manifest: Valid): Writer {
  return {
    // Whoever creates only leaves the object to the API.
    owner: manifest.spec.managementPolicy === 'CreateOnly' ? apiOwner : ownerOf(context, object),
    actor: actorOf(context, object),
    adopt: manifest.spec.adoptionPolicy === 'Adopt',
  };
}

/**
 * Whether the tenant takes children. The row is looked up again, after the record of the child was written: a Tenant that
 * is being deleted has its row disabled only while there is no such record (remove.ts).
 */
async function requireTenant(
  context: ReconcileContext,
  { tenant, seen }: NamespaceCheck,
): Promise<Accepted | undefined> {
  const found = await context.tenants.find(tenant);
  if (isActive(found)) return undefined;
  const missing = found === undefined || found.revision === 0;
  // It may have come since it was asked for.
  if (context.tenants.awaitsReconcile(tenant) || context.waiting.changesOf(tenant) !== seen) return 'later';
  const why = missing ? `Tenant ${tenant} not found.` : `Tenant ${tenant} is disabled.`;
  return refused('TenantNotFound', `${why} The manifest is retried when its Tenant is accepted.`, true);
}

/** Once accepted, a manifest stays with its tenant and its name: CEL says the same to the API server. */
function hasMoved(record: ResourceRecord, claim: ResourceClaim): boolean {
  return record.object !== '' && (record.tenant !== claim.tenant || record.object !== claim.name);
}

function describeMove(record: ResourceRecord, claim: ResourceClaim): string {
  const field = record.tenant === claim.tenant ? 'spec.name' : 'spec.tenantRef.name';
  const [was, is] = record.tenant === claim.tenant ? [record.object, claim.name] : [record.tenant, claim.tenant];
  return `${field} must not change: it was ${was} and is ${is}. Create a manifest with another metadata.name, or delete this one first.`;
}

function observed(policy: string, found: FoundResource | undefined): Accepted {
  const message = found
    ? `Found; managementPolicy ${policy} does not change it.`
    : `Not found; managementPolicy ${policy} does not create it.`;
  // What the API does to its own is found by the next look at everything.
  const dependsOnOthers = found !== undefined && found.owner.source !== 'api';
  return { ok: true, message, revision: found?.revision, changed: false, dependsOnOthers };
}

function invalid(message: string): Accepted {
  return refused('Invalid', message, false);
}

function refused(reason: string, message: string, dependsOnOthers: boolean): Accepted {
  return { ok: false, reason, message, dependsOnOthers };
}
