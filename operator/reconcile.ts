/**
 * The steps from a key to rows and a status. Level-based: a step looks at the manifest and at the database as they are
 * now, so running it again changes nothing, and running it late misses nothing.
 */
import { type Accepted, accept } from './accept.ts';
import { activeOf, type ConditionLine, conditionOf, nothingServed, type Outcome } from './conditions.ts';
import type { ReconcileContext, Reconciled } from './context.ts';
import { checkNamespace, evict, type NamespaceCheck, requeueChildren } from './namespace-check.ts';
import { retryOf } from './reasons.ts';
import type { ResourceRecord } from './records.ts';
import { remove } from './remove.ts';
import { recordResource } from './resource-record.ts';
import type { Key, SourceObject } from './source.ts';
import { updateIndexes } from './triggers.ts';
import type { TenantVersion } from './waiting.ts';

export async function reconcile(context: ReconcileContext, key: Key): Promise<Reconciled> {
  const startedAt = context.clock.monotonic();
  const { source, tenants, waiting, queue, pending } = context;
  waiting.end(key);
  for (const freed of updateIndexes(context, key)) queue.add(freed);
  const object = source.get(key);
  if (object === undefined || object.deleting) return remove(context, key, object, startedAt);
  const check = await checkNamespace(context, object);
  // What the Tenant says now decides, and not what was stored of it: an object that CreateOnly makes is never taken back.
  if (check && tenants.awaitsReconcile(check.tenant)) return waitForTenantManifest(context, key, check);
  if (check && check.permission !== 'allowed') return evict(context, object, check, startedAt);
  await source.addFinalizer?.(object);
  pending.forgetRemoved(key);
  const record = await recordResource(context, object);
  if (check && tenants.allowanceOf(check.tenant) !== check.allowance) return requeue(context, key);
  context.deletions.readConfirmation(object);
  const seen = { tenant: record.tenant, seen: check?.seen ?? waiting.changesOf(record.tenant) };
  const accepted = await acceptOnce(context, object, record, check).catch((error) =>
    reportRetry(context, record, error, startedAt),
  );
  if (accepted === 'later') return waitForTenantManifest(context, key, seen);
  notifyTenantChanged(context, object, record, accepted);
  const outcome = await determineOutcome(context, object, record, accepted);
  if (outcome === 'waiting') return 'waiting';
  await context.statuses.finish(record, outcome, startedAt);
  waitForOthers(context, object, seen, accepted);
  return outcome.programmed.reason === 'Pending' ? 'waiting' : 'settled';
}

type Seen = { tenant: string; seen: TenantVersion };

/** The Tenant's manifest is there, and its turn comes. */
function waitForTenantManifest({ waiting, rollouts }: ReconcileContext, key: Key, seen: Seen): Reconciled {
  rollouts.forget(key);
  waiting.waitForTenant(key, seen, { for: `the Tenant ${seen.tenant} to be accepted or refused` });
  return 'waiting';
}

/** Allowed by what the Tenant said before: `requeueChildren` did not know this key, whose record was not written yet. */
function requeue({ queue }: ReconcileContext, key: Key): Reconciled {
  queue.add(key);
  return 'waiting';
}

/** What was accepted a moment ago and waits for servers only is not written again. */
async function acceptOnce(
  context: ReconcileContext,
  object: SourceObject,
  record: ResourceRecord,
  check: NamespaceCheck | undefined,
): Promise<Accepted> {
  const known = context.pending.acceptedOf(object);
  if (known !== undefined) return { ...known, changed: false, fresh: false };
  const fresh = activeOf(record.status)?.generation !== record.generation;
  const accepted = await accept(context, object, record, { fresh, check });
  return accepted !== 'later' && accepted.ok ? { ...accepted, fresh } : accepted;
}

/** Says on the manifest that it is tried again; what was served before still is. @throws the error */
async function reportRetry(
  { statuses, rollouts }: ReconcileContext,
  record: ResourceRecord,
  error: unknown,
  startedAt: number,
): Promise<never> {
  // Its next try has a time of its own, which servers that serve an earlier version must not bring forward.
  rollouts.forget(record.key);
  const retry = retryOf(error);
  if (retry === undefined) throw error;
  const { status, generation } = record;
  const active = activeOf(status);
  const {
    status: known = 'False',
    reason = 'NotAccepted',
    message = nothingServed,
  } = conditionOf(status, 'Programmed') ?? {};
  const outcome = {
    generation,
    accepted: { ok: undefined, ...retry },
    programmed: { status: known, reason, message },
    ...(active ? { active } : {}),
  };
  await statuses.finish(record, outcome, startedAt);
  throw error;
}

type Decided = Exclude<Accepted, 'later'>;

/** Wakes what waits for this change of the tenant. */
function notifyTenantChanged(
  context: ReconcileContext,
  object: SourceObject,
  record: ResourceRecord,
  accepted: Decided,
): void {
  const isTenant = object.kind === 'Tenant';
  if (isTenant) context.tenants.reconciled(object);
  if (accepted.ok && (accepted.changed || isTenant)) context.waiting.tenantChanged(record.tenant);
  // Of a new generation more may be another than what it is at its revision, such as the tests of a policy.
  if (accepted.ok && (accepted.changed || accepted.fresh)) wakeRefused(context, object, record);
  if (accepted.ok && isTenant) requeueChildren(context, object, accepted.changed);
}

