/** Sending by a real SMTP server: what it gets, what becomes of refusals, who owns a message, and whose turn it is. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { utc } from '../../server/core/instants.ts';
import { limits } from '../../server/core/limits.ts';
import { createOutbound } from '../../server/core/outbound/outbound.ts';
import { type MailMessage, sendMail } from '../../server/mail/index.ts';
import { readDue, readMessage } from '../../server/mail/store.ts';
import { MailTransport } from '../../server/mail/transport.ts';
import { write } from '../../server/writes/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { EmittedEvents } from '../helpers/emitted.ts';
import { createTestServer } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';
import { WallClock } from '../invitations/inviting.ts';
import { sendAll as sendMails, sendWhile } from './sending-all.ts';
import { caFile, createSilentServer, createSmtpServer } from './smtp.ts';

const smtp = await createSmtpServer();
// Lanes are renewed by a monotonic clock that goes on.
const clock = new WallClock();
const smtpSettings = {
  ACCORD_SMTP_URL: `smtp://accord:s%20ecret@localhost:${smtp.port}`,
  ACCORD_MAIL_FROM: 'Accord <no-reply@accord.example>',
  ACCORD_CA_BUNDLE: caFile,
};
const server = await createTestServer(smtpSettings, undefined, clock);
const { services } = server;
const outbound = createOutbound({ allow: '', ownListeners: () => [] });
const linked = { application: 'Car Share', actionUrl: 'https://accord.test/t/x?token=a&b=c' };

const send = (tenant: string, message: Partial<MailMessage<'account-exists'>> = {}) =>
  write(services.writes, { tenant }, { locks: 'records' }, (unit) =>
    sendMail(services.mail, unit, { template: 'account-exists', to: 'bob@example.org', variables: linked, ...message }),
  ).then(({ result }) => result);
const look = (tenant: string, id: string) => services.database.read(tenant, (tx) => readMessage(tx, tenant, id));

const sendAll = () => sendMails(server);
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
    await services.mail.sender.expire();
    expect(await look(tenant, id)).toMatchObject({ status: 'failed', reason: 'expired' });
    expect(await eventsOf(tenant)).toMatchObject([{ type: 'MAIL_FAILED', data: { reason: 'expired' } }]);
  });

  test('that is under way when its time is over is sent', async () => {
    const tenant = await server.tenant();
    const id = await send(tenant, { to: 'late@example.org', expiresAt: utc(clock.now() + 60_000) });
    const { promise, resolve } = Promise.withResolvers<void>();
    const begun = smtp.state.holding;
    smtp.state.hold = promise;
    await sendWhile(server, async () => {
      await until('the mail at the mail server', () => smtp.state.holding === begun + 1);
      clock.advance(60_000);
      await services.mail.sender.expire();
      expect(await look(tenant, id)).toMatchObject({ status: 'waiting' });
      smtp.state.hold = undefined;
      resolve();
      await until('the mail to be sent', async () => (await look(tenant, id))?.status === 'sent');
    });
    expect((await eventsOf(tenant)).map(({ type }) => type)).toEqual(['MAIL_SENT']);
  });

  test('that could not be sent in time is ended with at most mailsExpiringMax others', async () => {
    const tenant = await server.tenant();
    const expiresAt = utc(clock.now() + 1000);
    await write(services.writes, { tenant }, { locks: 'records' }, async (unit) => {
      for (let n = 0; n <= limits.mailsExpiringMax; n++)
        await sendMail(services.mail, unit, {
          ...{ template: 'account-exists', to: 'bob@example.org', variables: linked, expiresAt },
        });
    });
    clock.advance(1000);
    expect(await services.mail.sender.expire()).toBe(true);
    expect(await services.mail.sender.expire()).toBe(false);
    expect(await eventsOf(tenant)).toHaveLength(limits.mailsExpiringMax + 1);
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

describe('a lane of a tenant', () => {
  const another = () => createTestServer(smtpSettings, server.db, clock);

  test('is one server’s: of two that send, one sends each mail', async () => {
    const other = await another();
    const tenants = await Promise.all([server.tenant(), server.tenant(), server.tenant()]);
    for (const tenant of tenants) for (let n = 0; n < 12; n++) await send(tenant, { to: `twice-${n}@example.org` });
    await Promise.all([sendMails(server), sendMails(other)]);
    const sent = smtp.received.filter(({ to }) => to[0]?.startsWith('twice-'));
    expect(sent).toHaveLength(36);
    expect(new Set(sent.map(({ mail }) => mail.messageId)).size).toBe(36);
  });

  test('that was lost meanwhile is not written to: its next owner sends the mail again', async () => {
    const tenant = await server.tenant();
    const held = Promise.withResolvers<void>();
    smtp.state.hold = held.promise;
    const id = await send(tenant, { to: 'held@example.org' });
    const begun = smtp.state.holding;
    await sendWhile(server, async () => {
      await until('the mail at the mail server', () => smtp.state.holding === begun + 1);
      const thief = '11111111-1111-4111-8111-111111111111';
      await asAdmin(server.db.adminUrl, `update accord.mail_lane set owner = '${thief}' where tenant = '${tenant}'`);
      smtp.state.hold = undefined;
      held.resolve();
      await until('the mail', () => smtp.received.at(-1)?.to[0] === 'held@example.org');
    });
    expect(await look(tenant, id)).toMatchObject({ status: 'waiting', attempts: 0 });
    expect(await eventsOf(tenant)).toEqual([]);
    await asAdmin(server.db.adminUrl, `update accord.mail_lane set owner = null where tenant = '${tenant}'`);
    await sendAll();
    expect(await look(tenant, id)).toMatchObject({ status: 'sent', attempts: 1 });
  });

  test('has at most mailsSendingPerTenantMax mails under way, those first that wait longest', async () => {
    const tenant = await server.tenant();
    const ids: string[] = [];
    for (let n = 0; n <= limits.mailsSendingPerTenantMax; n++) {
      ids.push(await send(tenant));
      clock.advance(1);
    }
    const due = { now: utc(clock.now()), except: ids.slice(0, 1), limit: limits.mailsSendingPerTenantMax };
    const rows = await services.database.read(tenant, (tx) => readDue(tx, tenant, due));
    expect(rows.map(({ id }) => id)).toEqual(ids.slice(1));
    await sendAll();
  });

  test('whose mail server hangs holds up no other tenant', async () => {
    const silent = await createSilentServer();
    const allowing = await createTestServer(
      { ...smtpSettings, ACCORD_OUTBOUND_ALLOW: '127.0.0.0/8,::1/128' },
      server.db,
      clock,
    );
    const hanging = await Promise.all(
      Array.from({ length: 6 }, () =>
        server.tenant({ mail: { from: 'a@cars.example', smtp: { host: 'localhost', port: silent } } }),
      ),
    );
    for (const tenant of hanging) for (let n = 0; n < 30; n++) await send(tenant);
    const well = await server.tenant();
    await sendWhile(allowing, async () => {
      const id = await send(well);
      await until('the mail of the other', async () => (await look(well, id))?.status === 'sent');
      const later = await send(well);
      await until('the mail of the other', async () => (await look(well, later))?.status === 'sent');
    });
    for (const tenant of hanging)
      await asAdmin(server.db.adminUrl, `delete from accord.mail_message where tenant = '${tenant}'`);
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

  test('is looked up with the names of other tenants, one of a tenant at a time', async () => {
    const asked: string[] = [];
    const [found, never] = [[{ address: '127.0.0.1', family: 4 }], new Promise<never>(() => {})];
    const resolve = (hostname: string) => {
      asked.push(hostname);
      return hostname === 'localhost' ? Promise.resolve(found) : never;
    };
    const transport = new MailTransport(
      { ACCORD_OUTBOUND_ALLOW: '127.0.0.0/8', ACCORD_CA_BUNDLE: caFile },
      'https://accord.test',
      createOutbound({ allow: '127.0.0.0/8', ownListeners: () => [], resolve }),
    );
    onTestFinished(() => transport.close());
    const content = { id: 'x', from: { name: '', address: 'a@x.example' }, subject: 's', text: 't' };
    const sendTo = (host: string, tenant: string) =>
      transport.send(
        { host, port: smtp.port, isImplicitTls: false, isTenants: true },
        { ...content, to: 'b@x.example' },
        { tenant, ending: new AbortController().signal },
      );
    for (const host of ['hangs.example', 'hangs-too.example']) void sendTo(host, 'hanging');
    await until('the first name to be looked up', () => asked.length > 0);
    expect(asked).toEqual(['hangs.example']);
    expect(await sendTo('localhost', 'well')).toMatchObject({ ok: true });
    expect(asked).toEqual(['hangs.example', 'localhost']);
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
    await sendMails(allowing);
    expect(smtp.received.at(-1)?.from).toBe('cars@cars.example');
    expect(await look(tenants.good, ids.good)).toMatchObject({ status: 'sent' });
    for (const name of ['plain', 'name', 'silent'] as const) {
      expect(await look(tenants[name], ids[name]), name).toMatchObject({ status: 'waiting', attempts: 1 });
    }
    expect(plain.received).toEqual([]);
  });
});

describe('an attempt', () => {
  const { mailTurnMsMax: turnMs, mailSendMsMax: sendMs, mailAnswerMsMax: answerMs } = limits;
  /** @param shorter the limit that is looked at; the others are what they are, also on a busy machine */
  async function attempts(shorter: Partial<Record<'turnMs' | 'sendMs' | 'answerMs', number>>) {
    const own = await createSmtpServer({
      onRcptTo({ address }, _session, done) {
        if (!address.startsWith('stall')) done();
      },
    });
    const config = { ACCORD_OUTBOUND_ALLOW: '', ACCORD_CA_BUNDLE: caFile };
    const transport = new MailTransport(config, 'https://accord.test', outbound, {
      ...{ turnMs, sendMs, answerMs },
      ...shorter,
    });
    onTestFinished(() => transport.close());
    const to = { host: 'localhost', port: own.port, isImplicitTls: false, isTenants: false };
    const mail = { id: 'x', from: { name: '', address: 'a@x.example' }, subject: 's', text: 't' };
    const send = (name: string, ending = new AbortController().signal) =>
      transport.send(to, { ...mail, to: `${name}@x.example` }, { tenant: 't', ending });
    return { ...own, send };
  }
  const held = (state: { hold?: Promise<void> | undefined }) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    state.hold = promise;
    return resolve;
  };

  test('whose mail was written waits for the answer beyond mailSendMsMax, and another one that is late does not end it', async () => {
    const { send, state, received } = await attempts({ sendMs: 5000 });
    const answer = held(state);
    const scanned = send('scanned');
    await until('mails at the mail server', () => state.holding === 1);
    // The other connection; behind it waits one that has its turn when this one is given up.
    const late = send('stall');
    const next = send('next');
    expect(await late).toMatchObject({
      ok: false,
      kind: 'soft',
      answer: expect.stringContaining('no complete answer'),
    });
    await until('mails at the mail server', () => state.holding === 2);
    answer();
    expect(await Promise.all([scanned, next])).toMatchObject([{ ok: true }, { ok: true }]);
    expect(received.map(({ to }) => to[0]).sort()).toEqual(['next@x.example', 'scanned@x.example']);
  });

  test('whose mail was written is given up after mailAnswerMsMax', async () => {
    const { send, state } = await attempts({ answerMs: 1000 });
    const answer = held(state);
    const began = performance.now();
    expect(await send('scanned')).toMatchObject({ ok: false, kind: 'soft' });
    expect(performance.now() - began).toBeGreaterThanOrEqual(999);
    answer();
  });

  test('that has no connection within mailTurnMsMax, or until its lane ends, has tried nothing', async () => {
    const { send, state, received } = await attempts({ turnMs: 1000 });
    const answer = held(state);
    const under = [send('one'), send('two')];
    await until('mails at the mail server', () => state.holding === 2);
    const ending = new AbortController();
    const began = performance.now();
    const waiting = send('three', ending.signal);
    ending.abort();
    expect(await waiting).toBeUndefined();
    expect(await send('four')).toBeUndefined();
    expect(performance.now() - began).toBeGreaterThanOrEqual(999);
    answer();
    expect(await Promise.all(under)).toMatchObject([{ ok: true }, { ok: true }]);
    expect(received).toHaveLength(2);
  });
});

test('connections to at most mailTransportsMax mail servers are kept open; those to the one that was idle longest are closed', async () => {
  const own = await createSmtpServer();
  const transport = new MailTransport(
    { ACCORD_OUTBOUND_ALLOW: '', ACCORD_CA_BUNDLE: caFile },
    'https://accord.test',
    outbound,
  );
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
    expect(await transport.send(to, mail, { tenant: 't', ending: new AbortController().signal })).toMatchObject({
      ok: true,
    });
  }
  await until('connections to be closed', () => open() <= limits.mailTransportsMax);
  expect(open()).toBeGreaterThan(0);
  transport.close();
  await until('all connections to be closed', () => open() === 0);
});
