/** Whether mail can be sent: each mail server is connected to, with TLS and credentials, and no mail is sent. */

import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import type { Database } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { utc } from '../core/instants.ts';
import { type DoctorCheck, type DoctorFinding, unlessFound } from '../room/doctor.ts';
import { readTenants } from '../tenants/index.ts';
import type { Outbox } from './outbox.ts';
import { installationServer, type SmtpServer, sendingOf } from './settings.ts';
import { countWaiting } from './store.ts';
import type { MailTransport } from './transport.ts';

type Services = {
  database: Database;
  encrypter: Pick<Encrypter, 'decrypt'>;
  clock: Clock;
  config: Config;
  transport: MailTransport;
  outbox: Outbox;
};

const SERVERS_MAX = 100;
const AT_ONCE = 4;
/** After which a mail that waits is said. */
const LATE_MS = 3_600_000;

export function mailCheck(services: Services): DoctorCheck {
  return {
    name: 'mail',
    async run() {
      const { directory } = services.outbox;
      if (directory !== undefined) {
        const kept = `no mail server is used: this accord start keeps mail as files in ${directory}, and shows it at /dev/mail of its admin port`;
        return unlessFound(await lookAtWaiting(services), kept);
      }
      const { servers, notLookedAt } = await serversOf(services);
      const waiting = [...servers];
      const found: DoctorFinding[] = [];
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          for (let one = waiting.pop(); one !== undefined; one = waiting.pop())
            found.push(...(await look(services.transport, one)));
        }),
      );
      found.push(...(await lookAtWaiting(services)));
      const none =
        'no mail server is configured: mail is kept for seven days and not sent (ACCORD_SMTP_URL, spec.mail of a Tenant)';
      const more = notLookedAt === 0 ? '' : `; those of further Tenants (${notLookedAt}) were not looked at`;
      const each = `each mail server (${servers.length}) lets the service in, with TLS and its credentials; nothing was sent${more}`;
      return unlessFound(found, servers.length === 0 ? none : each);
    },
  };
}

type Looked = { server: SmtpServer; tenant?: string } | { missing: string; tenant: string };

async function serversOf({
  database,
  config,
  encrypter,
}: Services): Promise<{ servers: Looked[]; notLookedAt: number }> {
  const installation = installationServer(config);
  const servers: Looked[] = installation === undefined ? [] : [{ server: installation }];
  const tenants = (await database.system((tx) => readTenants(tx))).filter(
    ({ spec, state }) => spec.mail !== undefined && state === 'active',
  );
  for (const row of tenants.slice(0, SERVERS_MAX)) {
    const { tenant } = row;
    const sending = await database.tenantSnapshot(tenant, (tx) => sendingOf({ config, encrypter }, tx, row));
    const { secretRef } = row.spec.mail?.smtp ?? {};
    servers.push(
      sending === undefined ? { missing: secretRef?.name ?? '', tenant } : { server: sending.server, tenant },
    );
  }
  return { servers, notLookedAt: Math.max(0, tenants.length - SERVERS_MAX) };
}

async function look(transport: MailTransport, one: Looked): Promise<DoctorFinding[]> {
  const about = { status: 'error' as const, ...(one.tenant === undefined ? {} : { tenant: one.tenant }) };
  if ('missing' in one) {
    const found = `the Secret ${one.missing} of spec.mail.smtp.secretRef was not read`;
    return [{ ...about, found, remedy: 'No mail is sent. The Secret needs the keys username and password.' }];
  }
  const error = await transport.verify(one.server, one.tenant ?? '');
  if (error === undefined) return [];
  const { host, port } = one.server;
  const where = one.tenant === undefined ? 'ACCORD_SMTP_URL' : 'spec.mail.smtp of the Tenant, and its Secret';
  const remedy = `Mail waits, and fails after seven days. Check ${where}. The server has to be reachable from here and from the servers, offer TLS (STARTTLS, or port 465) with a certificate that Node or ACCORD_CA_BUNDLE trusts, and take the user name and password. A tenant's server at a private address has to be in ACCORD_OUTBOUND_ALLOW.`;
  return [{ ...about, found: `the mail server ${host}:${port} cannot be used: ${error}`, remedy }];
}

async function lookAtWaiting({ database, clock }: Services): Promise<DoctorFinding[]> {
  const { count, oldest, answer } = await database.system((tx) => countWaiting(tx, utc(clock.now() - LATE_MS)));
  if (count === 0) return [];
  const last = answer === null ? '' : `; the last answer: ${answer}`;
  const found = `mails wait for more than an hour (${count}), the oldest since ${oldest}${last}`;
  const remedy =
    'GET C/mail/messages shows them by tenant, with what the mail server answered. They are tried again by themselves.';
  return [{ status: 'warning', found, remedy }];
}
