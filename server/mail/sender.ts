/**
 * What sends the messages that wait. A server owns a message from the start of an attempt for a while, and who writes what became of
 * it compares the owner and the number of the attempt: two servers do not send one message, and one that was held up does not
 * overwrite what another has written. Tenants take turns. A server that ends between the mail server's answer and the commit is the
 * one way in which a message is sent twice, with the same Message-ID.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { delayMsAfter, jittered } from '../core/backoff.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import type { Database } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { utc } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import { comparableAddress } from '../core/mail-address.ts';
import type { Observe } from '../core/observe.ts';
import { readTenant } from '../tenants/index.ts';
import { type RecordUnit, type WriteServices, write } from '../writes/index.ts';
import { type MailContent, placeOfMail } from './actions.ts';
import { mailFailed, mailSent, SERVICE } from './events.ts';
import { TemplateError } from './liquid.ts';
import { chooseTemplate, type Written, writeMail } from './rendering.ts';
import { type Sending, sendingOf } from './settings.ts';
import {
  claimDue,
  findExpired,
  insertSuppression,
  type Outcome,
  postponeMessage,
  readSuppression,
  type Settled,
  settleMessage,
  type WaitingRow,
} from './store.ts';
import type { MailTransport, SendResult } from './transport.ts';
import { unsubscribeUrl } from './unsubscribe.ts';
import { isBuiltIn } from './variables.ts';

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

/** For which a message is a server's: longer than an attempt takes. */
const OWNED_MS = limits.mailSendMsMax * 4;
/** For which room is waited for, and then for more of it, so that one query takes several messages. */
const ROOM_MS = 500;
const GATHER_MS = 10;

export class MailSender {
  readonly #services: SenderServices;
  readonly #sending = new Map<string, number>();
  readonly #underWay = new Set<Promise<void>>();
  #lastTenant = '';
  #isPaused = false;

  constructor(services: SenderServices) {
    this.#services = services;
  }

  /** Nothing is sent from now on: something else takes what waits. */
  pause(): void {
    this.#isPaused = true;
  }

