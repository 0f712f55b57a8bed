/** Erasures that are interrupted, repeated, asked for by those who may not, or met by others at work; and who comes back. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { erasingAudit } from '../../server/audit/index.ts';
import { erasingDecisions } from '../../server/authz/index.ts';
import { limits } from '../../server/core/limits.ts';
import { type ErasureServices, eraseActor } from '../../server/erasure/index.ts';
import { sealWaiting, verifyLedger } from '../../server/ledger/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';
import { WallClock } from '../invitations/inviting.ts';
import { configClient } from '../policies/config-client.ts';
import { livingTenant, search } from './living.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
const { erasure, authz } = server.services;
const { ledger } = server.services.ledger;
const admin = <Row extends object>(text: string, values: unknown[] = []) =>
  asAdmin<Row>(server.db.adminUrl, text, values);
const traces = async (text: string) => {
  await authz.log.close();
  await ledger.close();
  return search(server.db.adminUrl, [text]);
};
const by = { actor: { type: 'cli', id: 'test' }, name: 'cli', requestId: 'test' };
const erase = (tenant: string, id: string, services: ErasureServices = erasure, forMs?: number) =>
  eraseActor(services, tenant, by, { type: 'user', id, contacts: [] }, forMs);
/** Megabytes are for one test only: whoever looks for traces reads all there is. */
const forThisTest = (table: 'decision' | 'audit_entry', tenant: string) =>
  onTestFinished(async () => {
    await admin(`delete from accord.${table} where tenant = $1`, [tenant]);
  });
/** Decisions about somebody, with a text of so many bytes, and perhaps somebody else's name. */
const largeDecisions = (tenant: string, count: number, id: string, bytes: number, other = 'nobody') => {
  forThisTest('decision', tenant);
  return admin(
    `insert into accord.decision (tenant, at, caller, action, request, answer, revision, duration_us)
      select $1, '2026-01-01T00:00:00Z'::timestamptz + make_interval(secs => n), 'client:b', 'a', jsonb_build_object(
        'subject', jsonb_build_object('id', $3::text, 'type', 'user'),
        'context', jsonb_build_object('text', repeat('x', $4::int), 'other', $5::text)), '{"outcome": "deny"}', 1, 1
      from generate_series(1, $2::int) n`,
    [tenant, count, id, bytes, other],
  );
};
const decisionPortions = async (tenant: string, id: string) => {
  const { eraseSome } = erasingDecisions(authz.scheduler);
  const person = { tenant, type: 'user', id, isUser: true, contacts: [], replacement: 'erased:x' };
  const sum = { decisions: 0, decisionsRewritten: 0 };
  let portions = 0;
  for (let position: string | undefined, left = true; left; portions++) {
    const { removed, next } = await server.services.database.tenant(tenant, (tx) => eraseSome(tx, person, position));
    sum.decisions += removed.decisions ?? 0;
    sum.decisionsRewritten += removed.decisionsRewritten ?? 0;
    [position, left] = [next, next !== undefined];
  }
  return [portions - 1, sum]; // the last one finds nothing
};
const item = { name: 'terms', version: '1', document: { version: 'a', language: 'en' } };

test('a record whose instant was written to the microsecond is looked at once, so that the erasure ends', async () => {
  const tenant = await server.tenant();
  await admin(
    `insert into accord.decision (tenant, at, caller, action, request, answer, revision, duration_us)
      select $1, '2026-01-01T00:00:00.0004567Z'::timestamptz + make_interval(secs => n), 'client:b', 'a',
        jsonb_build_object('subject', jsonb_build_object('id', who, 'type', 'user')), '{"outcome": "deny"}', 1, 1
      from (values (1, 'micro'), (2, 'other')) as v (n, who)`,
    [tenant],
  );
  const { eraseSome } = erasingDecisions(authz.scheduler);
  const person = { tenant, type: 'user', id: 'micro', isUser: true, contacts: [], replacement: 'erased:x' };
  const portions: (string | undefined)[] = [];
  do {
    const position = portions.at(-1);
    const { next } = await server.services.database.tenant(tenant, (tx) => eraseSome(tx, person, position));
    portions.push(next);
  } while (portions.at(-1) !== undefined && portions.length < 5);
  expect(portions).toEqual([expect.any(String), undefined]);
  const left = await admin(`select request #>> '{subject,id}' as id from accord.decision where tenant = $1`, [tenant]);
  expect(left).toEqual([{ id: 'other' }]);
});

