/** Idempotency-Key: on every POST that creates, once and for 24 hours; two at once; what failed; secrets; erasing; bounds. */
import { randomUUID } from 'node:crypto';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import type { Transaction } from '../../server/core/db/database.ts';
import { type Sql, sql } from '../../server/core/db/sql.ts';
import { limits } from '../../server/core/limits.ts';
import { erasingIdempotency, removeExpired } from '../../server/idempotency/index.ts';
import { removeOld } from '../../server/idempotency/store.ts';
import { consenting, day, item } from '../consents/consenting.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { invitingTenant, body as offer, WallClock } from '../invitations/inviting.ts';
import { configClient, says } from '../policies/config-client.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
const cars = await invitingTenant(server);

type Answer = { status: number; headers: Record<string, unknown>; body: Record<string, unknown> & { code?: string } };
type Send = (key: string, change?: object) => Promise<Answer>;
const PlanRow = Type.Object({ 'QUERY PLAN': Type.String() });
const keyed = (key: string) => ({ 'idempotency-key': key });

async function post(token: string, url: string, body: unknown, key?: string): Promise<Answer> {
  const response = await server.app.inject({
    method: 'POST',
    url,
    headers: { authorization: `Bearer ${token}`, ...(key === undefined ? {} : keyed(key)) },
    ...(body === undefined ? {} : { payload: body as object }),
  });
  return { status: response.statusCode, headers: response.headers, body: response.json() };
}
const admin = (tenant: string) => server.client(tenant, 'pg:tenant:admin');
const relate =
  (to: string, key?: string, from = 'alice') =>
  async () =>
    post(
      await admin(cars.tenant),
      `/${cars.tenant}/actors/user/${from}/relationships`,
      { relationshipType: 'drives', to: { type: 'car', id: to } },
      key,
    );
const count = async (table: string, tenant: string) => {
  const text = `select count(*)::int as n from accord.${table} where tenant = $1`;
  const [row] = await asAdmin<{ n: number }>(server.db.adminUrl, text, [tenant]);
  return row?.n;
};

