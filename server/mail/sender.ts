/**
 * What sends the mails that wait. Each tenant with mails has a lane (core/lanes), which one server owns at a time: it reads what is
 * due, sends some side by side, and writes what became of those that have ended together, behind the fence of the lane. A mail
 * server that hangs holds up the lanes of the tenants that use it, and no other one. A mail is sent twice, with the same Message-ID,
 * when this server ends, or loses the lane, between writing it and the commit, or when the mail server accepts it and its answer does
 * not come within mailAnswerMsMax.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import type { Database, Transaction } from '../core/db/database.ts';
import { type LaneTable, lockLane } from '../core/db/lanes.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { utc } from '../core/instants.ts';
import { Lanes, type OwnedLane } from '../core/lanes/lanes.ts';
import { limits } from '../core/limits.ts';
import { comparableAddress } from '../core/mail-address.ts';
import type { Observe } from '../core/observe.ts';
import { readTenant, type TenantRow } from '../tenants/index.ts';
import { type WriteServices, write } from '../writes/index.ts';
import { type MailContent, placeOfMail } from './actions.ts';
import { ClockJumps } from './clock-jump.ts';
import { type Ended, type Result, recordEnded, resultOf, settle } from './outcomes.ts';
import { type Chosen, chooseTemplate, type Written, writeWaiting } from './rendering.ts';
import { type Sending, sendingOf } from './settings.ts';
import { findExpired, mailLanes, nextDueAt, readDue, tenantsDue, type WaitingRow } from './store.ts';
import { readSuppressions, type SuppressionRow } from './suppression-store.ts';
import { TemplateError } from './template-error.ts';
import type { MailTransport, SendResult } from './transport.ts';
import { unsubscribeUrl } from './unsubscribe.ts';

declare module '../core/observe.ts' {
  interface RoomObservations {
    /** An attempt has failed. `outcome`: postponed, or why for good. */
    mail_attempted: { tenant: string; template: string; outcome: string };
  }
}

export type SenderServices = {
  database: Database;
  encrypter: Encrypter;
  clock: Clock;
  observe: Observe;
  config: Config;
  baseUrl: string;
  /** This process. */
  server: string;
  writes: WriteServices;
  transport: MailTransport;
};

/** So that one transaction writes what became of several mails. */
const GATHER_MS = 10;
const LOOK_MS = 500;
/** A mail that is due may be under way for so long. */
const ATTEMPT_MS = limits.mailTurnMsMax + limits.mailSendMsMax + limits.mailAnswerMsMax;
/** Connections for the transactions of lanes: these wait for one another, and never for those of requests. */
const POOL_MAX = 3;

/**
 * What a lane has under way, by the ids of mails, until it is written what became of them. `woken`: resolved when one of them has
 * ended, or the lane is cut off; made anew in each round.
 */
type Lane = { busy: Set<string>; ended: Ended[]; woken: PromiseWithResolvers<void>; ending: AbortSignal };

export class MailSender {
  readonly #services: SenderServices;
  readonly #database: Database;
  readonly #writes: WriteServices;
  readonly #table: LaneTable;
  readonly #lanes: Lanes;
  readonly #running = new Map<string, Lane>();
  readonly #stop = new AbortController();
  readonly #jumps: ClockJumps;

