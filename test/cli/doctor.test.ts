/** `accord doctor`: each thing is broken for real, and it says what is wrong and what to do. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { databaseChecks } from '../../cli/doctor/database.ts';
import { putIssuer } from '../../server/issuers/index.ts';
import type { DoctorFinding } from '../../server/room/doctor.ts';
import { putSubscription } from '../../server/subscriptions/actions.ts';
import { accord } from '../e2e/accord.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { numbered } from '../helpers/emitted.ts';
import { freePort } from '../helpers/free-port.ts';
import { createTestServer, manifestWriter, masterKey } from '../helpers/server.ts';
import { untilPasses } from '../helpers/wait.ts';
import { caFile, createSmtpServer } from '../mail/smtp.ts';
import { subscriptionSpec } from '../subscriptions/subscription.ts';
import { accordHere } from './here.ts';

const server = await createTestServer();
const { db } = server;
const smtp = await createSmtpServer({
  onAuth: ({ username, password }, _session, done) =>
    username === 'accord' && password === 'right' ? done(null, { user: 'accord' }) : done(new Error('no')),
});
const plain = await createSmtpServer({ disabledCommands: ['STARTTLS', 'AUTH'] });
const variables = { ACCORD_DATABASE_URL: db.url, ACCORD_MASTER_KEY: masterKey };
const admin = (text: string, values: unknown[] = []) => asAdmin(db.adminUrl, text, values);
type Finding = DoctorFinding & { check: string };

/** What is not ok, with the exit status. */
async function doctor(more: Record<string, string> = {}) {
  const { stdout, code = 0 } = (await accordHere(['doctor', '--json'], { ...variables, ...more }).catch(
    (error) => error,
  )) as {
    stdout: string;
    code?: number;
  };
  const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: Finding[] };
  for (const { status, remedy } of findings) expect(remedy === undefined).toBe(status === 'ok');
  expect(ok).toBe(code === 0);
  return { code, ok, findings, wrong: findings.filter(({ status }) => status !== 'ok') };
}
const error = (check: string, found: RegExp, remedy: RegExp, more: object = {}) => ({
  ...{ check, status: 'error', found: expect.stringMatching(found), remedy: expect.stringMatching(remedy), ...more },
});
const warning = (...args: Parameters<typeof error>) => ({ ...error(...args), status: 'warning' });
const checkNamed = (name: string, now = Date.now, url = db.url) =>
  databaseChecks({ url }, now)
    .find((check) => check.name === name)
    ?.run();

test('an installation that is well has a line for each check, and exit status 0', async () => {
  await server.tenant();
  const { stdout } = await accord(['doctor'], variables);
  const lines = stdout.trim().split('\n');
  expect(lines.map((line) => /^ok +([a-z -]+):/.exec(line)?.[1])).toEqual([
    ...['configuration', 'database', 'migrations', 'roles and row-level security', 'notifications'],
    ...['clock', 'partitions'],
    ...['master key', 'signing keys', 'events', 'trusted issuers', 'event subscriptions', 'mail'],
  ]);
  expect(lines[6]).toMatch(/audit_entry, .*decision.*event.*ledger/);
});

test('variables, a database that is away, and a role that nobody knows', async () => {
  expect(await doctor({ ACCORD_NONSENSE: '1' })).toMatchObject({
    code: 1,
    wrong: [error('configuration', /^ACCORD_NONSENSE: unknown variable$/, /docs\/configuration.md/)],
  });
  const away = `postgres://accord@127.0.0.1:${await freePort()}/accord`;
  expect((await doctor({ ACCORD_DATABASE_URL: away })).wrong).toEqual([
    error('database', /accord at 127.0.0.1:\d+ cannot be used as accord: connect ECONNREFUSED/, /ACCORD_DATABASE_URL/),
  ]);
  expect(await checkNamed('database', Date.now, db.url.replace(/\/t_[0-9a-f]+/, '/nothing'))).toEqual([
    { status: 'error', found: expect.stringContaining('does not exist'), remedy: expect.any(String) },
  ]);
});

