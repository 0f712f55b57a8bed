/** What tokens of the tenant's own issuer say of relationships and consents: by setting and by scope, whole or not at all. */
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { createMetrics } from '../../server/core/metrics.ts';
import type { Observation } from '../../server/core/observe.ts';
import { createEnrichment, type EnrichmentRequest, meterEnrichment } from '../../server/oidc/enrich.ts';
import type { TenantSpec } from '../../server/tenants/index.ts';
import { consenting, day, item } from '../consents/consenting.ts';
import { createTestServer } from '../helpers/server.ts';
import { WAIT_MS_MAX } from '../helpers/wait.ts';
import { WallClock } from '../invitations/inviting.ts';
import { sharingTenant } from '../relationships/sharing.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
const observations: Observation[] = [];
const enrichment = createEnrichment({
  database: server.services.database,
  clock,
  observe: (one) => observations.push(one),
  msMax: WAIT_MS_MAX, // enrich-outage.test.ts has the real one
});
const { claimsFor } = enrichment;
const database = new pg.Client({ connectionString: server.db.adminUrl });
await database.connect();
afterAll(async () => {
  await database.end();
  await enrichment.close();
});

const namespace = 'claims.test';
const relationshipsClaim = `https://${namespace}/relationships`;
const consentsClaim = `https://${namespace}/consents`;
const both = { namespace, relationships: true, consents: true };
const scopes = new Set(['openid', 'relationships', 'consents']);
const alice = { type: 'user', id: 'auth0|alice' };

/** A request for a token of a tenant as this server has it, with other settings of its claims. */
function asking(tenant: string, more: Partial<EnrichmentRequest> = {}, claims: TenantSpec['claims'] | 'none' = both) {
  const { spec, definitions } = server.services.consents.snapshotOf(tenant);
  const { claims: _, ...rest } = spec;
  return claimsFor({
    ...{ tenant, actor: alice, scopes, ...more },
    snapshot: { spec: { ...rest, ...(claims === 'none' ? {} : { claims }) }, definitions },
  });
}
const leftOut = () =>
  observations.splice(0).map((one) => (one.kind === 'claim_left_out' ? [one.claim, one.reason] : [one.kind]));

describe('the claims', () => {
  test('are direct relationships that hold now, as the list of the actor has them, whatever the id has in it', async () => {
    const { tenant, relate, backend } = await sharingTenant(server);
    expect(await asking(tenant)).toEqual({ [relationshipsClaim]: [], [consentsClaim]: [] });
    await relate('user/auth0|alice', 'is_owner_of', 'car/1');
    await relate('user/auth0|alice', 'member_of', 'group/g');
    await relate('user/auth0|alice', 'drives', 'car/2', new Date(clock.now() + day).toISOString());
    await relate('group/g', 'owns', 'car/3'); // inherited: not direct
    await relate('user/bob', 'drives', 'car/4');
    const { body } = await backend('GET', '/actors/user/auth0|alice/relationships');
    const drives = { relationshipType: 'drives', to: { id: '2', type: 'car' } };
    const others = [
      { relationshipType: 'is_owner_of', to: { id: '1', type: 'car' } },
      { relationshipType: 'member_of', to: { id: 'g', type: 'group' } },
    ];
    expect(body).toEqual([drives, ...others]);
    expect(await asking(tenant)).toEqual({ [relationshipsClaim]: body, [consentsClaim]: [] });
    clock.advance(day);
    expect(await asking(tenant)).toEqual({ [relationshipsClaim]: others, [consentsClaim]: [] });
    expect(await asking(tenant, { actor: { type: 'group', id: 'g' } })).toEqual({
      [relationshipsClaim]: [{ relationshipType: 'owns', to: { id: '3', type: 'car' } }],
    });
    expect(leftOut()).toEqual([]);
  });

  test("are the user's consents as GET consents/me lists them, the newest of each version; and nobody is invited by it", async () => {
    const { tenant, define, user, end, ledger } = await consenting(server, clock);
    await define('news', { '1 a en': 0, '1 b en': day, '2 a en': 2 * day });
    await define('terms', { '1 a en': 0 });
    const own = user('auth0|alice');
    const consents = async () => (await asking(tenant))[consentsClaim];
    await own('POST', '', item('news', '1 a en'));
    expect(await consents()).toEqual([{ name: 'news', version: '1', status: 'given' }]);
    clock.advance(day);
    expect(await consents()).toEqual([{ name: 'news', version: '1', status: 'valid' }]);
    await own('POST', '', item('news', '1 b en'));
    await own('POST', '', item('terms', '1 a en'));
    const all = [
      { name: 'terms', version: '1', status: 'given' },
      { name: 'news', version: '1', status: 'given' },
    ];
    expect(await consents()).toEqual(all);
    await end('news', '1', { startDate: day + 1000, endDate: 9 * day, gracePeriod: 'P1D' });
    clock.advance(day + 2000);
    const before = await ledger();
    // The version is on its way out, and a question by the user would be the first invitation.
    const valid = [all[0], { name: 'news', version: '1', status: 'valid' }];
    expect(await consents()).toEqual(valid);
    clock.advance(2 * day);
    expect(await consents()).toEqual(valid);
    expect(await ledger()).toEqual(before);
    expect((await own('GET', '/active?name=news&language=en')).body.status).toBe('grace');
    expect(await consents()).toEqual([all[0], { name: 'news', version: '1', status: 'grace' }]);
    clock.advance(2 * day);
    expect(await consents()).toEqual([all[0], { name: 'news', version: '1', status: 'expired' }]);
    const { body } = await own('GET', '/me');
    const listed = body.consents.map(({ name, version, status }: Record<string, string>) => ({
      name,
      version,
      status,
    }));
    expect(listed).toEqual([...((await consents()) as object[]), { name: 'news', version: '1', status: 'expired' }]);
    expect(await asking(tenant, { actor: { type: 'user', id: 'bob' } })).toMatchObject({ [consentsClaim]: [] });
    // Only actors of the tenant's default type have consents.
    expect(await asking(tenant, { actor: { type: 'group', id: 'auth0|alice' } })).toEqual({ [relationshipsClaim]: [] });
    expect(leftOut()).toEqual([]);
  });

  test.each<[string, Partial<EnrichmentRequest>, Parameters<typeof asking>[2], string[]]>([
    ['both', {}, both, [relationshipsClaim, consentsClaim]],
    ['only what the tenant has switched on', {}, { ...both, consents: false }, [relationshipsClaim]],
    ['only what the tenant has switched on (2)', {}, { ...both, relationships: false }, [consentsClaim]],
    ['none where the tenant has no settings', {}, 'none', []],
    ['only what was granted', { scopes: new Set(['openid', 'consents']) }, both, [consentsClaim]],
    [
      'none for other scopes',
      { scopes: new Set(['relationships:read', 'consents:read', 'pg:tenant:admin']) },
      both,
      [],
    ],
  ])('%s', async (_, more, claims, names) => {
    const tenant = await server.tenant();
    expect(Object.keys(await asking(tenant, more, claims))).toEqual(names);
    expect(leftOut()).toEqual([]);
  });

  test('another tenant has its own', async () => {
    const one = await sharingTenant(server);
    const other = await sharingTenant(server);
    await one.relate('user/auth0|alice', 'drives', 'car/1');
    expect((await asking(other.tenant))[relationshipsClaim]).toEqual([]);
    expect((await asking(one.tenant))[relationshipsClaim]).toHaveLength(1);
  });
});