/** By OpenAPI path, how to send it, and what of it could be done twice. */
const routes: Record<string, () => Promise<{ send: Send; counted: [table: string, tenant: string] }>> = {
  '/{tenant}/actors/{type}/{id}/relationships': async () => ({
    send: (key, change = {}) => relate(JSON.stringify(change), key, 'twice')(),
    counted: ['audit_entry', cars.tenant],
  }),
  '/{tenant}/sharing/invitations': async () => ({
    send: async (key, change) =>
      post(await admin(cars.tenant), `/${cars.tenant}/sharing/invitations`, offer(change), key),
    counted: ['invitation', cars.tenant],
  }),
  '/{tenant}/sharing/invitations/{id}/resend': async () => {
    const [made, another] = [await cars.invite(), await cars.invite()];
    clock.advance(2 * limits.invitationResendPauseMs);
    const path = ({ invitationId }: { invitationId: string }) =>
      `/${cars.tenant}/sharing/invitations/${invitationId}/resend`;
    return {
      send: async (key, change) => post(await admin(cars.tenant), path(change ? another : made), undefined, key),
      counted: ['invitation_delivery', cars.tenant],
    };
  },
  '/{tenant}/sharing/invitations/accept': async () => {
    const { requestToken } = await cars.invite();
    return {
      send: async (key, change) => {
        const acceptor = { type: 'user', id: change ? 'other' : 'bob' };
        return post(
          await admin(cars.tenant),
          `/${cars.tenant}/sharing/invitations/accept`,
          { acceptor, requestToken },
          key,
        );
      },
      counted: ['invitation_use', cars.tenant],
    };
  },
  '/{tenant}/sharing/invitations/decline': async () => {
    const [{ requestToken }, other] = [await cars.invite(), await cars.invite()];
    return {
      send: async (key, change) => {
        const said = { requestToken: change ? other.requestToken : requestToken };
        return post(await admin(cars.tenant), `/${cars.tenant}/sharing/invitations/decline`, said, key);
      },
      counted: ['audit_entry', cars.tenant],
    };
  },
  '/{tenant}/sharing/invitations/{id}/accept': () => received('accept', 'invitation_use'),
  '/{tenant}/sharing/invitations/{id}/decline': () => received('decline', 'audit_entry'),
  '/{tenant}/consents': () => consents('', (change) => ({ ...item('news', '1 a en'), userId: 'ann', ...change })),
  '/{tenant}/consents/refusals': () =>
    consents('/refusals', (change) => ({ ...item('news', '1 a en'), userId: 'ann', ...change })),
  '/{tenant}/consents/invitations': async () => {
    const one = await consents('/invitations', (change) => ({ userId: 'ann', name: 'news', ...change }));
    await post(await admin(one.tenant), `/${one.tenant}/consents`, { ...item('news', '1 a en'), userId: 'ann' });
    await one.put('/news/versions/2', one.direct);
    await one.put('/news/versions/2/documents/en/a', { effectiveDate: one.from(day) });
    await one.end('news', '1', { startDate: 2 * day, endDate: 9 * day, gracePeriod: 'P1D' });
    clock.advance(3 * day);
    await server.services.snapshots.refresh(one.tenant);
    return one;
  },
  '/tenants/{tenant}/policies/{policyName}/revisions/{number}/restore': async () => {
    const config = await configClient(server, cars.tenant);
    for (const outcome of ['allow', 'deny'] as const)
      await config('PUT', '/policies/restored', { body: { rego: says(outcome) } });
    return {
      send: async (key, change) =>
        config('POST', `/policies/restored/revisions/${change ? 2 : 1}/restore`, { headers: keyed(key) }),
      counted: ['policy_revision', cars.tenant],
    };
  },
  '/tenants/{tenant}/policy-libraries/{package}/revisions/{number}/restore': () =>
    parts('policy-libraries/restored', (n) => ({ modules: [{ name: 'm', rego: `package restored\nx := ${n}` }] })),
  '/tenants/{tenant}/policy-data/{path}/revisions/{number}/restore': () =>
    parts('policy-data/again', (n) => ({ value: { n } })),
  '/tenants/{tenant}/clients/{id}/secrets': async () => {
    const config = await configClient(server, cars.tenant, 'security-admin');
    for (const id of ['shop', 'other-shop'])
      await config('PUT', `/clients/${id}`, { body: { grantTypes: ['client_credentials'] } });
    return {
      send: async (key, change) =>
        config('POST', `/clients/${change ? 'other-shop' : 'shop'}/secrets`, { headers: keyed(key) }),
      counted: ['oauth_client_secret', cars.tenant],
    };
  },
  '/tenants/{tenant}/event-stream/subscriptions': async () => {
    const config = await configClient(server, cars.tenant, 'security-admin');
    const body = { endpoint: 'https://hooks.example/accord', eventTypes: ['*'] };
    return {
      send: async (key, change = {}) =>
        config('POST', '/event-stream/subscriptions', { body: { ...body, ...change }, headers: keyed(key) }),
      counted: ['event_subscription', cars.tenant],
    };
  },
  '/tenants/{tenant}/event-stream/subscriptions/{id}/secret/rotate': async () => {
    const config = await configClient(server, cars.tenant, 'security-admin');
    const body = { endpoint: 'https://hooks.example/accord', eventTypes: ['*'] };
    for (const id of ['hook', 'other-hook']) await config('PUT', `/event-stream/subscriptions/${id}`, { body });
    return {
      send: async (key, change) =>
        config('POST', `/event-stream/subscriptions/${change ? 'other-hook' : 'hook'}/secret/rotate`, {
          headers: keyed(key),
        }),
      counted: ['audit_entry', cars.tenant],
    };
  },
  '/{tenant}/mail/messages': async () => ({
    send: async (key, change = {}) => {
      const variables = { name: 'Ann', actionUrl: 'https://cars.example/accept', expiresAt: '2030-01-01T00:00:00Z' };
      const to = { type: 'email', value: 'ann@example.org' };
      const body = { template: 'relationship-invitation', to, variables, ...change };
      return post(await admin(cars.tenant), `/${cars.tenant}/mail/messages`, body, key);
    },
    counted: ['mail_message', cars.tenant],
  }),
  '/tenants/{tenant}/members/invitations': async () => ({
    send: async (key, change = {}) => {
      const config = await configClient(server, cars.tenant, 'security-admin');
      const body = { email: 'new@example.org', role: 'support', ...change };
      return config('POST', '/members/invitations', { body, headers: keyed(key) });
    },
    counted: ['member_invitation', cars.tenant],
  }),
};

