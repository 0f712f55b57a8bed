/**
 * Owns the steps from a key to rows and a status. Level-based: a step looks at the manifest and at the database as they
 * are now, so running it again changes nothing, and running it late misses nothing.
 */
import { type Accepted, accept, isTenantComing, versionOf } from './accept.ts';
import { activeOf, conditionOf, type Outcome, statusOf } from './conditions.ts';
import type { Desk } from './desk.ts';
import { kindOf } from './kinds/index.ts';
import { keepOut, type Permit, permit, recall } from './permit.ts';
import { retryOf } from './reasons.ts';
import type { ResourceRecord } from './records.ts';
import { remember } from './remember.ts';
import { remove } from './remove.ts';
import type { Key, SourceObject } from './source.ts';
import { confirmSweep, sweepConditions } from './sweep.ts';
import { welcome } from './welcome.ts';

/** `waiting`: servers or another manifest are to answer first, and the key will be looked at again. */
export type Settled = 'settled' | 'waiting';

export async function reconcile(desk: Desk, key: Key): Promise<Settled> {
  const startedAt = desk.clock.monotonic();
  for (const freed of desk.note(key)) desk.queue.add(freed);
  const object = desk.source.get(key);
  if (object === undefined || object.deleting) return remove(desk, key, object, startedAt);
  const permitted = await permit(desk, object);
  // What the Tenant says now decides, and not what was stored of it: an object that CreateOnly makes is never taken back.
  if (permitted && isTenantComing(desk, permitted.tenant)) {
    desk.block(permitted.tenant, key, permitted.seen);
    return 'waiting';
  }
  if (permitted && permitted.permission !== 'allowed') return keepOut(desk, object, permitted, startedAt);
  await desk.source.hold?.(object);
  desk.removed.delete(key);
  const record = await remember(desk, object);
  // Allowed by what the Tenant said before: a `recall` since then did not know this key, whose record was not written yet.
  if (permitted && desk.allowances.get(permitted.tenant) !== permitted.allowance) {
    desk.queue.add(key);
    return 'waiting';
  }
  confirmSweep(desk, object);
  const seen = permitted?.seen ?? desk.changesOf(record.tenant);
  const accepted = await acceptOnce(desk, object, record, permitted).catch((error) =>
    tellRetry(desk, record, error, startedAt),
  );
  if (accepted === 'later') {
    desk.block(record.tenant, key, seen);
    return 'waiting';
  }
  const isTenant = object.kind === 'Tenant';
  if (isTenant) {
    desk.forgetTenant(object.name);
    desk.judged.set(object.name, versionOf(object));
  }
  if (accepted.ok && (accepted.changed || isTenant)) desk.unblock(record.tenant);
  if (accepted.ok && isTenant) recall(desk, object, accepted.changed);
  const outcome = await judge(desk, object, record, accepted);
  if (outcome === 'waiting') return 'waiting';
  await desk.settle(record, statusOf(outcome, record.status, desk.nowText()), startedAt);
  // Its children have waited for the judgement; it waits for nothing of its own, but for the next resync.
  if (isTenant && !accepted.ok) desk.unblock(record.tenant);
  else if (!isTenant && accepted.dependsOnOthers) desk.block(record.tenant, key, seen);
  return outcome.programmed.reason === 'Pending' ? 'waiting' : 'settled';
}

/** What was accepted a moment ago and waits for servers only is not written again. */
async function acceptOnce(
  desk: Desk,
  object: SourceObject,
  record: ResourceRecord,
  permitted: Permit | undefined,
): Promise<Accepted> {
  const waiting = desk.accepted.get(object.key);
  if (waiting?.object === object) return { ...waiting.accepted, changed: false };
  desk.accepted.delete(object.key);
  return accept(desk, object, record, activeOf(record.status)?.generation !== record.generation, permitted);
}

/** Says on the manifest that it is tried again; what was served before still is. @throws the error */
async function tellRetry(desk: Desk, record: ResourceRecord, error: unknown, startedAt: number): Promise<never> {
  const retry = retryOf(error);
  if (retry === undefined) throw error;
  const { status, generation } = record;
  const active = activeOf(status);
  const {
    status: known = 'False',
    reason = 'NotAccepted',
    message = 'Nothing of it is served.',
  } = conditionOf(status, 'Programmed') ?? {};
  const outcome = {
    generation,
    accepted: { ok: undefined, ...retry },
    programmed: { status: known, reason, message },
    ...(active ? { active } : {}),
  };
  await desk.settle(record, statusOf(outcome, status, desk.nowText()), startedAt);
  throw error;
}

