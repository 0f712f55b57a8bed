/** C/lookup: a pasted id finds what carries it, each role what it reads elsewhere. */
import { beforeAll, expect, test } from 'vitest';
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
const idIn = async (table: string) => {
  const [row] = (await run(`select id from accord.${table} where tenant = $1 order by id desc limit 1`)) as {
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
  expect(said).not.toMatch(/alice|c1|not known/);
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

test('of a request, the newest entries of a log are looked through: decisionsLookedAtMax', async () => {
  const others = (count: number) =>
    run(
      `insert into accord.decision (tenant, at, caller, request, answer, revision, duration_us, request_id)
       select $1, now(), 'client:b', '{}', '{}', 1, 5, 'other' from generate_series(1, $2::int)`,
      [count],
    );
  await decide('deep', "now() - interval '1 minute'");
  const newer = async () => {
    const [row] = (await run(
      `select count(*)::int as n from accord.decision where tenant = $1 and at > now() - interval '50 seconds'`,
    )) as {
      n: number;
    }[];
    return row?.n as number;
  };
  await others(limits.decisionsLookedAtMax - 1 - (await newer()));
  expect(await kindsOf('deep')).toEqual(['decision deny']);
  await others(1);
  expect(await kindsOf('deep')).toEqual([]);
});