/** As members of the tenant. */
const memberRoutes: typeof routes = {
  '/tenants/{tenant}/actors/{type}/{id}/relationships': async () => {
    const config = await configClient(server, cars.tenant, 'security-admin');
    return {
      send: async (key, change = {}) => {
        const body = { relationshipType: 'drives', to: { type: 'car', id: JSON.stringify(change) } };
        return config('POST', '/actors/user/by-member/relationships', { body, headers: keyed(key) });
      },
      counted: ['relationship', cars.tenant],
    };
  },
  '/tenants/{tenant}/sharing/invitations': async () => {
    const config = await configClient(server, cars.tenant, 'security-admin');
    return {
      send: async (key, change = {}) => {
        const body = offer({ reason: 'ticket 1', ...change });
        return config('POST', '/sharing/invitations', { body, headers: keyed(key) });
      },
      counted: ['invitation', cars.tenant],
    };
  },
  '/tenants/{tenant}/sharing/invitations/{id}/resend': async () => {
    const config = await configClient(server, cars.tenant, 'security-admin');
    const mailed = async () => {
      const made = await post(
        await admin(cars.tenant),
        `/${cars.tenant}/sharing/invitations`,
        offer({ delivery: 'mail' }),
      );
      return made.body.invitationId as string;
    };
    const [made, another] = [await mailed(), await mailed()];
    clock.advance(2 * limits.invitationResendPauseMs);
    return {
      send: async (key, change) =>
        config('POST', `/sharing/invitations/${change ? another : made}/resend`, { headers: keyed(key) }),
      counted: ['invitation_delivery', cars.tenant],
    };
  },
  '/tenants/{tenant}/consents': async () => {
    const { tenant, config } = await givable();
    return {
      send: async (key, change = {}) => {
        const body = { ...item('news', '1 a en'), userId: 'ann', reason: 'She said so on the phone.', ...change };
        return config('POST', '/consents', { body, headers: keyed(key) });
      },
      counted: ['ledger_inbox', tenant],
    };
  },
  '/tenants/{tenant}/consents/{id}/revoke': async () => {
    const { tenant, config } = await givable();
    const reason = 'She said so on the phone.';
    const given = async (userId: string) => {
      const made = await config('POST', '/consents', { body: { ...item('news', '1 a en'), userId, reason } });
      return made.body.id as string;
    };
    const [ann, bea] = [await given('ann'), await given('bea')];
    return {
      send: async (key, change) =>
        config('POST', `/consents/${change ? bea : ann}/revoke`, { body: { reason }, headers: keyed(key) }),
      counted: ['user_consent', tenant],
    };
  },
};
Object.assign(routes, memberRoutes);

/** Of invitations that a person finds by its verified address. */
async function received(verb: 'accept' | 'decline', table: string) {
  const [made, another] = [await cars.invite(), await cars.invite()];
  const bob = await server.user(cars.tenant, 'bob', 'bob.builder@example.com');
  const send: Send = async (key, change) => {
    const { invitationId } = change ? another : made;
    return post(bob, `/${cars.tenant}/sharing/invitations/${invitationId}/${verb}`, undefined, key);
  };
  return { send, counted: [table, cars.tenant] as [string, string] };
}