describe('whoever was erased and comes back', () => {
  test('is recorded by name from then on, and can be erased again', async () => {
    const living = await livingTenant(server, clock);
    const { tenant, backend } = living;
    await living.live('carol', 'c@example.com', 'dan');
    await eraseActor(erasure, tenant, by, { type: 'user', id: 'carol', contacts: ['c@example.com'] });
    await living.look('carol', 'c@example.com');
    expect(await traces('carol')).toEqual([]);
    const carol = await living.user('carol');
    expect((await carol('POST', `/${tenant}/consents`, item)).status).toBe(201);
    expect((await carol('GET', `/${tenant}/consents/me`)).body.consents).toHaveLength(1);
    const { logs } = (await carol('GET', `/${tenant}/consents/events/me`)).body;
    expect(logs.map((one: { type: string; userId?: string }) => [one.type, one.userId])).toEqual([
      ['read', 'carol'],
      ['registered', 'carol'],
    ]);
    for (const table of ['erased_actor', 'erased_contact'])
      expect(await admin(`select * from accord.${table} where tenant = $1`, [tenant])).toEqual([]);
    const url = `/${tenant}/actors/user/carol/erase`;
    expect((await backend('POST', url)).body.removed).toMatchObject({ consents: 1, actors: 0 });
    expect(await traces('carol')).toEqual([]);
  });

  test.each(['an actor', 'a relationship', 'an import', 'an invitation'])('by %s', async (what) => {
    const { tenant, backend } = await livingTenant(server, clock);
    const relationship = { relationshipType: 'drives', to: { type: 'car', id: '1' } };
    const line = JSON.stringify({ from: { type: 'user', id: 'zoe-van-dam' }, ...relationship });
    const invitation = {
      ...relationship,
      invitor: { type: 'user', id: 'zoe-van-dam' },
      invitee: { contact: { type: 'email', value: 'x@y.z' } },
    };
    const write = {
      'an actor': () => backend('PUT', `/${tenant}/actors/user/zoe-van-dam`, {}),
      'a relationship': () => backend('POST', `/${tenant}/actors/user/zoe-van-dam/relationships`, relationship),
      'an import': () =>
        backend('POST', `/${tenant}/relationships/import`, line, { 'content-type': 'application/x-ndjson' }),
      'an invitation': () => backend('POST', `/${tenant}/sharing/invitations`, invitation),
    }[what] as () => ReturnType<typeof backend>;
    await erase(tenant, 'zoe-van-dam');
    expect((await write()).status).toBeLessThan(300);
    expect(await admin('select * from accord.erased_actor where tenant = $1', [tenant])).toEqual([]);
    await erase(tenant, 'zoe-van-dam');
    expect((await traces('zoe-van-dam')).filter((row) => row.includes(tenant))).toEqual([]);
  });
});