test('a database that is behind, newer, or was never used', async () => {
  const fresh = await createTestDatabase();
  const url = { ACCORD_DATABASE_URL: fresh.url };
  const unused = await doctor(url);
  expect([unused.code, unused.wrong]).toEqual([
    0,
    [warning('master key', /no server has run on this database/, /Start accord serve/)],
  ]);
  const migration = { id: 0, name: '' };
  Object.assign(
    migration,
    (
      await asAdmin(
        fresh.adminUrl,
        'delete from accord.migration where id = (select max(id) from accord.migration) returning *',
      )
    )[0],
  );
  expect((await doctor(url)).wrong).toEqual([
    error('migrations', new RegExp(`the database lacks migration ${migration.name}`), /Run accord migrate/),
  ]);
  await asAdmin(
    fresh.adminUrl,
    `insert into accord.migration (id, name, breaking, digest) values (999998, 'future', true, '')`,
  );
  expect((await doctor(url)).wrong).toEqual([error('migrations', /future.* too old/, /version of accord/)]);
});

test('a role that is not confined or no member, and row-level security that somebody turned off', async () => {
  const check = 'roles and row-level security';
  expect((await doctor({ ACCORD_DATABASE_URL: db.adminUrl })).wrong).toEqual([
    error(check, /SUPERUSER: row-level security would not apply/, /login role/),
  ]);
  const role = `r_${randomBytes(6).toString('hex')}`;
  await admin(`create role ${role} login password 'x'; grant accord_app to ${role}`);
  const other = `${db.url}&user=${role}&password=x`;
  const found = await checkNamed(check, Date.now, other);
  await admin(`drop role ${role}`);
  expect(found).toEqual([
    {
      status: 'error',
      found: `the role ${role} is no member of accord_system`,
      remedy: expect.stringContaining('accord migrate'),
    },
  ]);
  await admin(
    'alter table accord.relationship no force row level security; alter table accord.policy disable row level security',
  );
  expect((await doctor()).wrong).toEqual([error(check, /not in force for policy, relationship$/, /docs\/schema.txt/)]);
  await admin(
    'alter table accord.relationship force row level security; alter table accord.policy enable row level security',
  );
});

test.each([
  [20_000, 'error', '20.0 seconds behind'],
  [2000, 'warning', '2.0 seconds behind'],
  [-2000, 'warning', 'seconds ahead of'],
  [500, 'ok', 'agree within a second'],
])('a clock that is %d ms ahead of the database', async (ms, status, words) => {
  // What the question takes may be the clock's or not: on a busy machine it is asked again.
  await untilPasses('a quick answer', async () => {
    const [finding] = (await checkNamed('clock', () => Date.now() + ms)) ?? [];
    expect(finding).toMatchObject({ status });
    expect(finding?.found.replace('1.9', '2.0').replace('19.9', '20.0')).toContain(words);
  });
});

test('days and months without partitions', async () => {
  const day = (ahead: number) => new Date(Date.now() + ahead * 86_400_000).toISOString().slice(0, 10);
  const drop = (ahead: number) => admin(`drop table accord.event_${day(ahead).replaceAll('-', '_')}`);
  await drop(2);
  expect(await doctor()).toMatchObject({
    code: 0,
    wrong: [warning('partitions', new RegExp(`^event has no partition for ${day(2)}:`), /accord serve/)],
  });
  await drop(0);
  expect(await doctor()).toMatchObject({
    code: 1,
    wrong: [
      error(
        'partitions',
        new RegExp(`^event has no partition for ${day(0)}, ${day(2)}: its rows are refused`),
        /ensure/,
      ),
    ],
  });
  const month = day(0).slice(0, 7).replace('-', '_');
  await admin('select accord.ensure_partitions(3)');
  await admin(`drop table accord.decision_${month}`);
  expect((await doctor()).wrong).toEqual([
    warning('partitions', /^decision has no partition.*default/, /accord serve/),
  ]);
  await admin('select accord.ensure_partitions(3)');
});

test('another master key, none, and keys that are gone or old', async () => {
  const other = randomBytes(32).toString('base64url');
  expect((await doctor({ ACCORD_MASTER_KEY: other })).wrong).toEqual([
    error('master key', /ACCORD_MASTER_KEY is not the key/, /backup/),
  ]);
  expect((await doctor({ ACCORD_MASTER_KEY: '' })).wrong).toEqual([
    error('master key', /is not set/, /Set ACCORD_MASTER_KEY/),
  ]);
  const [gone, old] = [await server.tenant(), await server.tenant()];
  await admin('delete from accord.signing_key where tenant = $1', [gone]);
  await admin(
    `update accord.signing_key set created_at = now() - interval '92 days', activates_at = now() - interval '92 days'
    where tenant = $1`,
    [old],
  );
  expect((await doctor()).wrong).toEqual(
    expect.arrayContaining([
      error('signing keys', /no key signs/, new RegExp(`accord keys rotate --tenant ${gone}`), { tenant: gone }),
      warning('signing keys', /not rotated/, /rotating signing keys/, { tenant: old }),
    ]),
  );
  await admin('delete from accord.tenant where tenant = any($1)', [[gone, old]]);
});