/** A tenant with a document that may be consented to, and its security admin. */
async function givable() {
  const { tenant, define } = await consenting(server, clock);
  await define('news', { '1 a en': 1000 });
  clock.advance(2000);
  await server.services.snapshots.refresh(tenant);
  return { tenant, config: await configClient(server, tenant, 'security-admin') };
}

async function parts(path: string, bodyOf: (n: number) => object) {
  const config = await configClient(server, cars.tenant);
  for (const n of [1, 2]) expect((await config('PUT', `/${path}`, { body: bodyOf(n) })).status).toBe(200);
  const send: Send = async (key, change) =>
    config('POST', `/${path}/revisions/${change ? 2 : 1}/restore`, { headers: keyed(key) });
  return { send, counted: ['policy_part_revision', cars.tenant] as [string, string] };
}

async function consents(path: string, bodyOf: (change?: object) => object) {
  const tenant = await consenting(server, clock);
  await tenant.define('news', { '1 a en': 1000 });
  clock.advance(2000);
  await server.services.snapshots.refresh(tenant.tenant);
  const send: Send = async (key, change) =>
    post(await admin(tenant.tenant), `/${tenant.tenant}/consents${path}`, bodyOf(change), key);
  return { ...tenant, send, counted: ['ledger_inbox', tenant.tenant] as [string, string] };
}

function changeOf(path: string): object {
  if (path.includes('consents')) return { name: 'other' };
  if (path.includes('mail')) return { language: 'nl' };
  if (path.includes('subscriptions')) return { maxPerSecond: 7 };
  if (path.includes('members')) return { email: 'other@example.org' };
  return { maxUses: 1 };
}

async function allowEverybody(tenant: string) {
  const config = await configClient(server, tenant);
  const rego = 'package p\noutcome := "allow"';
  expect((await config('PUT', '/policies/user%3Adrives%3Acar%3Acreate', { body: { rego } })).status).toBe(200);
}

describe('every POST that creates', () => {
  test('is here, and says so in the OpenAPI document', async () => {
    const document = (await server.app.inject('/openapi.json')).json();
    type Operation = { post?: { parameters?: { name: string }[] } };
    const posts = Object.entries(document.paths as Record<string, Operation>).filter(([, { post: one }]) => one);
    const hasKey = ([, { post: one }]: [string, Operation]) =>
      one?.parameters?.some(({ name }) => name === 'idempotency-key') ?? false;
    const keyedPaths = posts.filter(hasKey).map(([path]) => path);
    const elsewhere = [
      '/{tenant}/relationships/import', // test/relationships
      '/tenants/{tenant}/relationships/import',
      '/tenants/{tenant}/portal-tokens', // needs a session of the portal: test/portal/caller.test.ts
    ];
    expect(keyedPaths.sort()).toEqual([...Object.keys(routes), ...elsewhere].sort());
    // These make nothing, or nobody in particular asks.
    const reads =
      /^\/authz\/|\/access\/v1\/|\/policies\/\{policyName\}\/(test|replay)$|\/decisions\/\{id\}\/explain$|\/(preview|graphql)$/;
    const others = posts.filter((one) => !hasKey(one)).map(([path]) => path);
    expect(others.filter((path) => !reads.test(path)).sort()).toEqual([
      '/portal/invitations/redeem', // exactly once by its token
      '/tenants/{tenant}/accounts/{id}/reset', // each sends a mail, and only the last link works
      '/tenants/{tenant}/actors/{type}/{id}/erase', // repeated, it goes on, or erases what came since
      // They send again, and a receiver knows an event by its id.
      '/tenants/{tenant}/event-stream/subscriptions/{id}/deliveries/{delivery}/retry',
      '/tenants/{tenant}/event-stream/subscriptions/{id}/replay',
      '/tenants/{tenant}/event-stream/subscriptions/{id}/replays/{replay}/cancel', // again is no error
      '/tenants/{tenant}/event-stream/subscriptions/{id}/test',
      '/tenants/{tenant}/keys/rotate', // asked again, it rotates again, as the command does
      '/tenants/{tenant}/mail/test', // each sends a mail to whoever tries it
      // These write nothing.
      '/tenants/{tenant}/policy-format',
      '/tenants/{tenant}/resources/manifest/check',
      '/tenants/{tenant}/tokens/check',
      '/{tenant}/actors/{type}/{id}/erase',
      '/{tenant}/mail/bounces', // repeated, it says the same
    ]);
  });

  test.each(Object.keys(routes))('%s acts once; another request of the key is 422', async (path) => {
    const { send, counted } = await (routes[path] as (typeof routes)[string])();
    const key = randomUUID();
    const first = await send(key);
    expect([first.status, first.body.code]).toEqual([
      expect.toSatisfy((n) => n === 200 || n === 201 || n === 202),
      undefined,
    ]);
    expect(first.headers['idempotency-replayed']).toBeUndefined();
    const done = await count(...counted);
    const again = await send(key);
    const isSecret = ['requestToken', 'url', 'clientSecret', 'signingSecret'].some((name) => name in first.body);
    if (isSecret) {
      expect([again.status, again.body.code]).toEqual([409, 'idempotency_answer_not_kept']);
      expect(again.headers.location).toBe(first.headers.location);
      expect(JSON.stringify(again.body)).not.toContain(
        String(first.body.requestToken ?? first.body.url ?? first.body.clientSecret ?? first.body.signingSecret),
      );
    } else {
      expect([again.status, again.body]).toEqual([first.status, first.body]);
      expect(again.headers).toMatchObject({
        'idempotency-replayed': 'true',
        'accord-revision': first.headers['accord-revision'],
        'content-type': first.headers['content-type'],
      });
      expect(again.headers.location).toBe(first.headers.location);
    }
    const denials = counted[0] === 'ledger_inbox' && isSecret ? 1 : 0;
    expect(await count(...counted)).toBe((done as number) + denials);
    const other = await send(key, changeOf(path));
    expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused']);
  });
});

