import { JwksCache } from '../core/auth/jwks.ts';
import type { TenantAuth } from '../core/auth/schema.ts';
import { AccessTokens } from '../core/auth/token-cache.ts';
import type { Transaction } from '../core/db/database.ts';
import { countOfManifests } from '../core/db/owned.ts';
import { deniedAfter, deniedOf, isDenialName, isErasureName, loadDeniedTokens, loadPublicKeys } from '../keys/index.ts';
import { defineRoom } from '../room/room.ts';
import { byTenant, type SnapshotContext, snapshotPart, type TenantHead } from '../room/tenant-snapshot.ts';
import { snapshotRoom } from '../snapshot/index.ts';
import { writesRoom } from '../writes/index.ts';
import { trustedIssuersCheck } from './doctor.ts';
import { KeyFindings } from './key-findings.ts';
import { issuerProblem } from './problems.ts';
import { resourceKinds } from './resource-kind.ts';
import { registerIssuerRoutes } from './routes.ts';
import { authOf } from './rules.ts';
import { loadIssuers } from './store.ts';

declare module '../room/tenant-snapshot.ts' {
  interface SnapshotFields {
    auth: TenantAuth;
  }
}

async function loadAuth(tx: Transaction, head: TenantHead, { baseUrl }: SnapshotContext): Promise<TenantAuth> {
  const { tenant } = head;
  const [issuers, keys, denied] = await Promise.all([
    loadIssuers(tx, tenant),
    loadPublicKeys(tx, tenant),
    loadDeniedTokens(tx, tenant),
  ]);
  return authOf(head, issuers, keys, baseUrl, deniedOf(denied, head.revision));
}

export const issuersRoom = defineRoom({
  name: 'issuers',
  tables: ['issuer_keys', 'trusted_issuer'],
  create({ config, database, encrypter, baseUrl, outbound, clock, observe, server }, use) {
    const { waitForRevision } = use(snapshotRoom);
    const jwks: JwksCache = new JwksCache({ outbound, clock, observe, found: (finding) => findings.found(finding) });
    const findings = new KeyFindings({
      ...{ database, server, maxStalenessMs: config.ACCORD_MAX_STALENESS * 1000 },
      look: (tenant, issuer) => jwks.look(tenant, issuer),
    });
    return {
      ...use(writesRoom),
      ...{ outbound, observe },
      encrypter,
      baseUrl,
      waitForRevision,
      findings,
      jwks,
      tokens: new AccessTokens({ jwks, clock }),
    };
  },
  resourceKinds,
  routes: registerIssuerRoutes,
  openapiTag: 'Trusted issuers',
  snapshot: snapshotPart({
    key: 'auth',
    kinds: ['tenant', 'key', 'trusted_issuer', 'denied_token'],
    async loadAll(tx, { baseUrl }) {
      const issuers = byTenant(await loadIssuers(tx));
      const keys = byTenant(await loadPublicKeys(tx));
      const denied = byTenant(await loadDeniedTokens(tx));
      return (head) => {
        const { tenant, revision } = head;
        return authOf(head, issuers(tenant), keys(tenant), baseUrl, deniedOf(denied(tenant), revision));
      };
    },
    load: loadAuth,
    // A log-out denies tokens: those of others that were verified stay so (core/auth/token-cache.ts).
    async reload(tx, head, known, names, context) {
      if (!names.every(isDenialName)) return loadAuth(tx, head, context);
      const { tenant, revision } = head;
      if (names.some(isErasureName))
        return Object.freeze({ ...known, denied: deniedOf(await loadDeniedTokens(tx, tenant), revision) });
      const changed = await loadDeniedTokens(tx, tenant, known.denied.revision);
      const denied = deniedAfter(known.denied, changed, { revision, nowMs: context.clock.now() });
      return Object.freeze({ ...known, denied });
    },
    view: ({ issuers, ownKeys }) => ({ issuers: [...issuers.keys()], keys: ownKeys.map(({ jwk }) => jwk.kid) }),
  }),
  tenantRows: { countOfManifests: (tx, tenant) => countOfManifests(tx, tenant, 'trusted_issuer') },
  tasks: ({ findings }) => findings.tasks(),
  doctor: (services) => [trustedIssuersCheck(services)],
  problems: issuerProblem,
  close: ({ findings }) => findings.close(),
});
