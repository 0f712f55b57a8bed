/** Sending by a real SMTP server: what it gets, what becomes of refusals, who owns a message, and whose turn it is. */
import { describe, expect, test, vi } from 'vitest';
import { utc } from '../../server/core/instants.ts';
import { limits } from '../../server/core/limits.ts';
import { type MailMessage, sendMail } from '../../server/mail/index.ts';
import { claimDue, readMessage } from '../../server/mail/store.ts';
import { MailTransport } from '../../server/mail/transport.ts';
import { write } from '../../server/writes/index.ts';
import { TestClock } from '../core/auth/test-clock.ts';
import { EmittedEvents } from '../helpers/emitted.ts';
import { createTestServer } from '../helpers/server.ts';
import { caFile, createSilentServer, createSmtpServer } from './smtp.ts';

const smtp = await createSmtpServer();
const clock = new TestClock();
const server = await createTestServer(
  {
    ACCORD_SMTP_URL: `smtp://accord:s%20ecret@localhost:${smtp.port}`,
    ACCORD_MAIL_FROM: 'Accord <no-reply@accord.example>',
    ACCORD_CA_BUNDLE: caFile,
  },
  undefined,
  clock,
);
const { services } = server;
const { sender } = services.mail;
const linked = { application: 'Car Share', actionUrl: 'https://accord.test/t/x?token=a&b=c' };

const send = (tenant: string, message: Partial<MailMessage<'account-exists'>> = {}) =>
  write(services.writes, { tenant }, { locks: 'records' }, (unit) =>
    sendMail(services.mail, unit, { template: 'account-exists', to: 'bob@example.org', variables: linked, ...message }),
  ).then(({ result }) => result);
const look = (tenant: string, id: string) => services.database.read(tenant, (tx) => readMessage(tx, tenant, id));

/** Until nothing is due. */
async function sendAll(): Promise<void> {
  while (await sender.run());
}
async function eventsOf(tenant: string): Promise<{ type: string; data: object }[]> {
  const all = await new EmittedEvents(server.db).take();
  return all.filter((event) => event.tenant === tenant && event.type.startsWith('MAIL_'));
}