describe('a key', () => {
  test('of two requests at once is acted on once, and the other may ask again', async () => {
    const before = (await count('audit_entry', cars.tenant)) as number;
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 8 }, relate('race', key)));
    const acted = answers.filter(({ status, headers }) => status === 201 && !headers['idempotency-replayed']);
    const waiting = answers.filter(({ status }) => status === 409);
    expect(acted).toHaveLength(1);
    for (const { body, headers } of waiting)
      expect([body.code, headers['retry-after']]).toEqual(['idempotency_key_in_use', '1']);
    expect(
      acted.length + waiting.length + answers.filter(({ headers }) => headers['idempotency-replayed']).length,
    ).toBe(8);
    expect(await count('audit_entry', cars.tenant)).toBe(before + 1);
    expect((await relate('race', key)()).headers['idempotency-replayed']).toBe('true');
  });

  test('of a request that was refused is free: nothing was done', async () => {
    const key = randomUUID();
    const url = `/${cars.tenant}/actors/user/alice/relationships`;
    const wrong = await post(
      await admin(cars.tenant),
      url,
      { relationshipType: 'flies', to: { type: 'car', id: '1' } },
      key,
    );
    expect(wrong.body.code).toBe('type_unknown');
    expect((await relate('after', key)()).status).toBe(201);
  });

  test('of a request whose commit failed is free; of one whose answer got lost it is not', async () => {
    const key = randomUUID();
    const breaking = (when: string) =>
      asAdmin(
        server.db.adminUrl,
        `create function accord.break() returns trigger language plpgsql as $$ begin raise 'broken'; end $$;
         create ${when === 'commit' ? 'constraint' : ''} trigger breaking ${when === 'commit' ? 'after insert on accord.relationship deferrable initially deferred' : 'before update on accord.idempotency_key'}
         for each row execute function accord.break()`,
      );
    const mend = (table: string) =>
      asAdmin(server.db.adminUrl, `drop trigger breaking on accord.${table}; drop function accord.break()`);
    await breaking('commit');
    expect((await relate('crash', key)()).status).toBe(500);
    await mend('relationship');
    await breaking('answer');
    expect((await relate('crash', key)()).status).toBe(201);
    await mend('idempotency_key');
    const asked = await relate('crash', key)();
    expect([asked.status, asked.body.code, asked.headers['retry-after']]).toEqual([409, 'idempotency_key_in_use', '1']);
    clock.advance(limits.idempotencyAnswerWaitMs);
    expect((await relate('crash', key)()).body.code).toBe('idempotency_answer_not_kept');
  });

  test('is its caller’s, its route’s and its tenant’s', async () => {
    const key = randomUUID();
    await allowEverybody(cars.tenant);
    const url = `/${cars.tenant}/actors/user/carol/relationships`;
    const body = { relationshipType: 'drives', to: { type: 'car', id: 'own' } };
    expect((await post(await admin(cars.tenant), url, body, key)).status).toBe(201);
    const own = await post(await server.user(cars.tenant, 'carol'), url, body, key);
    expect([own.status, own.headers['idempotency-replayed']]).toEqual([200, undefined]);
    const elsewhere = await post(await admin(cars.tenant), `/${cars.tenant}/sharing/invitations`, offer(), key);
    expect(elsewhere.status).toBe(200);
    const other = await invitingTenant(server);
    expect((await post(await admin(other.tenant), url.replace(cars.tenant, other.tenant), body, key)).status).toBe(201);
    const address = await post(await admin(cars.tenant), url.replace('carol', 'dave'), body, key);
    expect(address.body.code).toBe('idempotency_key_reused');
  });

  test('is remembered for idempotencyKeptMs, and then swept', async () => {
    const tenant = await invitingTenant(server);
    const key = randomUUID();
    const send = async () =>
      post(
        await admin(tenant.tenant),
        `/${tenant.tenant}/actors/user/a/relationships`,
        { relationshipType: 'drives', to: { type: 'car', id: '1' } },
        key,
      );
    expect((await send()).status).toBe(201);
    clock.advance(limits.idempotencyKeptMs - 1);
    expect((await send()).headers['idempotency-replayed']).toBe('true');
    await removeExpired(server.services.idempotency);
    expect(await count('idempotency_key', tenant.tenant)).toBe(1);
    clock.advance(1);
    const anew = await send();
    expect([anew.status, anew.headers['idempotency-replayed']]).toEqual([200, undefined]);
    clock.advance(limits.idempotencyKeptMs);
    expect(await removeExpired(server.services.idempotency)).toBeGreaterThan(0);
    expect(await count('idempotency_key', tenant.tenant)).toBe(0);
  });

  test.each([
    ['of idempotencyKeyCharsMax characters', 'k'.repeat(limits.idempotencyKeyCharsMax), 201],
    ['of one more', 'k'.repeat(limits.idempotencyKeyCharsMax + 1), 400],
    ['of none', '', 400],
    ['with a space', 'a b', 400],
    ['with an umlaut', 'ä', 400],
  ])('%s', async (name, key, status) => {
    const answer = await relate(`syntax ${name}`, key)();
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.body).toMatchObject({ errors: [{ pointer: '/headers/idempotency-key' }] });
  });

  test('an answer of idempotencyAnswerBytesMax is stored, a longer one is not', async () => {
    const tenant = await consents('', () => ({}));
    const url = `/${tenant.tenant}/consents`;
    const items = (n: number, last: number) =>
      Array.from({ length: n }, (_, i) => ({
        ...item('news', '1 a en'),
        userId: `u${i}`,
        proof: { text: 'p'.repeat(i === n - 1 ? last : 3000) },
      }));
    const token = await admin(tenant.tenant);
    const [one, another] = [randomUUID(), randomUUID()];
    const probe = await post(token, url, items(5, 1), randomUUID());
    const room = limits.idempotencyAnswerBytesMax - Buffer.byteLength(JSON.stringify(probe.body)) + 1;
    const erase = () =>
      asAdmin(server.db.adminUrl, 'delete from accord.user_consent where tenant = $1', [tenant.tenant]);
    await erase();
    const fits = await post(token, url, items(5, room), one);
    expect(Buffer.byteLength(JSON.stringify(fits.body))).toBe(limits.idempotencyAnswerBytesMax);
    await erase();
    await post(token, url, items(5, room + 1), another);
    expect((await post(token, url, items(5, room), one)).body).toEqual(fits.body);
    expect((await post(token, url, items(5, room + 1), another)).body.code).toBe('idempotency_answer_not_kept');
  });

  test('that is old is found by its age among 10,000 others', async () => {
    const tenant = await server.tenant();
    await asAdmin(
      server.db.adminUrl,
      `insert into accord.idempotency_key (tenant, caller, id, request, created_at)
       select $1, (n % 100)::text, n::text, '', $2::timestamptz - make_interval(secs => n * 8.65) from generate_series(1, 10000) n`,
      [tenant, new Date(clock.now()).toISOString()],
    );
    await asAdmin(server.db.adminUrl, 'analyze accord.idempotency_key');
    const since = new Date(clock.now() - limits.idempotencyKeptMs).toISOString();
    const plan = await server.services.database.system(async (tx) => {
      let lines: { 'QUERY PLAN': string }[] = [];
      const explaining = {
        run: async (statement: Sql) => {
          lines = await tx.many(PlanRow, sql`explain ${statement}`);
          return 0;
        },
      };
      await removeOld(explaining as unknown as Transaction, since, 10_000);
      return lines.map((line) => line['QUERY PLAN']).join('\n');
    });
    expect(plan).toContain('idempotency_key_created');
    expect(plan).not.toContain('Seq Scan');
  });

  test('a user has idempotencyKeysPerUserMax of them at once', async () => {
    const tenant = await invitingTenant(server);
    await allowEverybody(tenant.tenant);
    const token = await server.user(tenant.tenant, 'alice');
    const url = `/${tenant.tenant}/actors/user/alice/relationships`;
    const send = (key: string) => post(token, url, { relationshipType: 'drives', to: { type: 'car', id: '1' } }, key);
    expect((await send('first')).status).toBe(201);
    const fill = (n: number) =>
      asAdmin(
        server.db.adminUrl,
        `insert into accord.idempotency_key (tenant, caller, id, request, created_at)
         select tenant, caller, n::text, '', created_at from accord.idempotency_key, generate_series(1, $2) n where tenant = $1`,
        [tenant.tenant, n],
      );
    await fill(limits.idempotencyKeysPerUserMax - 2);
    expect((await send('last')).status).toBe(200);
    const past = await send('more');
    const seconds = Number(past.headers['retry-after']);
    expect([past.status, Math.ceil(seconds / 3600)]).toEqual([429, 24]); // when the oldest is forgotten
    expect([past.headers['ratelimit-policy'], past.headers.ratelimit]).toEqual([
      '"idempotency-keys";q=1000;w=86400',
      `"idempotency-keys";r=0;t=${seconds}`,
    ]);
    expect((await send('first')).headers['idempotency-replayed']).toBe('true');
  });

  const erika = (tenant: string) => ({
    ...{ tenant, type: 'user', id: 'erika', isUser: true, contacts: [], replacement: 'erased:x' },
  });

  test.each([
    [limits.erasePageItemsMax - 1, 1],
    [limits.erasePageItemsMax, 2],
  ])('%i answers of a tenant are wiped in %i portions', async (count, portions) => {
    const { tenant } = await invitingTenant(server);
    await asAdmin(
      server.db.adminUrl,
      `insert into accord.idempotency_key (tenant, caller, id, request, created_at, answer)
        select $1, 'c', n::text, 'r', now(), 'a' from generate_series(1, $2::int) n`,
      [tenant, count],
    );
    const { eraseSome } = erasingIdempotency(server.services.idempotency.encrypter);
    let [position, made]: [string | undefined, number] = [undefined, 0];
    do {
      const before: string | undefined = position;
      position = (await server.services.database.tenant(tenant, (tx) => eraseSome(tx, erika(tenant), before))).next;
      made++;
    } while (position !== undefined);
    const text = 'select count(*)::int as n from accord.idempotency_key where tenant = $1 and answer is not null';
    expect([made, await asAdmin(server.db.adminUrl, text, [tenant])]).toEqual([portions, [{ n: 0 }]]);
  });

  test.each([
    ['is under way', "'{}'", '1 day', false],
    ['ended after the request began', 'null', '-1 second', false],
    ['ended long before', 'null', '1 day', true],
  ])('an answer is stored only when no erasure of the tenant %s', async (_when, progress, ago, stored) => {
    const { tenant } = await invitingTenant(server);
    await asAdmin(
      server.db.adminUrl,
      `insert into accord.erased_actor (tenant, pseudonym, type, is_user, erased_at, progress)
        values ($1, repeat('t', 43), 'user', true, $2::timestamptz - $3::interval, ${progress})`,
      [tenant, new Date(clock.now()).toISOString(), ago],
    );
    const body = { relationshipType: 'drives', to: { type: 'car', id: '1' } };
    const url = `/${tenant}/actors/user/frank/relationships`;
    expect((await post(await admin(tenant), url, body, 'late')).status).toBe(201);
    const text = 'select answer is not null as stored from accord.idempotency_key where tenant = $1';
    expect(await asAdmin(server.db.adminUrl, text, [tenant])).toEqual([{ stored }]);
  });

  test('nothing of it can be read in the database, and an actor is forgotten with the answers about it', async () => {
    const tenant = await invitingTenant(server);
    await allowEverybody(tenant.tenant);
    const url = `/${tenant.tenant}/actors/user/erika/relationships`;
    const body = { relationshipType: 'drives', to: { type: 'car', id: 'secret-car' } };
    await post(await server.user(tenant.tenant, 'erika'), url, body, 'erika-key');
    await post(await admin(tenant.tenant), url, body, 'backend-key');
    const rows = () =>
      asAdmin<object>(server.db.adminUrl, 'select k::text from accord.idempotency_key k where tenant = $1', [
        tenant.tenant,
      ]);
    const text = JSON.stringify(await rows());
    for (const word of ['erika', 'secret-car', 'backend', Buffer.from('erika').toString('hex')])
      expect(text).not.toContain(word);
    const { services } = server;
    const { removed } = await services.database.tenant(tenant.tenant, (tx) =>
      erasingIdempotency(services.idempotency.encrypter).eraseSome(tx, erika(tenant.tenant), undefined),
    );
    expect([removed, (await rows()).length]).toEqual([{ idempotencyKeys: 1 }, 1]);
    clock.advance(limits.idempotencyAnswerWaitMs);
    const again = await post(await admin(tenant.tenant), url, body, 'backend-key');
    expect([again.status, again.body.code]).toEqual([409, 'idempotency_answer_not_kept']);
  });

  test('of an import stands for its importId', async () => {
    const send = async (lines: string[], key: string) => {
      const response = await server.app.inject({
        method: 'POST',
        url: `/${cars.tenant}/relationships/import`,
        headers: {
          authorization: `Bearer ${await admin(cars.tenant)}`,
          'content-type': 'application/x-ndjson',
          ...keyed(key),
        },
        payload: lines.join('\n'),
      });
      return { status: response.statusCode, body: response.json() };
    };
    const line = (id: string) =>
      JSON.stringify({ from: { type: 'user', id }, relationshipType: 'drives', to: { type: 'car', id: 'import' } });
    const first = await send([line('i1')], 'import');
    expect(first.body).toMatchObject({ created: 1 });
    expect(await send([line('i1')], 'import')).toEqual(first);
    expect((await send([line('i2')], 'import')).body.code).toBe('import_lines_differ');
    expect((await send([line('i2')], 'import-2')).body).toMatchObject({ created: 1 });
  });
});
