/** A small server of real parts: Postgres, keys, issuers, members and the access hook, with a route of each class. */
import { randomBytes } from 'node:crypto';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify from 'fastify';

import { JwksCache } from '../../server/core/auth/jwks.ts';
import type { TenantAuth } from '../../server/core/auth/schema.ts';
import { AccessTokens } from '../../server/core/auth/token-cache.ts';
import { createEncrypter } from '../../server/core/encrypter.ts';
import type { Observe } from '../../server/core/observe.ts';
import { createOutbound } from '../../server/core/outbound/outbound.ts';
import type { Owner, Writer } from '../../server/core/ownership.ts';
import { declareCaller, registerAccess } from '../../server/http/access.ts';
import { registerErrors } from '../../server/http/errors.ts';
import type { App } from '../../server/http/fastify.ts';
import { RateLimit } from '../../server/http/rate-limit.ts';
import { createValidatorCompiler } from '../../server/http/validation.ts';
import { authOf, loadIssuers, registerIssuerRoutes } from '../../server/issuers/index.ts';
import { loadPublicKeys, openInstallationKey, PublishedKeys, registerKeyRoutes } from '../../server/keys/index.ts';
import { authenticateMember, recordSupportUse, registerMemberRoutes } from '../../server/members/index.ts';
import { proofChecker } from '../../server/oidc/index.ts';
import { tenantRowsOf } from '../../server/room/room.ts';
import { rooms } from '../../server/rooms.ts';
import { ServedTenant, type TenantSnapshot } from '../../server/snapshot/index.ts';
import { disableTenant, eraseTenant, putTenant, readTenant, type TenantSpec } from '../../server/tenants/index.ts';
import { tenantWriter } from '../../server/writes/index.ts';
import { tenantSpec } from '../core/auth/tenant-auth.ts';
import { TestClock } from '../core/auth/test-clock.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import type { TestDatabase } from '../helpers/database.ts';

export const baseUrl = 'https://accord.example';
export const masterKey = randomBytes(32).toString('base64url');
const manifest = (name: string): Owner => ({ source: 'files', namespace: '', name, uid: name });
export const operator = (name: string): Writer => ({ owner: manifest(name), actor: `operator:files//${name}` });

export async function createTestApp(
  { database, observations }: TestDatabase,
  more: (app: App) => void = () => {},
  requestsPerSecond?: number,
) {
  const clock = new TestClock();
  const rates = requestsPerSecond === undefined ? undefined : new RateLimit(requestsPerSecond, clock);
  const observe: Observe = (observation) => observations.push(observation);
  const encrypter = createEncrypter(masterKey);
  const installationKey = await openInstallationKey({ database, encrypter });
  const keyed = { database, encrypter, pseudonymizer: encrypter, clock, baseUrl, installationKey, observe };
  const held = new Map<string, ServedTenant>();
  const waitForRevision = async (tenant: string) => {
    const loaded = await database.systemSnapshot(async (tx) => {
      const row = await readTenant(tx, tenant);
      if (!row || row.revision === 0) return undefined;
      const auth = authOf(row, await loadIssuers(tx, tenant), await loadPublicKeys(tx, tenant), baseUrl);
      return new ServedTenant({ tenant, active: row.state === 'active', auth } as TenantSnapshot, () => true);
    });
    if (loaded) held.set(tenant, loaded);
    else held.delete(tenant);
  };
  const outbound = createOutbound({ allow: '127.0.0.0/8', ownListeners: () => [] });
  const jwks = new JwksCache({ outbound, clock, observe });
  const tokens = new AccessTokens({ jwks, clock });
  const app = strictFastify(observe);
  declareCaller(app);
  registerAccess(app, {
    tenantOf: (tenant) => held.get(tenant),
    tokens,
    authenticateMember: (token, tenant) => authenticateMember(keyed, token, tenant),
    authenticatePortal: async () => {
      throw new Error('there is no portal here');
    },
    authenticateAccount: async () => {
      throw new Error('there are no account pages here');
    },
    recordSupportUse: (caller, use) => recordSupportUse(keyed, caller, use),
    checkProof: proofChecker({ ...keyed, clock }),
    observe,
    rates,
  });
  const write = tenantWriter({ database, clock });
  const published = new PublishedKeys(database);
  registerKeyRoutes(app, { database, encrypter, clock, waitForRevision, write, published });
  registerIssuerRoutes(app, { database, clock, encrypter, baseUrl, waitForRevision, jwks });
  registerMemberRoutes(app, keyed);
  more(app);
  await app.ready();
  closeAtEnd(() => app.close());
  const tenants = {
    database,
    clock,
    write,
    encrypter,
    rows: tenantRowsOf(rooms),
  };
  return {
    app,
    clock,
    tokens,
    keyed,
    waitForRevision,
    authOf: (tenant: string) => held.get(tenant)?.snapshot.auth as TenantAuth,
    async tenant(tenant: string, spec: Record<string, unknown> = {}, writer = operator(tenant)) {
      const written = await putTenant(tenants, writer, tenant, tenantSpec(spec) as TenantSpec);
      await waitForRevision(tenant);
      return written;
    },
    async disable(tenant: string) {
      await disableTenant(tenants, operator(tenant), tenant);
      await waitForRevision(tenant);
    },
    async erase(tenant: string) {
      await eraseTenant(tenants, operator(tenant), tenant);
      await waitForRevision(tenant);
    },
  };
}

function strictFastify(observe: Observe): App {
  const app = Fastify().withTypeProvider<TypeBoxTypeProvider>() as unknown as App;
  app.setValidatorCompiler(createValidatorCompiler({}) as never);
  registerErrors(app, observe);
  return app;
}

/** Sends a request; the status, the body and the headers. */
export async function send(
  app: App,
  method: 'GET' | 'PUT' | 'POST' | 'DELETE',
  url: string,
  options: { token?: string; body?: unknown; headers?: Record<string, string> } = {},
) {
  const response = await app.inject({
    method,
    url,
    headers: {
      ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
      ...options.headers,
    },
    ...(options.body === undefined ? {} : { payload: options.body as object }),
  });
  return {
    status: response.statusCode,
    body: response.body === '' ? undefined : response.json(),
    headers: response.headers,
  };
}