describe('a mail', () => {
  test('goes over STARTTLS with both parts, with our ids, and to nobody else', async () => {
    const tenant = await server.tenant({ displayName: 'Car, "Share" <x>' });
    const id = await send(tenant, { to: 'Bob@München.example', language: 'nl' });
    await sendAll();
    const got = smtp.received.at(-1);
    expect(got).toMatchObject({ from: 'no-reply@accord.example', to: ['bob@münchen.example'], secure: true });
    expect(got?.user).toBe('accord');
    const { mail } = got!;
    expect(mail.from?.value).toEqual([{ address: 'no-reply@accord.example', name: 'Car, "Share" <x>' }]);
    expect(mail.subject).toBe('Je hebt al een account bij Car Share');
    expect(mail.messageId).toBe(`<${id}@accord.test>`);
    expect(mail.headers.get('auto-submitted')).toBe('auto-generated');
    expect(mail.headers.get('x-accord-message')).toBe(id);
    expect(mail.headers.has('list')).toBe(false); // it is transactional
    expect(mail.text).toContain(linked.actionUrl);
    expect(mail.html).toContain('href="https://accord.test/t/x?token=a&amp;b=c"');
    expect(await look(tenant, id)).toMatchObject({
      status: 'sent',
      attempts: 1,
      answer: expect.stringContaining('250'),
    });
    const sent = { messageId: id, template: 'account-exists', to: 'B***@München.example', requestor: 'service' };
    expect(await eventsOf(tenant)).toMatchObject([{ type: 'MAIL_SENT', data: sent }]);
  });

  test('that is refused for good fails, and its address gets no more', async () => {
    const tenant = await server.tenant();
    const id = await send(tenant, { to: 'unknown@example.org' });
    await sendAll();
    const failed = { status: 'failed', reason: 'refused', answer: '550 5.1.1 <***> no such user' };
    expect(await look(tenant, id)).toMatchObject(failed);
    const before = smtp.received.length;
    const again = await send(tenant, { to: 'UNKNOWN@Example.org' });
    await sendAll();
    expect(await look(tenant, again)).toMatchObject({ status: 'failed', reason: 'suppressed', attempts: 1 });
    expect(smtp.received.length).toBe(before);
    expect((await eventsOf(tenant)).map(({ type }) => type)).toEqual(['MAIL_FAILED', 'MAIL_FAILED']);
  });

  test('that is refused by a policy of the mail server says nothing of the address', async () => {
    const tenant = await server.tenant();
    const ids = [await send(tenant, { to: 'policy@example.org' }), await send(tenant, { to: 'policy@example.org' })];
    await sendAll();
    for (const id of ids) expect(await look(tenant, id)).toMatchObject({ status: 'failed', reason: 'refused' });
  });

  test('that is refused for the moment is sent later: after mailRetryMsMin, and at most mailRetryMsMax', async () => {
    const tenant = await server.tenant();
    smtp.state.busy = 12;
    const id = await send(tenant, { to: 'busy@example.org', expiresAt: utc(clock.now() + limits.mailTtlMs) });
    await sendAll();
    const first = await look(tenant, id);
    expect(first).toMatchObject({ status: 'waiting', attempts: 1, answer: '452 4.2.2 mailbox full' });
    const waits = Date.parse(first!.next_at) - clock.now();
    expect(waits).toBeGreaterThanOrEqual(limits.mailRetryMsMin / 2);
    expect(waits).toBeLessThanOrEqual(limits.mailRetryMsMin);
    clock.advance(waits - 1);
    await sendAll();
    expect(await look(tenant, id)).toMatchObject({ attempts: 1 });
    clock.advance(1);
    for (let i = 2; i <= 12; i++) {
      await sendAll();
      const row = await look(tenant, id);
      expect(row).toMatchObject({ status: 'waiting', attempts: i });
      const wait = Date.parse(row!.next_at) - clock.now();
      expect(wait).toBeLessThanOrEqual(limits.mailRetryMsMax);
      clock.advance(wait);
    }
    await sendAll();
    expect(await look(tenant, id)).toMatchObject({ status: 'sent', attempts: 13 });
  });

  test('that could not be sent in time fails', async () => {
    const tenant = await server.tenant();
    const id = await send(tenant, { expiresAt: utc(clock.now() + 1000) });
    clock.advance(1000);
    await sendAll();
    expect(await look(tenant, id)).toMatchObject({ status: 'waiting', attempts: 0 });
    await sender.expire();
    expect(await look(tenant, id)).toMatchObject({ status: 'failed', reason: 'expired' });
    expect(await eventsOf(tenant)).toMatchObject([{ type: 'MAIL_FAILED', data: { reason: 'expired' } }]);
  });

  test.each([
    'a@example.org, b@example.org',
    'a@example.org\r\nBcc: b@example.org',
    'a@[127.0.0.1]',
    'Al <a@example.org>',
    '"a b"@example.org',
    'a@example.org;b@example.org',
    'a@example.org>\r\nRCPT TO:<b@example.org',
  ])('has no address like %j', async (to) => {
    await expect(send(await server.tenant(), { to })).rejects.toThrow('a mail has no address');
  });
});

describe('a message of a server', () => {
  test('is not another one’s until its time is over, and who comes late writes nothing', async () => {
    const tenant = await server.tenant();
    const id = await send(tenant);
    const claim = (owner: string) =>
      services.database.system((tx) =>
        claimDue(tx, {
          owner,
          now: utc(clock.now()),
          ownedUntil: utc(clock.now() + 60_000),
          except: [],
          after: '',
          limit: 10,
        }),
      );
    const [mine] = await claim('11111111-1111-4111-8111-111111111111');
    expect(mine).toMatchObject({ id, attempts: 1 });
    expect(await claim('22222222-2222-4222-8222-222222222222')).toEqual([]);
    clock.advance(60_000);
    await sendAll();
    expect(await look(tenant, id)).toMatchObject({ status: 'sent', attempts: 2 });
  });

  test('is one of mailsSendingPerTenantMax, and tenants take turns', async () => {
    const [many, one] = [await server.tenant(), await server.tenant()];
    for (let i = 0; i <= limits.mailsSendingPerTenantMax; i++) await send(many);
    await send(one);
    const now = utc(clock.now());
    const owner = '11111111-1111-4111-8111-111111111111';
    const claim = { owner, now, ownedUntil: now, except: [], limit: limits.mailsSendingMax };
    const rows = await services.database.system((tx) => claimDue(tx, { ...claim, after: many }));
    expect(rows.filter(({ tenant }) => tenant === many)).toHaveLength(limits.mailsSendingPerTenantMax);
    expect(rows.filter(({ tenant }) => tenant === one)).toHaveLength(1);
    expect(rows.findIndex(({ tenant }) => tenant === many)).toBeGreaterThanOrEqual(many > one ? 0 : 1);
    const some = await services.database.system((tx) => claimDue(tx, { ...claim, after: '', limit: 1 }));
    expect(some).toHaveLength(1);
    await sendAll();
  });
});

