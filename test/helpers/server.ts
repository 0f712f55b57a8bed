/** A whole server on a database of its own: real services and routes, requests by inject or over a socket. */
import { randomBytes, randomUUID } from 'node:crypto';
import { createApp } from '../../server/app.ts';
import type { Scope } from '../../server/core/auth/schema.ts';
import type { Clock } from '../../server/core/clock.ts';
import { type Config, readConfig } from '../../server/core/config.ts';
import type { Observation } from '../../server/core/observe.ts';
import type { Writer } from '../../server/core/ownership.ts';
import type { App } from '../../server/http/fastify.ts';
import { mintClientToken, mintUserToken } from '../../server/keys/index.ts';
import { ensureLocalMember, mintPortalToken } from '../../server/members/index.ts';
import { type Compiler, createCompiler, regoRoom } from '../../server/rego/index.ts';
import type { PortalOptions } from '../../server/room/room.ts';
import { createServices, type Services } from '../../server/services.ts';
import { putTenant, type TenantSpec } from '../../server/tenants/index.ts';
import { closeAtEnd } from './closing.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';

export type TestServer = {
  app: App;
  services: Services;
  config: Config;
  db: TestDatabase;
  observations: Observation[];
  /** A tenant with a random code and its spec's defaults; served when it resolves. */
  tenant(spec?: Partial<TenantSpec>): Promise<string>;
  client(tenant: string, ...scopes: Scope[]): Promise<string>;
  /** @param email a verified one */
  user(tenant: string, id: string, email?: string): Promise<string>;
  member(tenant: string, role: 'security-admin' | 'config-editor' | 'config-viewer' | 'support'): Promise<string>;
};

export const masterKey = randomBytes(32).toString('base64url');
export const manifestWriter: Writer = {
  owner: { source: 'files', namespace: '', name: 'test', uid: 'u' },
  actor: 'operator:test',
};

export const tenantSpec = (spec: Partial<TenantSpec> = {}): TenantSpec => ({
  displayName: 'Test',
  audiences: ['https://api.test'],
  supportDesk: { enabled: true },
  tokenMapping: { actorIdClaimPath: 'sub', defaultActorType: 'user' },
  tokens: { signingAlgorithm: 'ES256', accessTokenTTL: 'PT1H' },
  decisionLog: { mode: 'off' },
  configAuthority: 'PerObject',
  deletionPolicy: 'Retain',
  managementPolicy: 'Enforce',
  adoptionPolicy: 'Refuse',
  ...spec,
});

/** The least that argon2id takes: 0.1 ms of CPU and not 34. test/accounts/log-in.test.ts has the real cost. */
export const passwordCost = { memoryKib: 8, passes: 1 };

const kept = globalThis as { __accordCompiler?: Compiler };

/** A compiler takes half a second of CPU until it compiles: the servers of a process have one, and nobody closes it. */
function compilerOfProcess(): Compiler {
  kept.__accordCompiler ??= createCompiler();
  return kept.__accordCompiler;
}

/** Call at the top of a file; it is closed after the file's tests. */
export async function createTestServer(
  environment: Record<string, string> = {},
  on?: TestDatabase,
  clock?: Clock,
  portal?: PortalOptions,
): Promise<TestServer> {
  const db = on ?? (await createTestDatabase());
  const config = readConfig({
    ACCORD_DATABASE_URL: db.url,
    ACCORD_MASTER_KEY: masterKey,
    ACCORD_BASE_URL: 'http://accord.test',
    ACCORD_LOG_LEVEL: 'silent',
    ACCORD_RATE_LIMIT: '0',
    ...environment,
  });
  const observations: Observation[] = [];
  const services = await createServices(config, {
    applicationName: 'serve',
    observe: (one) => observations.push(one),
    passwordCost,
    given: new Map([[regoRoom, { compiler: compilerOfProcess() }]]),
    ...(clock ? { clock } : {}),
    ...(portal ? { portal } : {}),
  });
  await services.snapshots.start();
  // The tests run in the same event loop, and on a busy machine it is late for reasons that are not the server's.
  const app = await createApp(config, services, { eventLoopDelayMsMax: 0 });
  await app.ready();
  closeAtEnd(async () => {
    await app.close();
    await services.snapshots.close();
    await services.close();
  });
  return {
    app,
    services,
    config,
    db,
    observations,
    async tenant(spec = {}) {
      const code = `t${randomUUID().replaceAll('-', '').slice(0, 12)}`;
      await putTenant(services.tenants, manifestWriter, code, tenantSpec(spec));
      await services.snapshots.refresh(code);
      return code;
    },
    client: async (tenant, ...scopes) =>
      (await mintClientToken(services.keys, tenant, { clientId: 'backend', scopes })).token,
    user: async (tenant, userId, email) =>
      (await mintUserToken(services.keys, tenant, { userId, ...(email === undefined ? {} : { email }) })).token,
    async member(tenant, role) {
      const member = await ensureLocalMember(services.members, tenant, role);
      return (await mintPortalToken(services.members, tenant, member, 'test')).token;
    },
  };
}