  constructor(services: SenderServices) {
    const { database, clock, observe, server: me, writes } = services;
    this.#services = services;
    this.#jumps = new ClockJumps(clock);
    this.#database = database.separate('mail', { poolMax: POOL_MAX });
    this.#writes = { ...writes, database: this.#database };
    this.#table = mailLanes(() => utc(clock.now()));
    this.#lanes = new Lanes({
      ...{ name: 'sending mail', table: this.#table, database: this.#database, clock, observe, me },
      work: (lane) => this.#work(lane),
      ended: async ({ tenant }) => void this.#running.delete(tenant),
    });
  }

  /** Nothing is sent from now on: something else takes what waits. */
  pause(): void {
    this.#stop.abort();
  }

  /** Sends what is due until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const ends = AbortSignal.any([signal, this.#stop.signal]);
    await Promise.all([this.#lanes.run(ends), this.#look(ends)]);
  }

  /** Wakes the lanes of tenants with something to send. */
  async #look(signal: AbortSignal): Promise<void> {
    const { clock, observe } = this.#services;
    while (!signal.aborted) {
      try {
        const tenants = await this.#database.system((tx) => tenantsDue(tx, utc(clock.now())));
        if (tenants.length > 0) this.#lanes.hint(tenants);
      } catch (error) {
        observe({ kind: 'background_failed', task: 'looking for mail', error });
      }
      await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** @returns ms until a mail of the tenant is due; undefined: none waits */
  async #work(owned: OwnedLane): Promise<number | undefined> {
    const { tenant } = owned;
    const lane = this.#running.get(tenant) ?? laneOf(owned);
    this.#running.set(tenant, lane);
    const { clock } = this.#services;
    for (;;) {
      if (!owned.ending.aborted) await this.#begin(tenant, lane);
      if (lane.busy.size === 0) break;
      if (lane.ended.length === 0 && !owned.cut.aborted) await lane.woken.promise;
      if (owned.lost.aborted || (owned.cut.aborted && lane.ended.length === 0)) return undefined;
      await sleep(GATHER_MS);
      lane.woken = Promise.withResolvers();
      await this.#record(owned, lane);
    }
    const now = clock.now();
    const next = await this.#database.read(tenant, (tx) => nextDueAt(tx, tenant, utc(now)));
    return next === undefined ? undefined : Math.max(1, Date.parse(next) - now);
  }

  /** Begins to send mails that are due, as many as may be under way. */
  async #begin(tenant: string, lane: Lane): Promise<void> {
    const limit = limits.mailsSendingPerTenantMax - lane.busy.size;
    if (limit <= 0) return;
    const due = { now: utc(this.#services.clock.now()), except: [...lane.busy], limit };
    const rows = await this.#database.read(tenant, (tx) => readDue(tx, tenant, due));
    if (rows.length === 0) return;
    const prepare = await this.#database.tenantSnapshot(tenant, (tx) => this.#readFor(tx, tenant, rows));
    for (const row of rows) {
      // Writing a mail takes the main thread: others have their turn between two of them.
      await nextTurn();
      lane.busy.add(row.id);
      void this.#attempt(row, prepare, lane.ending).then((ended) => {
        // What was not tried is due as before.
        if (ended === undefined) lane.busy.delete(row.id);
        else lane.ended.push(ended);
        lane.woken.resolve();
      });
    }
  }

  /** @returns undefined when nothing was tried. It does not throw */
  async #attempt(
    row: WaitingRow,
    prepare: (row: WaitingRow) => Prepared | Result,
    ending: AbortSignal,
  ): Promise<Ended | undefined> {
    try {
      const prepared = prepare(row);
      if ('outcome' in prepared) return { row, ...prepared };
      const result = await this.#send(row, prepared, ending);
      return result && { row, ...resultOf(result) };
    } catch (error) {
      this.#services.observe({ kind: 'background_failed', task: 'sending a mail', error });
      return { row, outcome: 'postponed', answer: 'the mail could not be written' };
    }
  }

  #send(row: WaitingRow, { sending, written, to }: Prepared, ending: AbortSignal): Promise<SendResult | undefined> {
    const { baseUrl, encrypter, transport } = this.#services;
    const { id, tenant, recipient_digest: digest } = row;
    const { language: _language, ...parts } = written;
    const unsubscribe = row.transactional
      ? {}
      : { unsubscribe: unsubscribeUrl({ baseUrl, encrypter }, tenant, digest) };
    const { server, ...names } = sending;
    return transport.send(server, { id, to, ...names, ...parts, ...unsubscribe }, { tenant, ending });
  }

  /** Reads what some mails of a tenant are written by. @returns what to send of one of them, or why nothing is to be sent */
  async #readFor(
    tx: Transaction,
    tenant: string,
    rows: readonly WaitingRow[],
  ): Promise<(row: WaitingRow) => Prepared | Result> {
    const tenantRow = await readTenant(tx, tenant);
    if (tenantRow?.state !== 'active') return () => ({ outcome: 'postponed', answer: 'the tenant is not active' });
    const digests = rows.map((row) => row.recipient_digest);
    const suppressions = await readSuppressions(tx, tenant, digests);
    const sending = await sendingOf(this.#services, tx, tenantRow);
    const chosen = await chosenFor(tx, tenantRow, rows);
    const suppressed = new Map(suppressions.map((one) => [one.recipient_digest, one]));
    return (row) =>
      this.#prepare(row, {
        sending,
        chosen: chosen.get(keyOf(row)),
        suppression: suppressed.get(row.recipient_digest),
      });
  }

  #prepare(row: WaitingRow, { sending, chosen, suppression }: Read): Prepared | Result {
    const { encrypter } = this.#services;
    const { tenant, id } = row;
    const { to: given, variables } = JSON.parse(
      encrypter.decrypt(row.content_encrypted, placeOfMail(tenant, id)).toString(),
    ) as MailContent;
    if (suppression !== undefined && (suppression.reason !== 'unsubscribed' || !row.transactional))
      return { outcome: 'suppressed' };
    const address = comparableAddress(given);
    if (!address.ok || chosen === undefined) return { outcome: 'template', answer: 'there is no such template' };
    if (sending === undefined) return { outcome: 'postponed', answer: 'no mail server is configured' };
    const written = writeWaiting(row.template, chosen, variables, () =>
      this.#services.observe({ kind: 'mail_attempted', tenant, template: row.template, outcome: 'template' }),
    );
    // As it is compared: the domain in A-labels, which every mail server understands.
    return written instanceof TemplateError
      ? { outcome: 'template', answer: written.message }
      : { sending, written, to: address.address };
  }

  /** Writes what became of the mails that have ended, together; where that fails, they stay to be written. */
  async #record(owned: OwnedLane, lane: Lane): Promise<void> {
    const ended = [...lane.ended];
    if (ended.length === 0) return;
    const { server: me, observe } = this.#services;
    const { tenant } = owned;
    const { result: isMine } = await write(this.#writes, { tenant }, { locks: 'records' }, async (unit) => {
      if ((await lockLane(unit.tx, this.#table, me, owned)) === undefined) return false;
      await recordEnded(unit, ended);
      return true;
    });
    lane.ended.splice(0, ended.length);
    for (const { row } of ended) lane.busy.delete(row.id);
    if (!isMine) owned.lose();
    for (const { row, outcome } of ended) {
      if (outcome !== 'sent') observe({ kind: 'mail_attempted', tenant, template: row.template, outcome });
    }
  }

  /** Ends some mails that could not be sent in time. @returns whether there may be more */
  async expire(): Promise<boolean> {
    const { clock, writes, observe } = this.#services;
    const { isHeld, jumpedMs } = this.#jumps.look();
    if (jumpedMs !== undefined) {
      const error = new Error(`the clock of this server jumped by ${Math.round(jumpedMs / 1000)} s`);
      observe({ kind: 'background_failed', task: 'ending mails that were not sent in time', error });
    }
    if (isHeld) return false;
    const now = clock.now();
    const times = { now: utc(now), certainly: utc(now - ATTEMPT_MS), limit: limits.mailsExpiringMax };
    const rows = await this.#database.system((tx) => findExpired(tx, times));
    for (const [tenant, its] of Map.groupBy(rows, (row) => row.tenant)) {
      await write(writes, { tenant }, { locks: 'records' }, (unit) => {
        const expired = its.map(({ id }) => ({ id, status: 'failed' as const, reason: 'expired' }));
        return settle(unit, expired, 'expired');
      });
    }
    return rows.length === limits.mailsExpiringMax;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#services.transport.close();
    await this.#database.close();
  }
}

function laneOf({ cut, ending }: OwnedLane): Lane {
  const lane: Lane = { busy: new Set(), ended: [], woken: Promise.withResolvers(), ending };
  cut.addEventListener('abort', () => lane.woken.resolve(), { once: true });
  return lane;
}

type Read = { sending: Sending | undefined; chosen: Chosen | undefined; suppression: SuppressionRow | undefined };
type Prepared = { sending: Sending; written: Written; to: string };

const keyOf = ({ template, language }: WaitingRow) => `${template} ${language ?? ''}`;

/** By which template each mail is written, by keyOf. */
async function chosenFor(tx: Transaction, tenantRow: TenantRow, rows: readonly WaitingRow[]) {
  const chosen = new Map<string, Chosen | undefined>();
  for (const row of rows) {
    const key = keyOf(row);
    if (chosen.has(key)) continue;
    chosen.set(key, await chooseTemplate(tx, tenantRow.tenant, row.template, row.language, tenantRow));
  }
  return chosen;
}