describe("a tenant's own mail server", () => {
  const mail = (port: number, host = 'localhost') => ({ from: 'Cars <cars@cars.example>', smtp: { host, port } });

  test('is reached only at addresses that may be reached', async () => {
    for (const host of ['localhost', '127.0.0.1']) {
      const tenant = await server.tenant({ mail: mail(smtp.port, host) });
      const id = await send(tenant);
      await sendAll();
      expect(await look(tenant, id)).toMatchObject({
        ...{ status: 'waiting', attempts: 1 },
        answer: expect.stringContaining('is not public and ACCORD_OUTBOUND_ALLOW does not name it'),
      });
    }
  });

  test('without its Secret sends nothing', async () => {
    const { from, smtp: to } = mail(smtp.port);
    const tenant = await server.tenant({ mail: { from, smtp: { ...to, secretRef: { name: 'smtp' } } } });
    const id = await send(tenant);
    await sendAll();
    expect(await look(tenant, id)).toMatchObject({ status: 'waiting', answer: 'no mail server is configured' });
  });

  test('sends in the name that the Tenant states; plain text, a wrong certificate and silence are failures for the moment', async () => {
    const plain = await createSmtpServer({ disabledCommands: ['STARTTLS', 'AUTH'] });
    const silent = await createSilentServer();
    const allowing = await createTestServer(
      { ACCORD_OUTBOUND_ALLOW: '127.0.0.0/8,::1/128', ACCORD_CA_BUNDLE: caFile },
      server.db,
      clock,
    );
    const tenants = {
      good: await server.tenant({ mail: mail(smtp.port) }),
      plain: await server.tenant({ mail: mail(plain.port) }),
      name: await server.tenant({ mail: mail(smtp.port, '127.0.0.1') }),
      silent: await server.tenant({ mail: mail(silent) }),
    };
    const ids = Object.fromEntries(
      await Promise.all(Object.entries(tenants).map(async ([name, tenant]) => [name, await send(tenant)])),
    );
    const began = performance.now();
    while (await allowing.services.mail.sender.run());
    expect(performance.now() - began).toBeLessThan(limits.mailSendMsMax);
    expect(smtp.received.at(-1)?.from).toBe('cars@cars.example');
    expect(await look(tenants.good, ids.good)).toMatchObject({ status: 'sent' });
    for (const name of ['plain', 'name', 'silent'] as const) {
      expect(await look(tenants[name], ids[name]), name).toMatchObject({ status: 'waiting', attempts: 1 });
    }
    expect(plain.received).toEqual([]);
  }, 60_000);
});

test('connections to at most mailTransportsMax mail servers are kept open; those to the one that was idle longest are closed', async () => {
  const own = await createSmtpServer();
  const transport = new MailTransport({ ACCORD_OUTBOUND_ALLOW: '', ACCORD_CA_BUNDLE: caFile }, 'https://accord.test');
  const mail = { id: 'x', from: { name: '', address: 'a@x.example' }, to: 'b@x.example', subject: 's', text: 't' };
  const open = () => own.server.connections.size;
  for (let i = 0; i <= limits.mailTransportsMax; i++) {
    const to = {
      host: 'localhost',
      port: own.port,
      isImplicitTls: false,
      isTenants: false,
      auth: { user: `u${i}`, pass: 'p' },
    };
    expect(await transport.send(to, mail)).toMatchObject({ ok: true });
  }
  await vi.waitFor(() => expect(open()).toBeLessThanOrEqual(limits.mailTransportsMax));
  expect(open()).toBeGreaterThan(0);
  transport.close();
  await vi.waitFor(() => expect(open()).toBe(0));
});
