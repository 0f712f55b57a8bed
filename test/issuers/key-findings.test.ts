/** What servers write down of issuers' keys, on a real Postgres and with real identity providers. */
import { randomUUID } from 'node:crypto';
import { Type } from 'typebox';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { JwksCache, type KeysFinding } from '../../server/core/auth/jwks.ts';
import { Nullable } from '../../server/core/db/rows.ts';
import { sql } from '../../server/core/db/sql.ts';
import { limits } from '../../server/core/limits.ts';
import { createOutbound } from '../../server/core/outbound/outbound.ts';
import { deleteIssuer, KeyFindings, putIssuer } from '../../server/issuers/index.ts';
import { nextLookMs } from '../../server/issuers/key-findings.ts';
import { baseUrl, createTestApp, operator } from '../access/test-app.ts';
import { startIdentityProvider } from '../core/auth/identity-provider.ts';
import { issuerSpec } from '../core/auth/tenant-auth.ts';
import { TestClock } from '../core/auth/test-clock.ts';
import { createTestDatabase } from '../helpers/database.ts';

const db = await createTestDatabase();
const { database } = db;
const world = await createTestApp(db);
const idp = await startIdentityProvider();
await idp.addKey('one');
const clock = new TestClock();
const services = { database, clock, encrypter: world.keyed.encrypter, baseUrl };
const maxStalenessMs = 15_000;
const servers: KeyFindings[] = [];

let tenant: string;
let count = 0;
beforeEach(async () => {
  await database.system((tx) => tx.run(sql`delete from accord.trusted_issuer`));
  tenant = `k${count++}-findings`;
  await world.tenant(tenant);
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  await database.system((tx) => tx.run(sql`delete from accord.server`));
  idp.answer = undefined;
  idp.requests.length = 0;
});

/** A server that lives, writes down what it finds when it is told to, and looks when it is told to. */
async function serve() {
  const server = randomUUID();
  await database.system((tx) => tx.run(sql`insert into accord.server (id) values (${server})`));
  const outbound = createOutbound({ allow: '127.0.0.0/8', ownListeners: () => [] });
  const jwks = new JwksCache({ outbound, clock, observe: () => {}, found: (finding) => findings.found(finding) });
  const asked: string[] = [];
  const look: JwksCache['look'] = (of, issuer) => {
    asked.push(issuer.issuer);
    return jwks.look(of, issuer);
  };
  const findings: KeyFindings = new KeyFindings({ database, server, look, maxStalenessMs });
  servers.push(findings);
  const lookAndRecord = async () => {
    await findings.look();
    await findings.record();
  };
  return { server, findings, jwks, asked, lookAndRecord };
}
const trust = (name: string, more: Record<string, unknown>) =>
  putIssuer(services, operator(name), tenant, name, issuerSpec({ actorIdPrefix: `${name}-`, ...more }));
const Row = Type.Object({ name: Type.String(), error: Nullable(Type.String()) });
const stored = () =>
  database.system((tx) => tx.many(Row, sql`select name, error from accord.issuer_keys order by name, server`));

test('keys are read without a token, once for all servers, and what was found is written down', async () => {
  await trust('good', { issuer: idp.issuer });
  await trust('bad', { issuer: 'http://127.0.0.1:9', jwksUri: 'http://127.0.0.1:9/keys' });
  const one = await serve();
  await one.lookAndRecord();
  expect(await stored()).toEqual([
    { name: 'bad', error: expect.stringMatching(/^http:\/\/127\.0\.0\.1:9\/keys: .*ECONNREFUSED/) },
    { name: 'good', error: null },
  ]);
  expect(idp.reads).toBe(1);
  const two = await serve();
  await two.lookAndRecord();
  expect(two.asked).toEqual([]);
  // Whoever lives no longer has found nothing.
  await database.system((tx) =>
    tx.run(sql`update accord.server set seen_at = now() - interval '1 minute' where id = ${one.server}`),
  );
  await two.lookAndRecord();
  expect(two.asked.toSorted()).toEqual(['http://127.0.0.1:9', idp.issuer].toSorted());
  expect(await stored()).toHaveLength(4);
});

test('what a token made a server read is written down as well, and what changed', async () => {
  await trust('idp', { issuer: idp.issuer, jwksUri: idp.jwksUri });
  const { jwks, findings } = await serve();
  const find = () => jwks.source(tenant, { issuer: idp.issuer, jwksUri: idp.jwksUri }).find('ES256', 'one');
  await find();
  await findings.record();
  expect(await stored()).toEqual([{ name: 'idp', error: null }]);
  idp.answer = (_, response) => response.writeHead(500).end();
  clock.advance(limits.jwksMaxAgeMs);
  await find();
  await findings.record();
  expect(await stored()).toEqual([{ name: 'idp', error: `${idp.jwksUri}: answered 500` }]);
});

