/** The verb of the overview room: what happens now, and what needs somebody, as far as a role may know. */
import type { Role } from '../core/auth/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Database, Transaction } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { readCounts } from '../events/index.ts';
import type { Attention, Overview } from './schema.ts';
import { bucketsOf, hoursOf, STEP_MS } from './series.ts';
import {
  readAttempts,
  readDisabled,
  readEndingGraces,
  readReasons,
  readRotating,
  readUnanswered,
  readUnwell,
} from './store.ts';

const DAY_MS = 86_400_000;
/** A grace that ends within this is told of; an invitation is unanswered after that. */
const GRACE_DAYS = 14;
const UNANSWERED_DAYS = 3;

/** @param hours the current one and those before it */
export async function readOverview(
  { database, clock }: { database: Database; clock: Clock },
  { tenant, role, hours, decisionLog }: { tenant: string; role: Role; hours: number; decisionLog: string },
): Promise<Overview> {
  const until = clock.now();
  const since = Math.floor(until / STEP_MS) * STEP_MS - (hours - 1) * STEP_MS;
  const frame = {
    since: new Date(since).toISOString(),
    until: new Date(until).toISOString(),
    stepMs: STEP_MS,
    decisionLog,
  };
  return database.tenantSnapshot(tenant, async (tx) => {
    const ofConfiguration = await readConfigurationAttention(tx, tenant);
    if (role === 'config-viewer') return { ...frame, attention: ofConfiguration };
    const attention = [...ofConfiguration, ...(await readRecordAttention(tx, tenant, until))];
    return { ...frame, ...(await readActivity(tx, tenant, { role, since, until })), attention };
  });
}

type Window = { role: Role; since: number; until: number };

async function readActivity(tx: Transaction, tenant: string, { role, since, until }: Window) {
  const from = new Date(since).toISOString();
  const [counts, attempts, denied] = await Promise.all([
    readCounts(tx, tenant, from),
    readAttempts(tx, tenant, from),
    readReasons(tx, tenant, from),
  ]);
  const isPart = ({ looked }: { looked: number }) => looked >= limits.overviewRecordsMax;
  const [attempt] = attempts;
  const deliveries = hoursOf(since, until).map((at) => {
    const row = attempts.find(({ hour }) => Date.parse(hour) === at);
    return { at: new Date(at).toISOString(), delivered: row?.delivered ?? 0, failed: row?.failed ?? 0 };
  });
  return {
    series: { ...bucketsOf(counts, since, until), deliveries },
    ...(attempt !== undefined && isPart(attempt) ? { deliveriesSince: attempt.since } : {}),
    // Support sees no reasons: a policy may put a person's id into one.
    ...(role === 'support'
      ? {}
      : {
          denies: {
            decisions: denied.looked,
            ...(denied.since !== null && isPart(denied) ? { since: denied.since } : {}),
            reasons: denied.reasons,
          },
        }),
  };
}

async function readConfigurationAttention(tx: Transaction, tenant: string): Promise<Attention[]> {
  const [unwell, disabled, rotating] = await Promise.all([
    readUnwell(tx, tenant),
    readDisabled(tx, tenant),
    readRotating(tx, tenant),
  ]);
  return [
    ...unwell.map(({ kind, namespace, name, object, type, reason, since }): Attention => {
      const subject = `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`;
      const isHeld = type === 'DeletionHeld';
      const target =
        kind === 'Policy' && object !== '' ? `policies/${encodeURIComponent(object)}` : 'settings/manifests';
      return {
        kind: isHeld ? 'deletion_held' : 'manifest_failed',
        ...{ count: 1, subject, target },
        ...(reason === null ? {} : { reason }),
        ...(since === null ? {} : { since }),
      };
    }),
    ...disabled.map(({ subscription, disabled_at: since, disabled_reason: reason }): Attention => {
      const target = `activity/subscriptions/${encodeURIComponent(subscription)}`;
      return {
        kind: 'subscription_disabled',
        count: 1,
        subject: subscription,
        since,
        target,
        ...(reason === null ? {} : { reason }),
      };
    }),
    ...rotating.map(({ purpose, activates_at: until }): Attention => {
      return { kind: 'key_rotation', count: 1, subject: purpose, until, target: 'settings/keys' };
    }),
  ];
}

async function readRecordAttention(tx: Transaction, tenant: string, now: number): Promise<Attention[]> {
  const [graces, unanswered] = await Promise.all([
    readEndingGraces(tx, tenant, new Date(now + GRACE_DAYS * DAY_MS).toISOString()),
    readUnanswered(tx, tenant, new Date(now - UNANSWERED_DAYS * DAY_MS).toISOString()),
  ]);
  const { count, oldest, first_ends: ends } = unanswered;
  return [
    ...graces.map(({ definition, version, users, first_ends: until }): Attention => {
      const target = `consents/${encodeURIComponent(definition)}`;
      return { kind: 'grace_ending', count: users, subject: `${definition} ${version}`, until, target };
    }),
    ...(count === 0 || oldest === null || ends === null
      ? []
      : [
          {
            ...{ kind: 'invitations_unanswered' as const, count, since: oldest, until: ends },
            target: 'model/invitations?status=pending',
          },
        ]),
  ];
}