describe('an erasure that is interrupted', () => {
  /** Its second room fails at its first portion. */
  const failing = (): ErasureServices => {
    const [first, second, ...others] = erasure.rooms as [ErasureServices['rooms'][0], ErasureServices['rooms'][0]];
    let calls = 0;
    const fails: typeof second = {
      ...second,
      eraseSome: async (tx, person, position) => {
        const made = await second.eraseSome(tx, person, position);
        if (calls++ === 0) throw new Error('the connection is cut');
        return made;
      },
    };
    return { ...erasure, rooms: [first, fails, ...others] };
  };

  test('keeps others from writing about the person, and goes on where it was', async () => {
    const living = await livingTenant(server, clock);
    const { tenant, backend } = living;
    await living.live('frederik', 'f@example.com', 'gina');
    const services = failing();
    await expect(erase(tenant, 'frederik', services)).rejects.toThrow('the connection is cut');
    const relationship = { relationshipType: 'drives', to: { type: 'car', id: '1' } };
    const line = JSON.stringify({ from: { type: 'user', id: 'frederik' }, ...relationship });
    const fred = await living.user('frederik');
    const refused = [
      await backend('PUT', `/${tenant}/actors/user/frederik`, {}),
      await backend('POST', `/${tenant}/actors/user/frederik/relationships`, relationship),
      await backend('POST', `/${tenant}/relationships/import`, line, { 'content-type': 'application/x-ndjson' }),
      await fred('POST', `/${tenant}/consents`, { ...item, userId: 'frederik' }),
    ];
    // Its tokens are refused from the beginning.
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual([
      ...Array(3).fill([409, 'actor_being_erased']),
      [401, 'unauthenticated'],
    ]);
    const { status, removed } = await erase(tenant, 'frederik', services);
    expect(status).toBe('erased');
    expect(removed).toMatchObject({
      relationships: 4,
      actors: 1,
      consents: 1,
      invitationsSent: 1,
      invitationsReceived: 3,
    });
    expect(await traces('frederik')).toEqual([]);
    expect((await backend('PUT', `/${tenant}/actors/user/frederik`, {})).status).toBe(200);
  });

  test('answers 202 while more is left than fits into a request, and counts everything once', async () => {
    const { tenant } = await livingTenant(server, clock);
    const count = limits.deletePageItemsMax + 1;
    await admin(
      `insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id)
       select $1, 'user', 'holly', 'drives', 'car', n::text from generate_series(1, $2::int) n`,
      [tenant, count],
    );
    const portions: number[] = [];
    for (;;) {
      const { status, removed } = await erase(tenant, 'holly', erasure, 0);
      portions.push(removed.relationships ?? 0);
      if (status === 'erased') break;
    }
    expect([...new Set(portions)]).toEqual([0, limits.deletePageItemsMax, count]);
    expect(portions.at(-1)).toBe(count);
  });

  test('begun again with more addresses, it looks for those too', async () => {
    const living = await livingTenant(server, clock);
    const { tenant } = living;
    await living.live('ian', 'i.n@example.com', 'jane');
    const wanted = (...contacts: string[]) => ({ type: 'user', id: 'ian', contacts });
    let running = true;
    // The invitations are done, the rest is not.
    while (
      running &&
      (
        await admin<{ step: number }>(
          "select (progress ->> 'step')::int as step from accord.erased_actor where tenant = $1",
          [tenant],
        )
      )[0]?.step !== 1
    )
      running = (await eraseActor(erasure, tenant, by, wanted(), 0)).status === 'running';
    expect(running).toBe(true);
    const { removed } = await eraseActor(erasure, tenant, by, wanted('I.N@example.com'));
    expect(removed).toMatchObject({ invitationsSent: 1, invitationsReceived: 4 });
    expect(await traces('i***@example.com')).toEqual([]);
  });
});

describe('two calls for one person', () => {
  const wanted = (...contacts: string[]) => ({ type: 'user', id: 'uma', contacts });
  const running = async () => {
    const living = await livingTenant(server, clock);
    await living.live('uma', 'u.a@example.com', 'vic');
    return living.tenant;
  };

  test('the addresses of one count for the other, and without addresses those named before', async () => {
    const tenant = await running();
    const one = eraseActor(erasure, tenant, by, wanted('u.a@example.com'), 0);
    expect((await one).status).toBe('running');
    expect(await search(server.db.adminUrl, ['u.a@example.com'])).not.toContain(expect.stringMatching(/^erased_actor/));
    expect((await eraseActor(erasure, tenant, by, wanted('other@example.com'), 0)).status).toBe('running');
    const { status, removed } = await eraseActor(erasure, tenant, by, wanted());
    expect([status, removed.invitationsReceived]).toEqual(['erased', 4]);
    expect((await traces('u***@example.com')).filter((row) => row.includes(tenant))).toEqual([]);
  });

  test('addresses that another call names while one works are looked for by both', async () => {
    const tenant = await running();
    const [first, ...others] = erasure.rooms as [ErasureServices['rooms'][0]];
    let met = false;
    const after: ErasureServices['rooms'][0] = {
      keeps: [],
      eraseSome: async () => {
        met = true;
        return { removed: {} };
      },
    };
    const halted = { ...erasure, rooms: [first, after, ...others] };
    while (!met) await eraseActor(halted, tenant, by, wanted(), 0);
    await eraseActor(erasure, tenant, by, wanted('u.a@example.com'), 0);
    await eraseActor(erasure, tenant, by, wanted());
    expect((await traces('u***@example.com')).filter((row) => row.includes(tenant))).toEqual([]);
  });

  test('one that finds the erasure ended, and the person back, is answered with what is known', async () => {
    const tenant = await running();
    const [first, ...others] = erasure.rooms as [ErasureServices['rooms'][0]];
    const rooms = [first, { keeps: [], eraseSome: async () => ({ removed: { seen: 1 }, next: '' }) }, ...others];
    const clocked = {
      now: clock.now,
      calls: 0,
      monotonic: () => clocked.calls++,
    };
    const services = { ...erasure, rooms, clock: clocked };
    const gone = async () =>
      admin("delete from accord.erased_actor where tenant = $1 and (progress ->> 'step')::int = 1", [tenant]);
    const second = rooms[1] as ErasureServices['rooms'][0];
    const endless = second.eraseSome;
    let [calls, going]: [number, Promise<unknown>?] = [0];
    // It has to wait for the portion that is under way, which holds the row.
    second.eraseSome = (...args) => {
      if (++calls === 2) going = gone();
      return endless(...args);
    };
    const { status, removed } = await eraseActor(services, tenant, by, wanted());
    expect([status, removed.seen]).toEqual(['erased', expect.any(Number)]);
    await going;
  });

  test.each([
    [limits.eraseContactsMax, 'running'],
    [limits.eraseContactsMax + 1, 'invalid_request'],
  ])('%i addresses in all: %s', async (count, what) => {
    const tenant = await running();
    const named = Array.from({ length: count }, (_, i) => `A${i}@b.c`);
    await eraseActor(erasure, tenant, by, wanted(...named.slice(0, 9)), 0);
    const made = eraseActor(erasure, tenant, by, wanted(...named.slice(9)), 0);
    expect(
      await made.then(
        ({ status }) => status,
        ({ code }) => code,
      ),
    ).toBe(what);
  });
});

