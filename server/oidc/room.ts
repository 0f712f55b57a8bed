import { accountsRoom, logIn, readAccount } from '../accounts/index.ts';
import { invitationsRoom } from '../invitations/index.ts';
import {
  type DenyingUnit,
  denyClientTokens,
  denyGrantTokens,
  denySubjectTokens,
  denyToken,
  keysRoom,
} from '../keys/index.ts';
import { LOG_IN_COMMAND } from '../pages/index.ts';
import { defineRoom } from '../room/room.ts';
import { snapshotRoom } from '../snapshot/index.ts';
import { write, writesRoom } from '../writes/index.ts';
import { accountsOf } from './accounts.ts';
import { Beginnings } from './beginnings.ts';
import { registerBranding } from './branding-routes.ts';
import { createEnrichment, meterEnrichment } from './enrich.ts';
import { erasingRecords } from './erasing.ts';
import { registerInteractions } from './interactions.ts';
import { mount } from './mount.ts';
import { withOwnPages } from './own-pages.ts';
import { proofChecker } from './proofs.ts';
import { Providers } from './providers.ts';
import { forgetAccount } from './record-keys.ts';
import { sweeping } from './sweeping.ts';
import { extraClaims } from './token-claims.ts';
import { UpstreamClient } from './upstream-client.ts';
import { UpstreamRecords } from './upstream-records.ts';

export const oidcRoom = defineRoom({
  name: 'oidc',
  tables: ['client_consent', 'oidc_record'],
  create({ database, encrypter, clock, observe, outbound, baseUrl, portal = {} }, use) {
    const { snapshots, waitForRevision } = use(snapshotRoom);
    const writes = use(writesRoom);
    const accounts = use(accountsRoom);
    const enrichment = createEnrichment({ database, clock, observe });
    /** Refused here when it resolves, and by other servers when they serve its revision. */
    const deny = async (tenant: string, work: (unit: DenyingUnit) => Promise<void>) => {
      const author = { tenant, by: { actor: 'oidc' } };
      const { revision } = await write(writes, author, { locks: 'configuration' }, work);
      await waitForRevision(tenant, revision);
    };
    accounts.onAccountChanged(async (unit, { account, because }) => {
      if (because !== 'enabled') await forgetAccount(encrypter, unit, account);
    });
    const services = {
      ...{ database, encrypter, clock, observe, outbound, baseUrl, accounts, enrichment },
      writes,
      keys: use(keysRoom),
      beginnings: new Beginnings(clock),
      accountOf: accountsOf(accounts),
      extraClaims: extraClaims(enrichment),
      pages: { baseUrl },
      logInCommand: portal.logInLinks === true ? (portal.logInCommand ?? LOG_IN_COMMAND) : undefined,
      invitations: use(invitationsRoom),
      upstream: new UpstreamClient({ outbound, database, encrypter, clock, observe, baseUrl }),
      upstreamRecords: new UpstreamRecords({ database, encrypter, clock }),
      logIn: (tenant: string, request: Parameters<typeof logIn>[2]) => logIn(accounts, tenant, request),
      account: (tenant: string, id: string) => readAccount(accounts, tenant, id),
      denyToken: (tenant: string, jti: string, expiresAtMs: number) =>
        deny(tenant, (unit) => denyToken(unit, jti, expiresAtMs)),
      denySubject: (tenant: string, account: string) => deny(tenant, (unit) => denySubjectTokens(unit, account)),
      denyGrant: (tenant: string, account: string | undefined, clientId: string) =>
        deny(tenant, (unit) =>
          account === undefined ? denyClientTokens(unit, clientId) : denyGrantTokens(unit, account, clientId),
        ),
    };
    const providers = new Providers(services, (tenant) => {
      const snapshot = snapshots.get(tenant);
      return snapshot && withOwnPages(snapshot, baseUrl);
    });
    snapshots.subscribe({
      channel: 'accord_keys',
      received: (tenant) => providers.forget(tenant),
      missed: () => providers.forget(),
    });
    return { ...services, writes, waitForRevision, providers, checkProof: proofChecker(services) };
  },
  routes(app, services) {
    mount(app, services);
    registerInteractions(app, services);
    registerBranding(app, services);
  },
  openapiTag: 'Authorization server',
  erasing: ({ encrypter }) => erasingRecords(encrypter),
  tasks: (services) => [sweeping(services)],
  metrics: (_services, meters) => meterEnrichment(meters),
  close: ({ enrichment }) => enrichment.close(),
});
