/**
 * SMTP, by nodemailer: at most two connections to a mail server, always over TLS, and each attempt bounded. The library is loaded
 * with the first mail.
 */

import { readFile } from 'node:fs/promises';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { getCACertificates } from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { SMTPPoolOptions, Transporter } from 'nodemailer';
import type { Config } from '../core/config.ts';
import { limits } from '../core/limits.ts';
import { type Cidr, isAddressAllowed, parseCidrs } from '../core/outbound/addresses.ts';
import { guardedLookup } from '../core/outbound/guard.ts';
import type { Outbound } from '../core/outbound/outbound.ts';
import { failureOf, type SendFailure, type SmtpError } from './failures.ts';
import { answerOf } from './rules.ts';
import type { Address, SmtpServer } from './settings.ts';
import { CONNECTIONS, close, end, endTurn, type Pool, Turns } from './smtp-pool.ts';

export type Mail = {
  id: string;
  from: Address;
  replyTo?: string;
  /** The address alone, checked (core/mail-address.ts). */
  to: string;
  subject: string;
  text: string;
  html?: string;
  /** For one click; absent: it is transactional. */
  unsubscribe?: string;
};

export type SendResult = { ok: true; answer: string } | SendFailure;

/** Whose mail it is, and when it is not to be sent any more where it waits for a connection. */
export type Asking = { tenant: string; ending: AbortSignal };

/** A connection has to be made within it, with the look-up of the host. */
const CONNECT_MS = 10_000;
/** An idle connection is closed after it. */
const IDLE_MS = 20_000;

/** How long a mail waits for a connection, is written, and is accepted, at most. */
type Times = { turnMs: number; sendMs: number; answerMs: number };
const TIMES: Times = {
  turnMs: limits.mailTurnMsMax,
  sendMs: limits.mailSendMsMax,
  answerMs: limits.mailAnswerMsMax,
};