test('what an import said goes where it names the id as a whole', async () => {
  const { tenant } = await livingTenant(server, clock);
  const said = ['"1" is not JSON', 'user:1', '21 and 10 and 1a', 'it is (1)'].map((detail, line) => ({ line, detail }));
  await admin('insert into accord.relationship_import (tenant, id, errors) values ($1, uuidv7(), $2)', [
    tenant,
    JSON.stringify(said),
  ]);
  expect((await erase(tenant, '1')).removed).toMatchObject({ importErrors: 1 });
  const rows = await admin<{ errors: object }>('select errors from accord.relationship_import where tenant = $1', [
    tenant,
  ]);
  expect(rows).toEqual([{ errors: [said[2]] }]);
});

describe('bounds', () => {
  test.each([
    [limits.eraseScanBytesMax / limits.batchBodyBytesMax, 1],
    [limits.eraseScanBytesMax / limits.batchBodyBytesMax + 1, 2],
  ])('%i decisions that may have eraseScanBytesMax are looked through in %i portions', async (count, portions) => {
    const { tenant } = await livingTenant(server, clock);
    await largeDecisions(tenant, count, 'wendy', 1_000_000);
    expect(await decisionPortions(tenant, 'wendy')).toEqual([portions, { decisions: count, decisionsRewritten: 0 }]);
  });

  test.each([
    [limits.eraseRewriteBytesMax / 4 + 1, 4, 1],
    [limits.eraseRewriteBytesMax / 4, 5, 2],
  ])('decisions of %i bytes that name somebody: %i of them are read in %i portions', async (bytes, count, portions) => {
    const { tenant } = await livingTenant(server, clock);
    await largeDecisions(tenant, count, 'xena', bytes - 100, 'yves');
    expect(await decisionPortions(tenant, 'yves')).toEqual([portions, { decisions: 0, decisionsRewritten: count }]);
  });

  test('decisions that hold the id of another type only are read, and not counted as rewritten', async () => {
    const { tenant } = await livingTenant(server, clock);
    await largeDecisions(tenant, 2, 'vera', 10);
    await admin(
      `update accord.decision set request = jsonb_set(request, '{subject}', '{"id": "vera", "type": "robot"}') where tenant = $1`,
      [tenant],
    );
    expect(await decisionPortions(tenant, 'vera')).toEqual([1, { decisions: 0, decisionsRewritten: 0 }]);
    const { removed, kept } = await erase(tenant, 'vera');
    expect(removed.decisionsRewritten).toBe(0);
    expect(kept.map(({ what }) => what)).toContainEqual(
      expect.stringContaining('the same id of an actor or resource of'),
    );
  });

  test.each([
    ['looked through', limits.eraseScanBytesMax / limits.batchBodyBytesMax, 1_000_000, 'nobody', 1],
    ['looked through', limits.eraseScanBytesMax / limits.batchBodyBytesMax + 1, 1_000_000, 'nobody', 2],
    // The one that passes the bound is still in.
    ['read', 5, limits.eraseRewriteBytesMax / 4 - 1, 'zoe', 1],
    ['read', 5, limits.eraseRewriteBytesMax / 4, 'zoe', 2],
  ])('audit entries, %s: %i of %i bytes that name %s take %i portions', async (_, count, bytes, named, portions) => {
    const { tenant } = await livingTenant(server, clock);
    await admin('delete from accord.audit_entry where tenant = $1', [tenant]);
    forThisTest('audit_entry', tenant);
    await admin(
      `insert into accord.audit_entry (tenant, at, actor, action, object_kind, object_name, detail)
        select $1, '2026-11-01T00:00:00Z'::timestamptz + make_interval(secs => n), '"client:b"', 'put', 'entity', 'car/1',
          jsonb_build_object('by', named, 'text', repeat('x', $3 - octet_length(jsonb_build_object('by', named, 'text', '')::text)))
        from generate_series(1, $2::int) n, (select 'user:user:' || $4::text as named) as person`,
      [tenant, count, bytes, named],
    );
    const person = { tenant, type: 'user', id: 'zoe', isUser: true, contacts: [], replacement: 'erased:x' };
    let [calls, auditEntries] = [0, 0];
    for (let position: string | undefined, left = true; left; calls++) {
      const made = await server.services.database.tenant(tenant, (tx) => erasingAudit.eraseSome(tx, person, position));
      auditEntries += made.removed.auditEntries ?? 0;
      [position, left] = [made.next, made.next !== undefined];
    }
    expect([calls - 1, auditEntries]).toEqual([portions, named === 'zoe' ? count : 0]);
  });

  test.each([limits.erasePageItemsMax, limits.erasePageItemsMax + 1])(
    '%i invitations and ledger entries',
    async (count) => {
      const { tenant } = await livingTenant(server, clock);
      await admin(
        `insert into accord.invitation (tenant, id, status, from_type, name, to_type, direction, target_type, target_id, invitor_type,
        invitor_id, by_tenant, contact_type, contact_digest, contact_mask, binding, delivery, delivered_at, token_id, max_uses, expires_at, created_at)
       select $1, uuidv7(), 'pending', 'user', 'drives', 'car', 'acceptor_to_target', 'car', '1', 'user', 'kim', true, 'email', 'd', 'm', 'none',
        'mail', now(), uuidv7(), 1, now(), now() from generate_series(1, $2::int)`,
        [tenant, count],
      );
      await ledger.append(
        tenant,
        Array.from({ length: count }, () => ({
          type: 'read' as const,
          time: clock.now(),
          actor: { type: 'client', id: 'b' },
          userId: 'kim',
          outcome: 'given',
          requestId: 'r',
        })),
      );
      const { removed } = await erase(tenant, 'kim');
      expect(removed).toMatchObject({ invitationsSent: count, ledgerEntries: count });
      await until('the entries to be sealed', async () => {
        await sealWaiting(server.services.ledger);
        return (await admin('select from accord.ledger_inbox where tenant = $1', [tenant])).length === 0;
      });
      expect(await verifyLedger(server.services, tenant)).toMatchObject({ valid: true, entries: count + 2 });
    },
  );

  test.each([limits.eraseScanItemsMax, limits.eraseScanItemsMax + 1])(
    '%i decisions and audit entries',
    async (count) => {
      const { tenant } = await livingTenant(server, clock);
      await admin(
        `insert into accord.decision (tenant, at, caller, action, request, answer, revision, duration_us)
       select $1, '2026-01-01T00:00:00Z'::timestamptz + make_interval(secs => n), 'client:b', 'a', '{"subject": {"id": "leonora", "type": "user"}}', '{"outcome": "deny"}', 1, 1
       from generate_series(1, $2::int) n`,
        [tenant, count],
      );
      await admin(
        `insert into accord.audit_entry (tenant, actor, action, object_kind, object_name, detail)
       select $1, '"user:user:leonora"', 'put', 'actor', 'user/leonora', '{"acceptor": "user/leonora"}' from generate_series(1, $2::int) n`,
        [tenant, count],
      );
      const { removed } = await erase(tenant, 'leonora');
      expect(removed).toMatchObject({ decisions: count, auditEntries: count });
      expect(await traces('leonora')).toEqual([]);
    },
  );

  test.each([
    [limits.erasedTextsMax, true],
    [limits.erasedTextsMax + 1, false],
  ])('a decision of %i texts, recorded after an erasure', async (count, whole) => {
    const { tenant, backend } = await livingTenant(server, clock);
    await erase(tenant, 'mirabel');
    const question = {
      subject: { type: 'user', id: 'mirabel' },
      action: 'car:none',
      resource: { type: 'car', id: 'c' },
    };
    const known = [
      'subject',
      'type',
      'user',
      'id',
      'mirabel',
      'action',
      'car:none',
      'resource',
      'car',
      'c',
      'context',
      'list',
    ];
    const answer = ['outcome', 'deny', 'reason', 'policy_not_found'];
    const list = Array.from({ length: count - known.length - answer.length }, (_, i) => `text ${i}`);
    expect((await backend('POST', `/authz/${tenant}`, { ...question, context: { list } })).body.outcome).toBe('deny');
    expect(await traces('mirabel')).toEqual([]);
    const [row] = await admin<{ request: object }>('select request from accord.decision where tenant = $1', [tenant]);
    expect(row?.request).toMatchObject({ subject: { id: expect.stringMatching(/^erased:/) } });
    expect('context' in (row?.request ?? {})).toBe(whole);
  });

  test('an address in another form than the invited one, and what is no address, by its place', async () => {
    const { tenant, backend } = await livingTenant(server, clock);
    const invitee = { contact: { type: 'email', value: 'Otto@M\u00fcnchen.example' } };
    const invited = {
      relationshipType: 'drives',
      to: { type: 'car', id: '1' },
      invitor: { type: 'user', id: 'pia' },
      invitee,
    };
    expect((await backend('POST', `/${tenant}/sharing/invitations`, invited)).status).toBe(200);
    const erase = (...values: string[]) =>
      backend('POST', `/${tenant}/actors/user/otto/erase`, {
        contacts: values.map((value) => ({ type: 'email', value })),
      });
    const { status, body } = await erase('otto@example.com', 'Otto <otto@example.com>');
    expect([status, body.errors?.[0]?.pointer]).toEqual([400, '/contacts/1/value']);
    expect((await erase('otto@xn--mnchen-3ya.example')).body.removed).toMatchObject({ invitationsReceived: 1 });
  });

  test('as many addresses as a request may name', async () => {
    const { tenant, backend } = await livingTenant(server, clock);
    const contacts = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ type: 'email', value: `a${i}@b.c` }));
    const url = `/${tenant}/actors/user/max/erase`;
    expect((await backend('POST', url, { contacts: contacts(limits.eraseContactsMax) })).status).toBe(200);
    expect((await backend('POST', url, { contacts: contacts(limits.eraseContactsMax + 1) })).status).toBe(400);
  });

  test.each([
    [limits.erasePreviewMs - 1, true],
    [limits.erasePreviewMs, false],
  ])('a preview that has worked for %i ms is complete: %s', async (ms, complete) => {
    const { tenant } = await livingTenant(server, clock);
    const headers = { authorization: `Bearer ${await server.member(tenant, 'security-admin')}` };
    let asked = 0;
    erasure.clock = { now: clock.now, monotonic: () => (asked++ === 0 ? 0 : ms) };
    try {
      const url = `/tenants/${tenant}/actors/user/ned/erase/preview`;
      const answer = await server.app.inject({ method: 'POST', url, headers });
      expect([answer.statusCode, answer.json().complete]).toEqual([200, complete]);
    } finally {
      erasure.clock = clock;
    }
  });

  test.each([
    [limits.eraseRequestMs - 1, 200, 'erased'],
    [limits.eraseRequestMs, 202, 'running'],
  ])('a request that has worked for %i ms is answered %i', async (ms, code, status) => {
    const { tenant, backend } = await livingTenant(server, clock);
    const url = `/${tenant}/actors/user/ned/erase`;
    let asked = 0;
    erasure.clock = { now: clock.now, monotonic: () => (asked++ === 0 ? 0 : ms) };
    try {
      const answer = await backend('POST', url);
      expect([answer.status, answer.body.status]).toEqual([code, status]);
    } finally {
      erasure.clock = clock;
    }
    expect((await backend('POST', url)).body.status).toBe('erased');
  });
});