/** What was refused for what this object was, and does not wait for any change of the tenant. */
function wakeRefused(
  { kinds, records, queue }: ReconcileContext,
  { key, kind }: SourceObject,
  { tenant }: ResourceRecord,
) {
  const { wakes } = kinds.of(kind);
  if (wakes.length === 0) return;
  for (const other of records.keysOf(tenant)) {
    const record = records.get(other);
    const isRefused = conditionOf(record?.status ?? {}, 'Accepted')?.status === 'False';
    // One that is in flight may be refused for what was, and nobody can see yet whether it is.
    if (!isRefused && !queue.isRunning(other)) continue;
    if (other !== key && wakes.some((one) => one === record?.kind)) queue.add(other);
  }
}

async function determineOutcome(
  context: ReconcileContext,
  object: SourceObject,
  record: ResourceRecord,
  accepted: Decided,
): Promise<Outcome | 'waiting'> {
  const { rollouts, pending, queue } = context;
  const { generation, key } = record;
  // What an earlier version waited for is nothing to one of which nothing is to be served.
  if (!accepted.ok || accepted.revision === undefined) rollouts.forget(key);
  const before = activeOf(record.status);
  const isStored = accepted.ok
    ? accepted.revision !== undefined
    : before !== undefined && !ownershipLost.has(accepted.reason);
  const { claims } = object;
  const extra = await moreConditions(context, object, {
    isStored,
    isThere: accepted.ok && accepted.revision !== undefined,
  });
  const details = isStored && claims ? await context.kinds.of(object.kind).describe(claims) : undefined;
  if (!accepted.ok) return { generation, extra, details, ...refusedOutcome(accepted, before) };
  const valid = { ok: true, reason: 'Valid', message: accepted.message };
  if (accepted.revision === undefined) {
    const programmed = { status: 'False' as const, reason: 'NotFound', message: accepted.message };
    return { generation, extra, accepted: valid, programmed };
  }
  const isBefore = !accepted.changed && before?.generation === generation && before.revision <= accepted.revision;
  const active = isBefore ? before : { generation, revision: accepted.revision };
  const wasServed = isBefore && conditionOf(record.status, 'Programmed')?.status === 'True';
  const programmed = wasServed ? served : await waitForServers(context, record, active.revision, accepted.changed);
  if (programmed === served) {
    rollouts.forget(key);
    pending.forgetAccepted(key);
  } else if (!accepted.dependsOnOthers && !queue.has(key)) {
    // A key that was queued meanwhile is accepted anew: what changed, such as a Secret, was perhaps read before it did.
    pending.accepted(object, { ...accepted, revision: active.revision });
  }
  return programmed === 'waiting' ? 'waiting' : { generation, extra, details, accepted: valid, active, programmed };
}

/**
 * What a status says besides: what the room of its kind says, and of a Tenant a mass deletion that is held, links of its first
 * members, and whether anybody can enter it.
 */
async function moreConditions(
  { deletions, initialAdmins, kinds, maxStalenessMs }: ReconcileContext,
  object: SourceObject,
  is: { isStored: boolean; isThere: boolean },
): Promise<readonly ConditionLine[]> {
  const { kind, name, claims } = object;
  const own = is.isStored && claims ? await kinds.of(kind).conditions(claims, { maxStalenessMs }) : [];
  if (kind !== 'Tenant') return own;
  const invited = is.isThere ? await initialAdmins.inviteInitialAdmins(object) : [];
  return [...own, ...deletions.conditionsOf(name), ...invited];
}

const served = { status: 'True' as const, reason: 'Programmed', message: 'Every live server decides with it.' };

/** A short wait says nothing: one status instead of two. Once programmed, a version stays so; new servers begin with it. */
async function waitForServers(
  { rollouts }: ReconcileContext,
  { key, tenant }: ResourceRecord,
  revision: number,
  isNew: boolean,
) {
  if (rollouts.isReached(key, tenant, revision)) return served;
  if (isNew) {
    // No server can have it yet. They are asked about all that waits together.
    rollouts.track(key, { tenant, revision, live: 1 });
    return 'waiting';
  }
  const { live, behind } = await rollouts.serving(tenant, revision);
  if (live > 0 && behind === 0) return served;
  const isLate = rollouts.track(key, { tenant, revision, live });
  if (live === 0) {
    return {
      status: 'False' as const,
      reason: 'NoLiveServer',
      message: 'No live server was found.',
    };
  }
  if (!isLate) return 'waiting';
  const message = `Waiting for every live server to use revision ${revision} of the tenant.`;
  return { status: 'False' as const, reason: 'Pending', message };
}

/** Its children have waited for the judgement on a Tenant; it waits for nothing of its own, but for the next resync. */
function waitForOthers({ waiting }: ReconcileContext, object: SourceObject, seen: Seen, accepted: Decided): void {
  if (object.kind === 'Tenant') {
    if (!accepted.ok) waiting.tenantChanged(seen.tenant);
  } else if (accepted.dependsOnOthers) {
    const reason = accepted.ok ? 'another manifest owns the object' : accepted.reason;
    const isTold = accepted.ok || accepted.awaitsManifest === true;
    waiting.waitForTenant(object.key, seen, {
      for: `a change in tenant ${seen.tenant} (${reason})`,
      ...(isTold ? {} : { external: true }),
    });
  }
}

/** Reasons for which what was served before is not this manifest's any more. */
const ownershipLost = new Set(['TenantNotFound', 'OwnedByAPI', 'DuplicateName']);

function refusedOutcome(
  accepted: Extract<Accepted, { ok: false }>,
  before: { generation: number; revision: number } | undefined,
) {
  const { reason } = accepted;
  const active = ownershipLost.has(reason) ? undefined : before;
  const state = active ? `Generation ${active.generation} is still served.` : nothingServed;
  return {
    accepted: { ok: false, reason, message: `${accepted.message}\n${state}` },
    programmed: { status: 'False' as const, reason: 'NotAccepted', message: state },
    ...(active ? { active } : {}),
  };
}