describe('bounds: past one the claim is left out, never a part of it, and the other one is there', () => {
  const cars = async (count: number, length = 1) => {
    const world = await sharingTenant(server);
    const line = (n: number) => ({
      from: alice,
      relationshipType: 'drives',
      to: { type: 'car', id: `${n}`.padEnd(length, 'x') },
    });
    const raw = Array.from({ length: count }, (_, n) => `${JSON.stringify(line(n + 1))}\n`).join('');
    const imported = await world.backend('POST', '/relationships/import', { raw, type: 'application/x-ndjson' });
    expect(imported.body).toMatchObject({ created: count });
    return world;
  };

  test('claimRelationshipsMax', async () => {
    const { tenant, relate } = await cars(limits.claimRelationshipsMax);
    expect((await asking(tenant))[relationshipsClaim]).toHaveLength(limits.claimRelationshipsMax);
    expect(leftOut()).toEqual([]);
    await relate('user/auth0|alice', 'drives', 'car/more');
    expect(await asking(tenant)).toEqual({ [consentsClaim]: [] });
    expect(leftOut()).toEqual([['relationships', 'many']]);
  });

  test('claimConsentsMax', async () => {
    const { tenant, define } = await consenting(server, clock);
    await define('news', { '1 a en': 0 });
    const give = (from: number, to: number) =>
      database.query(
        `insert into accord.user_consent (tenant, user_id, definition, version, document, language, given_at)
          select $1, $2, 'news', '1', n::text, 'en', now() from generate_series($3::int, $4::int) n`,
        [tenant, alice.id, from, to],
      );
    await give(1, limits.claimConsentsMax);
    expect((await asking(tenant))[consentsClaim]).toEqual([{ name: 'news', version: '1', status: 'valid' }]);
    expect(leftOut()).toEqual([]);
    await give(limits.claimConsentsMax + 1, limits.claimConsentsMax + 1);
    expect(await asking(tenant)).toEqual({ [relationshipsClaim]: [] });
    expect(leftOut()).toEqual([['consents', 'many']]);
  });

  test('claimsBytesMax', async () => {
    const { tenant } = await cars(8, 1000);
    expect(await asking(tenant)).toEqual({ [consentsClaim]: [] });
    expect(leftOut()).toEqual([['relationships', 'large']]);
  });
});

test('a metric counts them', async () => {
  const metrics = createMetrics([meterEnrichment]);
  metrics.record({ kind: 'claim_left_out', tenant: 't', claim: 'consents', reason: 'late' });
  expect(await metrics.registry.metrics()).toContain(
    'accord_token_claims_left_out_total{claim="consents",reason="late"} 1',
  );
});
