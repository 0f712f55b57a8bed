/**
 * SMTP, by nodemailer: at most two connections to a mail server, always over TLS, each attempt bounded as a whole. The library is
 * loaded with the first mail.
 */

import { type LookupAddress, lookup } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { getCACertificates } from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { SMTPPoolOptions, Transporter } from 'nodemailer';
import type { Config } from '../core/config.ts';
import { limits } from '../core/limits.ts';
import { type Cidr, isAddressAllowed, parseCidrs } from '../core/outbound/addresses.ts';
import { failureOf, type SendFailure, type SmtpError } from './failures.ts';
import { answerOf } from './rules.ts';
import type { Address, SmtpServer } from './settings.ts';

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

type Pool = {
  transporter: Transporter;
  sockets: Set<Socket>;
  /** Mails may be sent at once: as many as there are connections, and as many that wait for them. */
  free: number;
  waiting: (() => void)[];
  /** Nothing new is sent by it; it is ended when nothing is under way. */
  isClosing: boolean;
  isEnded: boolean;
};

const CONNECTIONS = 2;
const AT_ONCE = CONNECTIONS * 2;

/** Mails to one server wait for their turn in the order in which they came; the time of an attempt begins with it. */
async function takeTurn(pool: Pool): Promise<void> {
  if (pool.free > 0) pool.free--;
  else await new Promise<void>((turn) => pool.waiting.push(turn));
}

function endTurn(pool: Pool): void {
  const next = pool.waiting.shift();
  if (next !== undefined) {
    next();
    return;
  }
  pool.free++;
  if (pool.isClosing && pool.free === AT_ONCE) end(pool);
}

export class MailTransport {
  readonly #allow: readonly Cidr[];
  readonly #hostOfIds: string;
  readonly #caFile: string | undefined;
  readonly #pools = new LRUCache<string, Promise<Pool>>({
    max: limits.mailTransportsMax,
    dispose: (pool) => void pool.then(close, () => {}),
  });

  constructor(config: Pick<Config, 'ACCORD_OUTBOUND_ALLOW' | 'ACCORD_CA_BUNDLE'>, baseUrl: string) {
    this.#allow = parseCidrs(config.ACCORD_OUTBOUND_ALLOW);
    this.#caFile = config.ACCORD_CA_BUNDLE;
    this.#hostOfIds = new URL(baseUrl).hostname;
  }

  /**
   * One attempt. It takes at most mailSendMsMax, and does not throw. The address is passed apart from the text of the headers:
   * nothing in them can add a recipient.
   */
  async send(server: SmtpServer, mail: Mail): Promise<SendResult> {
    const key = JSON.stringify(server);
    let timer: NodeJS.Timeout | undefined;
    let pool: Pool | undefined;
    try {
      pool = await this.#pool(key, server);
      await takeTurn(pool);
      if (pool.isEnded) throw new Error('the mail server did not answer another mail in time');
      const used = pool;
      const late = new Promise<never>((_done, failed) => {
        timer = setTimeout(() => {
          // Its connections are ended: what we gave up is not to arrive later.
          this.#pools.delete(key);
          end(used);
          failed(new Error(`no complete answer within ${limits.mailSendMsMax} ms`));
        }, limits.mailSendMsMax);
      });
      const sending = used.transporter.sendMail(this.#message(mail));
      sending.catch(() => {});
      const { response } = (await Promise.race([sending, late])) as { response?: string };
      return { ok: true, answer: answerOf(response ?? '') };
    } catch (error) {
      return failureOf(error);
    } finally {
      clearTimeout(timer);
      if (pool !== undefined) endTurn(pool);
    }
  }

  /** Connects, with TLS and credentials, and sends nothing. @returns what is wrong, in words */
  async verify(server: SmtpServer): Promise<string | undefined> {
    const opened = await this.#open(server).catch((error: Error) => error);
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

  #pool(key: string, server: SmtpServer): Promise<Pool> {
    const there = this.#pools.get(key);
    if (there !== undefined) return there;
    const made = this.#open(server);
    this.#pools.set(key, made);
    made.catch(() => this.#pools.delete(key));
    return made;
  }

  async #open({ host, port, isImplicitTls, auth, isTenants }: SmtpServer): Promise<Pool> {
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
      ...{ connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 },
      tls: { ...ca, ...(isIP(host) === 0 ? { servername: host } : {}), minVersion: 'TLSv1.2' },
      // A connection of our own: its address is judged, and it can be ended when an attempt takes too long.
      getSocket: (_options: unknown, callback: (error: Error | null, found?: { connection: Socket }) => void) => {
        const socket = connect({ host, port, ...(isTenants ? { lookup: judged(this.#allow) } : {}) });
        sockets.add(socket);
        socket.setTimeout(10_000, () => socket.destroy(new Error(`no connection to ${host}:${port} within 10 s`)));
        socket.once('close', () => sockets.delete(socket));
        const refused = isTenants && isIP(host) !== 0 && !isAddressAllowed(host, this.#allow);
        if (refused) socket.destroy(notAllowed(host));
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
    return { transporter, sockets, free: AT_ONCE, waiting: [], isClosing: false, isEnded: false };
  }

  /** What is under way is cut off. */
  close(): void {
    for (const pool of this.#pools.values()) void pool.then(end, () => {});
    this.#pools.clear();
  }
}

/** What is under way is finished first. */
function close(pool: Pool): void {
  pool.isClosing = true;
  if (pool.free === AT_ONCE) end(pool);
}

function end(pool: Pool): void {
  pool.isEnded = true;
  pool.transporter.close();
  for (const socket of pool.sockets) socket.destroy();
}

function notAllowed(address: string): Error {
  return new Error(`the address ${address} is not public and ACCORD_OUTBOUND_ALLOW does not name it`);
}

/** Gives the connection only addresses that may be reached. */
function judged(allow: readonly Cidr[]): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { all: true, order: 'verbatim' }, (error, found: LookupAddress[]) => {
      if (error) return callback(error, []);
      const allowed = found.filter(({ address }) => isAddressAllowed(address, allow));
      const [first] = allowed;
      if (first === undefined) callback(notAllowed(found[0]?.address ?? hostname), []);
      else if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}