test('keys that could not be had are looked for again after issuerLookRetryMs, and not before', async () => {
  await trust('idp', { issuer: 'http://127.0.0.1:9', jwksUri: 'http://127.0.0.1:9/keys' });
  const { asked, lookAndRecord } = await serve();
  await lookAndRecord();
  const ago = (ms: number) =>
    database.system((tx) =>
      tx.run(sql`update accord.issuer_keys set checked_at = now() - make_interval(secs => ${ms / 1000})`),
    );
  await ago(limits.issuerLookRetryMs - 10_000);
  await lookAndRecord();
  expect(asked).toHaveLength(1);
  await ago(limits.issuerLookRetryMs + 1);
  clock.advance(limits.jwksRetryMs);
  await lookAndRecord();
  expect(asked).toHaveLength(2);
});

test('issuerLooksMax are looked at in one round, and the next one in the next', async () => {
  const tenants = await Promise.all(
    [0, 1].map(async (n) => {
      const name = `${tenant}-${n}`;
      await world.tenant(name);
      return name;
    }),
  );
  const { asked, lookAndRecord } = await serve();
  await database.system((tx) =>
    tx.run(sql`insert into accord.trusted_issuer (tenant, name, spec, revision, owner, updated_by)
      select case when n % 2 = 0 then ${tenants[0]} else ${tenants[1]} end, 'i' || n,
        jsonb_build_object('issuer', 'http://127.0.0.1:9/' || n, 'jwksUri', 'http://127.0.0.1:9/' || n), 1, '{}', 'test'
      from generate_series(0, ${limits.issuerLooksMax}) n`),
  );
  await lookAndRecord();
  expect(asked).toHaveLength(limits.issuerLooksMax);
  await lookAndRecord();
  expect(new Set(asked).size).toBe(limits.issuerLooksMax + 1);
});

test('looks that find nothing come more and more slowly, and the next one that finds something ends that', async () => {
  expect([nextLookMs(0, 5000, 5000), nextLookMs(0, 20_000, 5000), nextLookMs(0, 30_000, 5000)]).toEqual([
    10_000, 30_000, 30_000,
  ]);
  expect(nextLookMs(1, 30_000, 5000)).toBe(5000);
  expect(nextLookMs(0, 3_600_000, 3_600_000)).toBe(3_600_000);
  await trust('idp', { issuer: idp.issuer });
  const { findings } = await serve();
  expect(await findings.look()).toBe(1);
  await findings.record();
  expect(await findings.look()).toBe(0);
});

test('a finding goes with the issuer, and one about an issuer that nobody trusts is not stored', async () => {
  await trust('idp', { issuer: idp.issuer });
  const { findings, lookAndRecord } = await serve();
  await lookAndRecord();
  expect(await stored()).toHaveLength(1);
  await deleteIssuer(services, operator('idp'), tenant, 'idp');
  expect(await stored()).toEqual([]);
  findings.found({ tenant, issuer: 'https://stranger.example', error: 'x' });
  await findings.record();
  expect(await stored()).toEqual([]);
});

test('when the URLs of an issuer change, what was found about the others counts no longer', async () => {
  await trust('idp', { issuer: 'http://127.0.0.1:9', jwksUri: 'http://127.0.0.1:9/keys' });
  const { lookAndRecord } = await serve();
  await lookAndRecord();
  await trust('idp', { issuer: 'http://127.0.0.1:9', jwksUri: idp.jwksUri });
  await lookAndRecord();
  expect(await stored()).toEqual([{ name: 'idp', error: null }]);
});

test('what an issuer says is stored as Postgres can hold it, up to issuerErrorCharsMax', async () => {
  await trust('idp', { issuer: idp.issuer });
  const { findings } = await serve();
  const about: Omit<KeysFinding, 'error'> = { tenant, issuer: idp.issuer };
  findings.found({ ...about, error: 'x'.repeat(limits.issuerErrorCharsMax) });
  await findings.record();
  expect((await stored())[0]?.error).toHaveLength(limits.issuerErrorCharsMax);
  findings.found({ ...about, error: `a\0b\ud800${'x'.repeat(limits.issuerErrorCharsMax)}` });
  await findings.record();
  expect((await stored())[0]?.error).toMatch(/^a\ufffdb\ufffdx+$/);
  expect((await stored())[0]?.error).toHaveLength(limits.issuerErrorCharsMax);
});
