/** A real SMTP server with STARTTLS, and a server that sends by it. */
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

import { selfSigned } from '../core/auth/certificate.ts';
import { closeAtEnd } from '../helpers/closing.ts';

export type Received = { from: string; to: string[]; secure: boolean; raw: string; mail: ParsedMail; user?: string };

const { key, cert } = selfSigned('localhost');
/** For ACCORD_CA_BUNDLE. */
export const caFile = join(tmpdir(), `accord-smtp-${process.pid}.pem`);
await writeFile(caFile, cert);

const refused = (text: string, responseCode: number) => Object.assign(new Error(text), { responseCode });

/** `hold`: what answers to mails wait for; `holding`: mails that have come. */
type State = { busy: number; hold?: Promise<void> | undefined; holding: number };

/** Takes mail, but not for unknown@, policy@ (550) and busy@ (452, the first `busy` times). */
export async function createSmtpServer(options: SMTPServerOptions = {}) {
  const received: Received[] = [];
  const state: State = { busy: 1, holding: 0 };
  const server = new SMTPServer({
    ...{ key, cert, authOptional: true, logger: false, size: 1_000_000 },
    onAuth: ({ username }, _session, done) => done(null, { user: username ?? '' }),
    onRcptTo({ address }, _session, done) {
      if (address.startsWith('unknown')) return done(refused(`5.1.1 <${address}> no such user`, 550));
      if (address.startsWith('policy')) return done(refused('5.7.1 relaying denied', 550));
      if (address.startsWith('busy') && state.busy-- > 0) return done(refused('4.2.2 mailbox full', 452));
      done();
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', async () => {
        state.holding++;
        await state.hold;
        const raw = Buffer.concat(chunks).toString();
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        const user = session.user === undefined ? {} : { user: String(session.user) };
        const to = rcptTo.map(({ address }) => address);
        received.push({ from, to, secure: session.secure, raw, mail: await simpleParser(raw), ...user });
        done(null, 'queued as 1');
      });
    },
    ...options,
  });
  server.on('error', () => {});
  const port = await new Promise<number>((done) => {
    const listening = server.listen(0, '127.0.0.1', () => done((listening.address() as { port: number }).port));
  });
  const close = () => new Promise<void>((done) => server.close(done));
  closeAtEnd(close);
  return { port, received, state, server };
}

/** Takes connections, and says nothing. */
export async function createSilentServer(): Promise<number> {
  const silent = createServer((socket) => socket.on('error', () => {}));
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
  closeAtEnd(() => new Promise((done) => silent.close(done)));
  return (silent.address() as { port: number }).port;
}
