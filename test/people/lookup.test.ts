/** C/lookup: an id finds its records, each role what it reads elsewhere. */
import { beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { invitingTenant } from '../invitations/inviting.ts';
import { membersOf } from '../members/roles.ts';

const server = await createTestServer();
const cars = await invitingTenant(server);
const { tenant } = cars;
const members = await membersOf(server, tenant);
type Role = 'security-admin' | 'config-editor' | 'config-viewer' | 'support';

const lookUp = async (id: string, role: Role = 'security-admin') => {
  const { status, body } = await members[role]('GET', `/lookup?id=${encodeURIComponent(id)}`);
  return status === 200 ? (body.found as Record<string, unknown>[]) : status;
};
const kindsOf = async (id: string, role?: Role) => {
  const found = await lookUp(id, role);
  return typeof found === 'number' ? found : found.map(({ kind, what }) => `${kind} ${what}`).sort();
};
const run = (text: string, values: unknown[] = []) => asAdmin(server.db.adminUrl, text, [tenant, ...values]);
const idIn = async (table: string, where = 'true') => {
  const [row] = (await run(
    `select id from accord.${table} where tenant = $1 and ${where} order by id desc limit 1`,
  )) as {
    id: string;
  }[];
  return row?.id as string;
};
const decide = (request: string, at = 'now()') =>
  run(
    `insert into accord.decision (tenant, at, caller, action, request, answer, revision, duration_us, request_id)
     values ($1, ${at}, 'user:user:alice', 'car:read', '{"subject":{"id":"alice"},"resource":{"type":"car","id":"c1"}}',
       '{"outcome":"deny","reason":"alice is not known"}', 1, 5, $2)`,
    [request],
  );

beforeAll(async () => {
  await decide('asked-7');
  await run(
    `insert into accord.ledger_entry (tenant, time, id, type, name, version, outcome, request_id, personal_digest, salt, actor_type,
       actor_id, user_id, sequence, hash)
     values ($1, now(), uuidv7(), 'registered', 'terms', '1', 'registered', 'asked-7', sha256('a'), '\\x00112233445566778899aabbccddeeff',
       'client', 'backend', 'alice', 1, sha256('b'))`,
  );
  await cars.backend('PUT', '/actors/user/alice', { body: {}, headers: { 'x-request-id': 'asked-7' } });
  await cars.invite();
});

test('a request id finds all that the request made', async () => {
  expect(await kindsOf('asked-7')).toEqual(['audit put', 'consent registered', 'decision deny']);
  expect(await kindsOf('asked-8')).toEqual([]);
  expect(await kindsOf('asked-7', 'config-editor')).toEqual(['consent registered', 'decision deny']);
  expect(await kindsOf('asked-7', 'support')).toEqual(['audit put', 'consent registered', 'decision deny']);
  expect(await lookUp('asked-7', 'config-viewer')).toBe(403);
});

test('support sees nobody by name', async () => {
  const said = JSON.stringify(await lookUp('asked-7', 'support'));
  expect(said).not.toMatch(/alice|"c1"|not known/);
  expect(JSON.stringify(await lookUp('asked-7'))).toMatch(/alice/);
});

test('the id of each record finds it', async () => {
  for (const [table, kind] of [
    ['decision', 'decision deny'],
    ['audit_entry', 'audit'],
    ['ledger_entry', 'consent registered'],
    ['invitation', 'invitation invited'],
  ] as const) {
    const found = await kindsOf(await idIn(table));
    expect(found, table).toEqual([expect.stringMatching(`^${kind}`)]);
  }
  const [event] = (await expect
    .poll(() => run('select id, sequence from accord.event where tenant = $1 order by sequence limit 1'))
    .toHaveLength(1)
    .then(() => run('select id, sequence from accord.event where tenant = $1 order by sequence limit 1'))) as {
    id: string;
    sequence: string;
  }[];
  expect(await lookUp(event?.id ?? '')).toEqual([
    expect.objectContaining({ kind: 'event', id: event?.id, sequence: 1 }),
  ]);
  // Deliveries are named by the number of their event.
  expect(await lookUp('1')).toEqual([expect.objectContaining({ kind: 'event', id: event?.id })]);
  expect(await kindsOf(event?.id ?? '', 'support')).toEqual([]);
  expect(await kindsOf(await idIn('invitation'), 'support')).toEqual([]);
});

test('of another tenant nothing is found, and what is no id is refused', async () => {
  const other = await server.tenant({});
  const token = await server.member(other, 'security-admin');
  const url = `/tenants/${other}/lookup?id=asked-7`;
  const answer = await server.app.inject({ url, headers: { authorization: `Bearer ${token}` } });
  expect(answer.json()).toEqual({ found: [] });
  expect(await lookUp('two words')).toBe(400);
  expect(await lookUp('')).toBe(400);
  expect(await lookUp('a'.repeat(129))).toBe(400);
});

test('of a request, the newest entries of a log are looked through: logEntriesLookedAtMax', async () => {
  const others = (count: number) =>
    run(
      `insert into accord.decision (tenant, at, caller, request, answer, revision, duration_us, request_id)
       select $1, now(), 'client:b', '{}', '{}', 1, 5, 'other' from generate_series(1, $2::int)`,
      [count],
    );
  await decide('deep', "now() - interval '1 minute'");
  const newer = async () => {
    const [row] = (await run(
      `select count(*)::int as n from accord.decision where tenant = $1
         and at > (select at from accord.decision where tenant = $1 and request_id = 'deep')`,
    )) as {
      n: number;
    }[];
    return row?.n as number;
  };
  await others(limits.logEntriesLookedAtMax - 1 - (await newer()));
  expect(await kindsOf('deep')).toEqual(['decision deny']);
  await others(1);
  expect(await kindsOf('deep')).toEqual([]);
  expect(await lookUp('other')).toHaveLength(limits.lookupRecordsMax);
});

describe('while a person is being erased', () => {
  const decided = async (
    request: string,
    { caller = 'client:backend', subject = 'zoe', resource = 'c1', reason = 'no' },
  ) =>
    run(
      `insert into accord.decision (tenant, at, caller, action, request, answer, revision, duration_us, request_id)
       values ($1, now(), $3, 'car:read', jsonb_build_object('subject', jsonb_build_object('id', $4::text),
         'resource', jsonb_build_object('type', 'user', 'id', $5::text)), jsonb_build_object('outcome', 'deny', 'reason', $6::text), 1, 5, $2)`,
      [request, caller, subject, resource, reason],
    );

  test('its decisions are not shown, and those about others without its id', async () => {
    await decided('of-gone', { subject: 'gone' });
    await decided('by-gone', { caller: 'user:user:gone' });
    await decided('about-gone', { resource: 'gone' });
    await decided('says-gone', { reason: 'gone' });
    const own = await idIn('decision', "request_id = 'of-gone'");
    const timeline = async (id: string) =>
      (await members['security-admin']('GET', `/people/user/${id}/timeline?kinds=decision`)).body;
    expect(await lookUp('of-gone')).toHaveLength(1);
    expect((await timeline('gone')).items).toHaveLength(1);
    const pseudonym = server.services.encrypter.digest(Buffer.from('gone'), ['erased', tenant]);
    await run(
      `insert into accord.erased_actor (tenant, pseudonym, type, is_user, erased_at, progress) values ($1, $2, 'user', true, now(), '{}')`,
      [pseudonym],
    );
    expect(await lookUp('of-gone')).toEqual([]);
    expect(await lookUp(own)).toEqual([]);
    expect(await lookUp('by-gone')).toEqual([]);
    expect(await lookUp('about-gone')).toMatchObject([{ resource: { type: 'user', id: `erased:${pseudonym}` } }]);
    expect(await lookUp('says-gone')).toMatchObject([{ reason: `erased:${pseudonym}`, what: 'deny' }]);
    expect((await timeline('gone')).items).toEqual([]);
    const { items } = await timeline('zoe');
    expect(items).toHaveLength(2);
    expect(JSON.stringify(items)).not.toMatch(/"gone"|:gone/);
  });
});

test('support sees why a mail was not sent, as it does in the list of mails', async () => {
  await run(
    `insert into accord.mail_message (tenant, id, template, transactional, recipient_digest, recipient_mask, status, reason, next_at,
       created_at, expires_at, settled_at, kept_until)
     values ($1, gen_random_uuid(), 'consent-renewal', true, sha256('a'), 'a***@example.com', 'failed', 'bounced', now(), now(), now(), now(), now())`,
  );
  const found = await lookUp(await idIn('mail_message', 'reason is not null'), 'support');
  expect(found).toMatchObject([{ kind: 'mail', reason: 'bounced', contact: '***' }]);
});