async function judge(
  desk: Desk,
  object: SourceObject,
  record: ResourceRecord,
  accepted: Exclude<Accepted, 'later'>,
): Promise<Outcome | 'waiting'> {
  const { generation, tenant, key } = record;
  const before = activeOf(record.status);
  const isStored = accepted.ok ? accepted.revision !== undefined : before !== undefined && !lost.has(accepted.reason);
  const { claims } = object;
  const extra = await moreConditions(desk, object, {
    isStored,
    isThere: accepted.ok && accepted.revision !== undefined,
  });
  const details = isStored && claims ? await kindOf(object.kind).describe?.(desk.services, claims) : undefined;
  if (!accepted.ok) {
    desk.programmed.forget(key);
    return { generation, extra, details, ...refusedOutcome(accepted, before) };
  }
  const valid = { ok: true, reason: 'Valid', message: accepted.message };
  if (accepted.revision === undefined) {
    const programmed = { status: 'False' as const, reason: 'NotFound', message: accepted.message };
    return { generation, extra, accepted: valid, programmed };
  }
  const isBefore = !accepted.changed && before?.generation === generation && before.revision <= accepted.revision;
  const active = isBefore ? before : { generation, revision: accepted.revision };
  const wasServed = isBefore && conditionOf(record.status, 'Programmed')?.status === 'True';
  const programmed = wasServed ? served : await waitForServers(desk, object, tenant, active.revision, accepted.changed);
  if (programmed === served) {
    desk.programmed.forget(key);
    desk.accepted.delete(key);
  } else if (!accepted.dependsOnOthers) {
    desk.accepted.set(key, { object, accepted: { ...accepted, revision: active.revision } });
  }
  return programmed === 'waiting' ? 'waiting' : { generation, extra, details, accepted: valid, active, programmed };
}

/**
 * What a status says besides. A Tenant's: a sweep that is held, links of its first members, whether anybody can enter it. A
 * TrustedIssuer's: whether servers have its keys.
 */
async function moreConditions(desk: Desk, object: SourceObject, is: { isStored: boolean; isThere: boolean }) {
  const { kind, name, claims } = object;
  if (kind === 'Tenant') return [...sweepConditions(desk, name), ...(is.isThere ? await welcome(desk, object) : [])];
  if (kind !== 'TrustedIssuer' || !is.isStored || claims === undefined) return [];
  return [await desk.issuerKeys.condition(claims.tenant, claims.name)];
}

const served = { status: 'True' as const, reason: 'Programmed', message: 'Every live server decides with it.' };

/** A short wait says nothing: one status instead of two. Once programmed, a version stays so; new servers begin with it. */
async function waitForServers(desk: Desk, { key }: SourceObject, tenant: string, revision: number, isNew: boolean) {
  if (desk.programmed.isReached(key, tenant, revision)) return served;
  if (isNew) {
    // No server can have it yet. They are asked about all that waits together.
    desk.programmed.wait(key, tenant, revision, 1);
    return 'waiting';
  }
  const { live, behind } = await desk.programmed.serving(tenant, revision);
  if (live > 0 && behind === 0) return served;
  const isLate = desk.programmed.wait(key, tenant, revision, live);
  if (live === 0) {
    return {
      status: 'False' as const,
      reason: 'NoLiveServer',
      message: 'No server is running that could decide with it.',
    };
  }
  if (!isLate) return 'waiting';
  const message = `Not every live server decides with revision ${revision} of the tenant yet.`;
  return { status: 'False' as const, reason: 'Pending', message };
}

/** Reasons for which what was served before is not this manifest's any more. */
const lost = new Set(['TenantNotFound', 'OwnedByAPI', 'DuplicateName']);

function refusedOutcome(
  accepted: Extract<Accepted, { ok: false }>,
  before: { generation: number; revision: number } | undefined,
) {
  const { reason } = accepted;
  const active = lost.has(reason) ? undefined : before;
  const state = active ? `Generation ${active.generation} keeps serving.` : 'Nothing of it is served.';
  return {
    accepted: { ok: false, reason, message: `${accepted.message}\n${state}` },
    programmed: { status: 'False' as const, reason: 'NotAccepted', message: state },
    ...(active ? { active } : {}),
  };
}