  /**
   * Begins to send what is due, as far as there is room; where there is none, it waits for some.
   * @returns whether there may be more
   */
  async run(): Promise<boolean> {
    if (this.#isPaused) return false;
    const wasBusy = this.#underWay.size > 0;
    const limit = limits.mailsSendingMax - this.#underWay.size;
    const begun = limit > 0 ? await this.#claim(limit) : 0;
    if (begun > 0 || this.#underWay.size === 0) return begun > 0 || wasBusy;
    await Promise.race([...this.#underWay, sleep(ROOM_MS)]);
    await sleep(GATHER_MS);
    return true;
  }

  async #claim(limit: number): Promise<number> {
    const { database, clock, server: owner } = this.#services;
    const now = clock.now();
    const busy = [...this.#sending].filter(([, count]) => count >= limits.mailsSendingPerTenantMax);
    const except = busy.map(([tenant]) => tenant);
    const claim = { owner, now: utc(now), ownedUntil: utc(now + OWNED_MS), except, after: this.#lastTenant, limit };
    const rows = await database.system((tx) => claimDue(tx, claim));
    for (const row of rows) this.#start(row);
    this.#lastTenant = rows.at(-1)?.tenant ?? '';
    return rows.length;
  }

  #start(row: WaitingRow): void {
    const { tenant } = row;
    this.#sending.set(tenant, (this.#sending.get(tenant) ?? 0) + 1);
    const attempt = this.#attempt(row)
      .catch((error) => this.#services.observe({ kind: 'background_failed', task: 'sending a mail', error }))
      .finally(() => {
        const left = (this.#sending.get(tenant) ?? 1) - 1;
        if (left === 0) this.#sending.delete(tenant);
        else this.#sending.set(tenant, left);
        this.#underWay.delete(attempt);
      });
    this.#underWay.add(attempt);
  }

  async #attempt(row: WaitingRow): Promise<void> {
    const prepared = await this.#prepare(row);
    const result = 'outcome' in prepared ? prepared : await this.#send(row, prepared);
    await this.#record(row, result);
  }

  async #send(row: WaitingRow, { sending, written, to }: Prepared): Promise<Ended> {
    const { baseUrl, encrypter, transport } = this.#services;
    const { id, tenant, recipient_digest: digest } = row;
    const { language: _language, ...parts } = written;
    const unsubscribe = row.transactional
      ? {}
      : { unsubscribe: unsubscribeUrl({ baseUrl, encrypter }, tenant, digest) };
    const { server, ...names } = sending;
    return endOf(await transport.send(server, { id, to, ...names, ...parts, ...unsubscribe }));
  }

  /** What to send, or why nothing is to be sent. */
  async #prepare(row: WaitingRow): Promise<Prepared | Ended> {
    const { database, encrypter } = this.#services;
    const { tenant, id } = row;
    const { to: given, variables } = JSON.parse(
      encrypter.decrypt(row.content_encrypted, placeOfMail(tenant, id)).toString(),
    ) as MailContent;
    const read = await database.tenantSnapshot(tenant, async (tx) => {
      const tenantRow = await readTenant(tx, tenant);
      if (tenantRow === undefined) return undefined;
      const suppression = await readSuppression(tx, tenant, row.recipient_digest);
      const sending = await sendingOf(this.#services, tx, tenantRow);
      const chosen = await chooseTemplate(tx, tenant, row.template, row.language, tenantRow);
      return { suppression, sending, chosen, active: tenantRow.state === 'active' };
    });
    if (read === undefined || !read.active) return { outcome: 'postponed', answer: 'the tenant is not active' };
    const { suppression, sending, chosen } = read;
    if (suppression !== undefined && (suppression.reason !== 'unsubscribed' || !row.transactional))
      return { outcome: 'suppressed' };
    const address = comparableAddress(given);
    if (!address.ok || chosen === undefined) return { outcome: 'template', answer: 'there is no such template' };
    if (sending === undefined) return { outcome: 'postponed', answer: 'no mail server is configured' };
    const written = this.#write(row, chosen, variables);
    // As it is compared: the domain in A-labels, which every mail server understands.
    return written instanceof TemplateError
      ? { outcome: 'template', answer: written.message }
      : { sending, written, to: address.address };
  }

  /** The built-in text is better than none where the tenant's fails. */
  #write(
    row: WaitingRow,
    chosen: Parameters<typeof writeMail>[1],
    variables: MailContent['variables'],
  ): Written | TemplateError {
    const { template, tenant } = row;
    try {
      return writeMail(template, chosen, variables);
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      this.#services.observe({ kind: 'mail_attempted', tenant, template, outcome: 'template' });
      if (!isBuiltIn(template)) return error;
      return writeMail(template, { language: chosen.builtIn, builtIn: chosen.builtIn }, variables);
    }
  }

  async #record(row: WaitingRow, ended: Ended): Promise<void> {
    const { writes, server: owner, observe } = this.#services;
    const { tenant, id, attempts, template } = row;
    const { outcome, answer = '' } = ended;
    const attempt = { id, owner, attempts };
    await write(writes, { tenant }, { locks: 'records' }, async (unit) => {
      if (outcome === 'postponed') {
        const bounds = { minMs: limits.mailRetryMsMin, maxMs: limits.mailRetryMsMax };
        const nextAt = utc(unit.now + jittered(delayMsAfter(attempts, bounds)));
        return postponeMessage(unit.tx, tenant, attempt, { nextAt, answer });
      }
      const settled =
        outcome === 'sent'
          ? await settle(unit, attempt, { status: 'sent', answer })
          : await settle(unit, attempt, { status: 'failed', reason: outcome, answer: answer || undefined });
      if (settled === undefined || !ended.isUnknown) return;
      const { recipient_digest, recipient_mask } = settled;
      await insertSuppression(unit.tx, tenant, {
        recipient_digest,
        recipient_mask,
        reason: 'bounced',
        at: unit.nowText,
      });
    });
    if (outcome !== 'sent') observe({ kind: 'mail_attempted', tenant, template, outcome });
  }

  /** Ends some messages that could not be sent in time. @returns whether there may be more */
  async expire(): Promise<boolean> {
    const { database, clock, writes } = this.#services;
    const rows = await database.system((tx) => findExpired(tx, utc(clock.now()), limits.mailsSendingMax));
    for (const { tenant, id } of rows) {
      await write(writes, { tenant }, { locks: 'records' }, (unit) =>
        settle(unit, { id }, { status: 'failed', reason: 'expired' }),
      );
    }
    return rows.length === limits.mailsSendingMax;
  }

  /** Waits for the attempts that are under way; those that take too long end by themselves. */
  async close(): Promise<void> {
    this.#isPaused = true;
    await Promise.all(this.#underWay);
    this.#services.transport.close();
  }
}

type Prepared = { sending: Sending; written: Written; to: string };
type Ended = {
  outcome: 'sent' | 'postponed' | 'refused' | 'suppressed' | 'template';
  answer?: string;
  isUnknown?: boolean;
};

function endOf(result: SendResult): Ended {
  if (result.ok) return { outcome: 'sent', answer: result.answer };
  const { kind, answer } = result;
  return kind === 'soft'
    ? { outcome: 'postponed', answer }
    : { outcome: 'refused', answer, isUnknown: kind === 'unknown' };
}

/** Ends a message and tells of it; does nothing when it is not (any more) the one that was owned. */
async function settle(
  unit: RecordUnit,
  attempt: Parameters<typeof settleMessage>[2],
  outcome: Outcome,
): Promise<Settled | undefined> {
  const settled = await settleMessage(unit.tx, unit.tenant, attempt, outcome, unit.nowText);
  if (settled === undefined) return undefined;
  const about = { requestor: SERVICE, messageId: settled.id, template: settled.template, to: settled.recipient_mask };
  const { status, reason, answer } = outcome;
  if (status === 'sent') unit.emit(mailSent, about);
  else unit.emit(mailFailed, { ...about, reason: reason as string, ...(answer === undefined ? {} : { answer }) });
  return settled;
}