test('an issuer whose keys cannot be read, and events that nobody numbers', async () => {
  const tenant = await server.tenant();
  const tokenMapping = { actorIdClaimPath: 'sub' };
  const spec = {
    issuer: 'https://issuer.invalid',
    algorithms: ['ES256'],
    audiences: ['https://api.test'],
    tokenMapping,
  };
  await putIssuer(server.services.issuers, manifestWriter, tenant, 'away', spec as never);
  await numbered(server);
  await server.services.events.mover.close();
  await admin(
    `insert into accord.event_inbox (tenant, id, time, type, key, body) values ($1, uuidv7(interval '-1 hour'), now(), 'NOTE', 'note/1', '{}')`,
    [tenant],
  );
  const { code, wrong } = await doctor();
  expect([code, wrong]).toEqual([
    1,
    [
      warning('events', /for 36\d\d seconds/, /accord serve numbers events/),
      error(
        'trusted issuers',
        /^the keys of the issuer https:\/\/issuer.invalid cannot be read: https:/,
        /ACCORD_OUTBOUND_ALLOW/,
        { tenant },
      ),
    ],
  ]);
});

test('subscriptions that are disabled or fail, as the database says', async () => {
  const tenant = await server.tenant();
  const put = (id: string) =>
    putSubscription(server.services.subscriptions, manifestWriter, tenant, id, subscriptionSpec());
  await put('disabled');
  await put('failing');
  await put('well');
  await admin(
    `update accord.event_lane set disabled_at = now(), disabled_reason = 'gone' where tenant = $1 and subscription = 'disabled'`,
    [tenant],
  );
  await admin(
    `update accord.event_lane set failing_since = now() - interval '1 hour', blocked_until = now() + interval '1 hour'
      where tenant = $1 and subscription = 'failing'`,
    [tenant],
  );
  const { wrong } = await doctor();
  expect(wrong.filter(({ check }) => check === 'event subscriptions')).toEqual([
    warning('event subscriptions', /subscription failing fails since .*; the next attempt is after /, /deliveries/, {
      tenant,
    }),
    error('event subscriptions', /subscription disabled to https:.* is disabled .*: .* 410/, /PUT/, { tenant }),
  ]);
  await admin('delete from accord.tenant where tenant = $1', [tenant]);
});

test('mail servers are connected to with TLS and credentials, and get no mail', async () => {
  let ofMail = '';
  const looked = async (url: string, more: Record<string, string> = {}) => {
    const from = { ACCORD_MAIL_FROM: 'a@accord.example', ACCORD_CA_BUNDLE: caFile };
    // What other tests of this file broke is not looked at.
    const { findings, wrong } = await doctor({ ACCORD_SMTP_URL: url, ...from, ...more });
    ofMail = findings.find(({ check }) => check === 'mail')?.found ?? '';
    return wrong.filter(({ check }) => check === 'mail');
  };
  const right = `smtp://accord:right@localhost:${smtp.port}`;
  expect(await looked(right)).toEqual([]);
  expect(ofMail).toMatch(/^each mail server \(1\) lets the service in, .*nothing was sent$/);
  expect(await looked(`smtp://accord:wrong@localhost:${smtp.port}`)).toEqual([
    error('mail', /^the mail server localhost:\d+ cannot be used: .*/, /ACCORD_SMTP_URL.*STARTTLS/),
  ]);
  expect(await looked(`smtp://localhost:${plain.port}`)).toEqual([
    error('mail', /cannot be used: .*not recognized/, /STARTTLS/),
  ]);
  const mail = { from: 'a@cars.example', smtp: { host: '127.0.0.1', port: smtp.port } };
  const tenant = await server.tenant({ mail });
  expect(await looked(`smtp://accord:right@localhost:${smtp.port}`)).toEqual([
    error('mail', /is not public/, /spec.mail.smtp of the Tenant/, { tenant }),
  ]);
  expect(smtp.received).toEqual([]);
  await admin('delete from accord.tenant where tenant = $1', [tenant]);
});
