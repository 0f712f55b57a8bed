/**
 * Measures sending mail on a Postgres that syncs: from rows that wait to what a mail server on this machine has accepted, over STARTTLS
 * and two connections, of one tenant and of ten. The mail server runs in this process, too.
 */
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SMTPServer } from 'smtp-server';
import { readConfig } from '../server/core/config.ts';
import { utc } from '../server/core/instants.ts';
import { sendMail } from '../server/mail/index.ts';
import { tenantsDue } from '../server/mail/store.ts';
import { createServices } from '../server/services.ts';
import { write } from '../server/writes/index.ts';
import { selfSigned } from '../test/core/auth/certificate.ts';
import { createInstallation } from './installation.ts';
import { noise, table, target } from './report.ts';

const MAILS = Number(process.argv[2] ?? 2000);
const ROUNDS = 5;
const TENANTS = 10;

const { key, cert } = selfSigned('localhost');
const caFile = join(tmpdir(), `accord-bench-mail-${process.pid}.pem`);
await writeFile(caFile, cert);
let [accepted, connections, connectionsMax] = [0, 0, 0];
const smtp = new SMTPServer({
  ...{ key, cert, authOptional: true, disabledCommands: ['AUTH'], logger: false },
  onConnect(_session, done) {
    connectionsMax = Math.max(connectionsMax, ++connections);
    done();
  },
  onClose: () => connections--,
  onData(stream, _session, done) {
    stream.resume();
    stream.on('end', () => {
      accepted++;
      done(null, 'queued');
    });
  },
});
smtp.on('error', () => {});
const port = await new Promise<number>((done) => {
  const listening = smtp.listen(0, '127.0.0.1', () => done((listening.address() as { port: number }).port));
});

const installation = await createInstallation({ durable: true });
const codes = Array.from({ length: TENANTS }, (_, i) => `bench${i}`);
for (const code of codes) await installation.tenant(code);
const config = readConfig({
  ...installation.environment,
  ACCORD_LOG_LEVEL: 'error',
  ...{
    ACCORD_SMTP_URL: `smtp://localhost:${port}`,
    ACCORD_MAIL_FROM: 'bench@accord.example',
    ACCORD_CA_BUNDLE: caFile,
  },
});
const services = await createServices(config, { applicationName: 'bench' });
const variables = {
  application: 'Bench',
  actionUrl: 'https://accord.bench/x',
  name: 'Ann',
  expiresAt: '2030-01-01T00:00:00Z',
};

async function round(tenants: number): Promise<number> {
  for (let i = 0; i < tenants; i++) {
    await write(services.writes, { tenant: codes[i] as string }, { locks: 'records' }, async (unit) => {
      for (let n = 0; n < MAILS / tenants; n++)
        await sendMail(services.mail, unit, {
          template: 'relationship-invitation',
          to: `u${n}@example.org`,
          variables,
        });
    });
  }
  const before = accepted;
  const started = performance.now();
  const stop = new AbortController();
  const running = services.mail.sender.run(stop.signal);
  while (await services.database.system(async (tx) => (await tenantsDue(tx, utc(Date.now()))).length > 0))
    await sleep(5);
  if (accepted - before !== MAILS) throw new Error(`${accepted - before} of ${MAILS} mails were accepted`);
  const rate = (MAILS / (performance.now() - started)) * 1000;
  stop.abort();
  await running;
  return rate;
}

const rows: (string | number)[][] = [];
const all: number[] = [];
for (const tenants of [1, TENANTS]) {
  const rates: number[] = [];
  for (let i = 0; i < ROUNDS; i++) rates.push(await round(tenants));
  rows.push([`${tenants} tenants`, ...rates.map(Math.round)]);
  all.push(...rates);
}
table(['mails/s', ...Array.from({ length: ROUNDS }, (_, i) => `round ${i + 1}`)], rows);
console.log(`connections at once: ${connectionsMax}`);
console.log(noise(all));
const least = Math.min(...all);
target('mails a second over two connections', '>= 100', least.toFixed(0), least >= 100 && connectionsMax <= 2);
await services.close();
await installation.close();
smtp.close();
process.exit();
