/**
 * A replay: a second cursor of a subscription, from one number to another, with a small share of its own. What it sends and what of
 * that fails changes nothing of the endpoint's health and of live deliveries. It waits while those are blocked.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { withPartitions } from '../../core/db/partitions.ts';
import { utc } from '../../core/instants.ts';
import type { OwnedLane } from '../../core/lanes/lanes.ts';
import { limits } from '../../core/limits.ts';
import { type EventRow, readEvents } from '../../events/index.ts';
import { undelivered } from '../delivery-store.ts';
import { type AttemptRow, readVersion } from '../lane-store.ts';
import { type ReplayRow, readRunning, recordReplay } from '../replay-store.ts';
import { chainsOf, sendChains } from './chains.ts';
import type { Attempt } from './endpoint.ts';
import type { DeliveryLane, LaneServices } from './lane.ts';
import { attemptRow } from './step.ts';

/** Before an event is tried again. */
const PAUSE_MS = 1000;
/** Between looks whether the replay was cancelled, or the lane changed, while events are being sent. */
const LOOK_MS = 500;

type Active = NonNullable<DeliveryLane['active']>;

/**
 * Goes on with the replay of a lane, if there is one, until it is finished or the lane ends.
 * @returns the version of the lane that has nothing more to replay; undefined: it has
 */
export async function replay(services: LaneServices, lane: OwnedLane, live: DeliveryLane): Promise<number | undefined> {
  const { database, server } = services;
  for (;;) {
    const active = live.active;
    if (active === undefined || lane.ending.aborted || live.isOutdated || live.blockedMs > 0) return undefined;
    const row = await look(services, lane, live);
    if (live.isOutdated) return undefined;
    if (row === undefined) return active.version;
    const isOver = () => lane.ending.aborted || live.isOutdated || live.active?.version !== active.version;
    const looking = setInterval(() => void look(services, lane, live).catch(() => {}), LOOK_MS);
    const { next, attempts } = await step(services, lane, active, row, isOver).finally(() => clearInterval(looking));
    // Nothing of it is recorded: the next owner sends it again.
    if (lane.lost.aborted) return undefined;
    const recording = () =>
      database.write(lane.tenant, (tx) => recordReplay(tx, server, lane, next, attempts), { durable: false });
    if (!(await withPartitions(database, recording))) {
      lane.lose();
      return undefined;
    }
  }
}

/** @returns the replay that is under way; whoever cancels one, or pauses the subscription, changes the lane's version */
async function look({ database }: LaneServices, lane: OwnedLane, live: DeliveryLane): Promise<ReplayRow | undefined> {
  const reading = database.read(lane.tenant, (tx) => Promise.all([readRunning(tx, lane), readVersion(tx, lane)]));
  const [row, version] = await reading;
  live.changedTo(version);
  return row;
}

/** @param isOver whether nothing more is to be sent by what the lane worked by when the step began */
async function step(
  { database, clock }: LaneServices,
  lane: OwnedLane,
  { settings, endpoint }: Active,
  row: ReplayRow,
  isOver: () => boolean,
): Promise<{ next: ReplayRow; attempts: AttemptRow[] }> {
  const types = row.event_types ?? (settings.types === 'all' ? undefined : [...settings.types]);
  const range = { after: row.cursor, at: row.cursor_at ?? undefined, types, limit: limits.replayEventsMax };
  const scanned = await database.read(lane.tenant, (tx) => readEvents(tx, lane.tenant, range));
  const inside = scanned.filter(({ sequence }) => sequence <= row.last);
  const found = inside.flatMap(({ event }) => event ?? []).filter((event) => settings.matches(event));
  const numbers = found.map(({ sequence }) => sequence);
  const failedOnly = row.failed_only && numbers.length > 0;
  const failed = failedOnly ? await database.read(lane.tenant, (tx) => undelivered(tx, lane, numbers)) : undefined;
  const events = failed === undefined ? found : found.filter(({ sequence }) => failed.has(sequence));
  const attempts: AttemptRow[] = [];
  const results = await sendChains(chainsOf(events, settings.batch), limits.replayConnectionsMax, {
    async send(some) {
      let attempt: Attempt | undefined;
      let number = 0;
      do {
        if (number > 0) await sleep(PAUSE_MS * number, undefined, { signal: lane.ending }).catch(() => {});
        const tried = await endpoint.send(some, limits.replayConnectionsMax, lane.cut, isOver);
        // What failed when the connections were closed is sent again.
        if (tried === undefined || (!tried.ok && isOver())) return undefined;
        attempt = tried;
        number++;
        attempts.push(...some.map(({ sequence }) => attemptRow(sequence, number, 'r', tried)));
      } while (!attempt.ok && number < limits.replayAttemptsMax);
      return attempt;
    },
    goesOn: () => !isOver(),
    after: () => {},
  });
  const end = inside.at(-1);
  const next = {
    ...row,
    ...countOf(results),
    ...(end === undefined ? {} : { cursor: end.sequence, cursor_at: end.at }),
  };
  next.delivered += row.delivered;
  next.failed += row.failed;
  // What was not sent because the lane ends or was changed is sent later: the cursor stays before it.
  const unsent = isOver() ? results.find(({ attempt }) => attempt === undefined) : undefined;
  if (unsent !== undefined) return { next: { ...next, ...beforeOf(unsent.event, row, results) }, attempts };
  const isAtEnd = inside.length < scanned.length || scanned.length === 0 || (end?.sequence ?? 0) >= row.last;
  return { next: isAtEnd ? { ...next, finished_at: utc(clock.now()) } : next, attempts };
}

function countOf(results: readonly { attempt?: Attempt }[]) {
  const delivered = results.filter(({ attempt }) => attempt?.ok).length;
  return { delivered, failed: results.length - delivered };
}

function beforeOf(event: EventRow, row: ReplayRow, results: readonly { event: EventRow; attempt?: Attempt }[]) {
  const before = results.filter((one) => one.event.sequence < event.sequence);
  const last = before.at(-1)?.event;
  const { delivered, failed } = countOf(before);
  return {
    cursor: last?.sequence ?? row.cursor,
    cursor_at: last?.at ?? row.cursor_at,
    delivered: row.delivered + delivered,
    failed: row.failed + failed,
  };
}