export class MailTransport {
  readonly #allow: readonly Cidr[];
  readonly #hostOfIds: string;
  readonly #caFile: string | undefined;
  readonly #resolve: Outbound['resolve'];
  readonly #times: Times;
  readonly #pools = new LRUCache<string, Promise<Pool>>({
    max: limits.mailTransportsMax,
    dispose: (pool) => void pool.then(close, () => {}),
  });

  /** @param times others in tests */
  constructor(
    config: Pick<Config, 'ACCORD_OUTBOUND_ALLOW' | 'ACCORD_CA_BUNDLE'>,
    baseUrl: string,
    { resolve }: Pick<Outbound, 'resolve'>,
    times: Times = TIMES,
  ) {
    this.#resolve = resolve;
    this.#times = times;
    this.#allow = parseCidrs(config.ACCORD_OUTBOUND_ALLOW);
    this.#caFile = config.ACCORD_CA_BUNDLE;
    this.#hostOfIds = new URL(baseUrl).hostname;
  }

  /**
   * One attempt, when there is a connection for it; it does not throw. The address is passed apart from the text of the headers:
   * nothing in them can add a recipient.
   * @returns undefined when nothing was tried: no connection was free in time
   */
  async send(server: SmtpServer, mail: Mail, { tenant, ending }: Asking): Promise<SendResult | undefined> {
    const waiting = new AbortController();
    const giveUp = () => waiting.abort();
    const timer = setTimeout(giveUp, this.#times.turnMs);
    ending.addEventListener('abort', giveUp);
    if (ending.aborted) giveUp();
    try {
      const pool = await this.#pool(server, tenant);
      if (!(await pool.turns.take(waiting.signal))) return undefined;
      try {
        return pool.isEnded ? undefined : await this.#attempt(pool, mail);
      } finally {
        endTurn(pool);
      }
    } catch (error) {
      return failureOf(error);
    } finally {
      clearTimeout(timer);
      ending.removeEventListener('abort', giveUp);
    }
  }

  /** What takes too long is cut off with its connection, so that it does not arrive later; other mails are not concerned. */
  async #attempt({ transporter }: Pool, mail: Mail): Promise<SendResult> {
    const cut = new AbortController();
    const { sendMs, answerMs } = this.#times;
    const within = (ms: number) => setTimeout(() => cut.abort(new Error(`no complete answer within ${ms} ms`)), ms);
    let timer = within(sendMs);
    const onWritten = () => {
      clearTimeout(timer);
      timer = within(answerMs);
    };
    try {
      const message = { ...this.#message(mail), signal: cut.signal, onWritten };
      const { response } = (await transporter.sendMail(message)) as { response?: string };
      return { ok: true, answer: answerOf(response ?? '') };
    } catch (error) {
      return failureOf(cut.signal.aborted ? cut.signal.reason : error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Connects, with TLS and credentials, and sends nothing. @returns what is wrong, in words */
  async verify(server: SmtpServer, tenant: string): Promise<string | undefined> {
    const opened = await this.#open(server, tenant).catch((error: Error) => error);
    if (opened instanceof Error) return opened.message;
    const late = setTimeout(() => end(opened), limits.mailSendMsMax);
    try {
      await opened.transporter.verify();
      return undefined;
    } catch (error) {
      const { response, message } = error as SmtpError;
      return opened.isEnded ? `no complete answer within ${limits.mailSendMsMax} ms` : answerOf(response ?? message);
    } finally {
      clearTimeout(late);
      end(opened);
    }
  }

  #message({ id, from, replyTo, to, subject, text, html, unsubscribe }: Mail) {
    const headers = {
      'Auto-Submitted': 'auto-generated',
      'X-Accord-Message': id,
      ...(unsubscribe === undefined
        ? {}
        : { 'List-Unsubscribe': `<${unsubscribe}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
    };
    return {
      ...{ from, to: { name: '', address: to }, subject, text, headers, messageId: `<${id}@${this.#hostOfIds}>` },
      ...(html === undefined ? {} : { html }),
      ...(replyTo === undefined ? {} : { replyTo: { name: '', address: replyTo } }),
      envelope: { from: from.address, to: [to] },
    };
  }

  #pool(server: SmtpServer, tenant: string): Promise<Pool> {
    const key = JSON.stringify(server);
    const there = this.#pools.get(key);
    if (there !== undefined) return there;
    const made = this.#open(server, tenant);
    this.#pools.set(key, made);
    made.catch(() => this.#pools.delete(key));
    return made;
  }

  /** @param tenant for whom the host is looked up: its mail servers are looked up one after another */
  async #open({ host, port, isImplicitTls, auth, isTenants }: SmtpServer, tenant: string): Promise<Pool> {
    const { createTransport } = await import('nodemailer');
    const ca =
      this.#caFile === undefined ? {} : { ca: [...getCACertificates('default'), await readFile(this.#caFile, 'utf8')] };
    const sockets = new Set<Socket>();
    const options: SMTPPoolOptions & { pool: true } = {
      ...{
        pool: true,
        maxConnections: CONNECTIONS,
        maxMessages: 100,
        host,
        port,
        secure: isImplicitTls,
        requireTLS: true,
      },
      ...{ disableFileAccess: true, disableUrlAccess: true, name: this.#hostOfIds, ...(auth ? { auth } : {}) },
      ...{ connectionTimeout: CONNECT_MS, greetingTimeout: 10_000, idleTimeout: IDLE_MS, socketCloseTimeout: 0 },
      // Of silence: an attempt has timers of its own, which end it before.
      socketTimeout: limits.mailAnswerMsMax * 2,
      tls: { ...ca, ...(isIP(host) === 0 ? { servername: host } : {}), minVersion: 'TLSv1.2' },
      // A connection of our own: its address is judged, and it can be ended when an attempt takes too long.
      getSocket: (_options: unknown, callback: (error: Error | null, found?: { connection: Socket }) => void) => {
        const socket = connect({ host, port, ...(isTenants ? { lookup: this.#lookupFor(tenant) } : {}) });
        sockets.add(socket);
        const late = `no connection to ${host}:${port} within ${CONNECT_MS} ms`;
        socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error(late)));
        socket.once('close', () => sockets.delete(socket));
        const refused = isTenants && isIP(host) !== 0 ? this.#refusalOf(host) : undefined;
        if (refused !== undefined) socket.destroy(new Error(refused));
        const failed = (error: Error) => callback(error);
        socket.once('error', failed);
        socket.once('connect', () => {
          socket.off('error', failed);
          socket.setTimeout(0);
          socket.removeAllListeners('timeout');
          callback(null, { connection: socket });
        });
      },
    } as SMTPPoolOptions & { pool: true };
    const transporter = createTransport(options) as unknown as Transporter;
    // What fails is told to whoever sends; without a listener it would end the process.
    transporter.on('error', () => {});
    transporter.use('stream', tellWhenWritten);
    return { transporter, sockets, turns: new Turns(CONNECTIONS), isClosing: false, isEnded: false };
  }

  #refusalOf(address: string): string | undefined {
    if (isAddressAllowed(address, this.#allow)) return undefined;
    return `the address ${address} is not public and ACCORD_OUTBOUND_ALLOW does not name it`;
  }

  /** Gives a connection only addresses that may be reached. The name server may be the tenant's, and never answer. */
  #lookupFor(tenant: string): LookupFunction {
    const signal = AbortSignal.timeout(CONNECT_MS);
    const find = (hostname: string) => this.#resolve(tenant, hostname, signal);
    return guardedLookup(find, (address) => this.#refusalOf(address));
  }

  /** What is under way is cut off. */
  close(): void {
    for (const pool of this.#pools.values()) void pool.then(end, () => {});
    this.#pools.clear();
  }
}

/** A plugin of nodemailer: tells an attempt that its mail was written to the last byte. */
function tellWhenWritten(
  { data, message }: { data: object; message: { processFunc(each: (text: Readable) => Readable): void } },
  done: () => void,
): void {
  const { onWritten } = data as { onWritten: () => void };
  message.processFunc((text) => text.once('end', onWritten));
  done();
}