test('whoever looks while the person is erased writes nothing back', async () => {
  const living = await livingTenant(server, clock);
  const { tenant, backend } = living;
  await living.live('olga-maria', 'olga-maria@example.com', 'paul');
  const question = {
    subject: { type: 'user', id: 'olga-maria' },
    action: 'car:drive',
    resource: { type: 'car', id: '1' },
  };
  let over = false;
  let all = 0;
  const looking = Array.from({ length: 8 }, async () => {
    let count = 0;
    while (!over || count < 5) {
      const answers = await Promise.all([
        backend('POST', `/authz/${tenant}`, question),
        backend('GET', `/${tenant}/consents?userId=olga-maria`),
        backend('GET', `/${tenant}/consents/events?userId=olga-maria&limit=1`),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      count++;
      all++;
    }
    return count;
  });
  await until('somebody who looks', () => all > 0);
  const sealing = sealWaiting(server.services.ledger);
  const { status } = await eraseActor(erasure, tenant, by, {
    type: 'user',
    id: 'olga-maria',
    contacts: ['olga-maria@example.com'],
  });
  over = true;
  expect(status).toBe('erased');
  await Promise.all([...looking, sealing]);
  expect(await traces('olga-maria')).toEqual([]);
  await sealWaiting(server.services.ledger);
  expect(await verifyLedger(server.services, tenant)).toMatchObject({ valid: true });
});

describe('who may', () => {
  test('back ends with pg:tenant:admin and security-admins only', async () => {
    const { tenant } = await livingTenant(server, clock);
    const send = async (token: string, url: string) => {
      const response = await server.app.inject({ method: 'POST', url, headers: { authorization: `Bearer ${token}` } });
      return response.statusCode;
    };
    const path = '/actors/user/quinn/erase';
    const narrow = await server.client(tenant, 'relationships:write', 'consents:write');
    expect(await send(narrow, `/${tenant}${path}`)).toBe(403);
    expect(await send(await server.user(tenant, 'quinn'), `/${tenant}${path}`)).toBe(403);
    expect(await send(await server.client(tenant, 'pg:tenant:admin'), `/${tenant}${path}`)).toBe(200);
    const roles = ['config-editor', 'config-viewer', 'support', 'security-admin'] as const;
    const answers = await Promise.all(
      roles.map(async (role) => send(await server.member(tenant, role), `/tenants/${tenant}${path}`)),
    );
    expect(answers).toEqual([403, 403, 403, 200]);
  });

  test('of another tenant nothing is erased, nor an actor of another type with the same id', async () => {
    const [one, two] = [await livingTenant(server, clock), await livingTenant(server, clock)];
    for (const { backend, tenant } of [one, two])
      await backend('PUT', `/${tenant}/actors/user/ray`, { email: 'r@example.com' });
    const config = await configClient(server, one.tenant);
    await config('PUT', '/actor-types/robot', { body: {} });
    await one.backend('PUT', `/${one.tenant}/actors/robot/ray`, {});
    await erase(one.tenant, 'ray');
    expect((await two.backend('GET', `/${two.tenant}/actors/user/ray`)).status).toBe(200);
    expect((await one.backend('GET', `/${one.tenant}/actors/robot/ray`)).status).toBe(200);
    expect((await one.backend('GET', `/${one.tenant}/actors/user/ray`)).status).toBe(404);
  });

  test('a resource is no person, and an unknown tenant has none', async () => {
    const { tenant, backend } = await livingTenant(server, clock);
    expect((await backend('POST', `/${tenant}/actors/car/1/erase`)).body).toMatchObject({
      status: 400,
      errors: [{ pointer: '/params/type' }],
    });
    expect((await backend('POST', `/${tenant}/actors/nothing/1/erase`)).status).toBe(200);
    await expect(erase('nobody', 'x')).rejects.toMatchObject({ code: 'tenant_not_found' });
  });
});
