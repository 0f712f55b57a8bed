/** What an account has at its issuer: log-ins of browsers, and what applications may use. Its person sees it and ends it. */
import type { AuditedAuthor } from '../core/author.ts';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { utc } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import type { Observe } from '../core/observe.ts';
import type { Device } from '../http/device.ts';
import { denyGrantTokens, denySubjectTokens } from '../keys/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import { type ConfigWriteServices, write } from '../writes/index.ts';
import { scopesOfClaims } from './configuration.ts';
import type { Providers } from './providers.ts';
import { accountDigest, clientDigest, hash, openRecord } from './record-keys.ts';
import type { Payload } from './schema.ts';
import {
  deleteClientConsent,
  endSessions,
  isSessionLive,
  listClientConsentRows,
  readSessionsOfAccount,
  removeOfAccountAndClient,
} from './store.ts';

export type OfAccountServices = {
  database: Database;
  encrypter: Encrypter;
  clock: Clock;
  observe: Observe;
  providers: Providers;
  writes: Parameters<typeof write>[0] & ConfigWriteServices;
  waitForRevision: (tenant: string, revision: number) => Promise<unknown>;
};

/** A log-in of a browser. `id`: the hash of what its records share, base64url. */
export type IssuerSession = { id: string; since: string; lastUsed?: string; device: Device };

type Found = { id: string; uid: Buffer; payload: Payload };

/** Newest first, at most limits.accountItemsMax. */
export async function listIssuerSessions(
  services: OfAccountServices,
  tenant: string,
  account: string,
): Promise<IssuerSession[]> {
  const found = await sessionsOf(services, tenant, account);
  const sessions = [...Map.groupBy(found, ({ id }) => id)].map(([id, rows]): IssuerSession => {
    const payloads = rows.map(({ payload }) => payload).sort((a, b) => (b.usedAt ?? 0) - (a.usedAt ?? 0));
    const since = Math.min(...payloads.map(({ loginTs = 0 }) => loginTs));
    const { usedAt, device = {} } = payloads[0] as Payload;
    return { id, since: utc(since * 1000), ...(usedAt === undefined ? {} : { lastUsed: utc(usedAt * 1000) }), device };
  });
  return sessions.sort((a, b) => (a.since < b.since ? 1 : -1));
}

async function sessionsOf(
  { database, encrypter, clock }: OfAccountServices,
  tenant: string,
  account: string,
): Promise<Found[]> {
  const digest = accountDigest(encrypter, tenant, account);
  const rows = await database.read(tenant, (tx) =>
    readSessionsOfAccount(tx, tenant, { account: digest, now: utc(clock.now()), limit: limits.accountItemsMax }),
  );
  return rows.map(({ id, uid, payload }) => ({
    ...{ id: uid.toString('base64url'), uid },
    payload: openRecord(encrypter, { tenant, model: 'Session', id }, payload),
  }));
}

/** Which log-in a code came from, before it is exchanged; undefined for none that is valid. */
export async function issuerSessionOfCode(
  { providers }: OfAccountServices,
  tenant: TenantSnapshot,
  code: string,
): Promise<Buffer | undefined> {
  const { provider } = await providers.of(tenant);
  const uid = (await provider.AuthorizationCode.find(code))?.sessionUid;
  return uid === undefined ? undefined : hash(uid);
}

/** Whether the log-in has neither ended nor expired. */
export function isIssuerSessionLive(
  { database, clock }: OfAccountServices,
  tenant: string,
  uid: Buffer,
): Promise<boolean> {
  return database.read(tenant, (tx) => isSessionLive(tx, tenant, uid, utc(clock.now())));
}

type Ending = { tenant: TenantSnapshot; author: AuditedAuthor; account: string; name: string };

/**
 * Ends log-ins of an account. Access tokens that were issued to it until now are refused from the next decision on: which of them
 * are of a log-in is not known. Applications are told by the back channel.
 * @param ids those of the account are ended, others are not found
 * @returns how many
 */
export async function endIssuerSessions(
  services: OfAccountServices,
  ending: Ending,
  ids: readonly string[],
): Promise<number> {
  const { tenant: snapshot, author, account, name } = ending;
  const { tenant } = snapshot;
  const found = (await sessionsOf(services, tenant, account)).filter(({ id }) => ids.includes(id));
  const uids = new Map(found.map(({ id, uid }) => [id, uid]));
  if (uids.size === 0) return 0;
  const { revision } = await write(services.writes, author, { locks: 'configuration' }, async (unit) => {
    const expiresAt = utc(unit.now + limits.interactionTtlMs);
    for (const uid of uids.values()) await endSessions(unit.tx, tenant, uid, unit.nowText, expiresAt);
    await denySubjectTokens(unit, account);
    unit.changed('account', name, 'put', { endedSessions: uids.size });
  });
  await Promise.all([
    services.waitForRevision(tenant, revision),
    tellClients(
      services,
      snapshot,
      account,
      found.map(({ payload }) => payload),
    ),
  ]);
  return uids.size;
}

/** Ends all log-ins of an account but one. @param current its id; undefined: none is spared */
export async function endOtherSessions(
  services: OfAccountServices,
  ending: Ending,
  current: string | undefined,
): Promise<void> {
  for (;;) {
    const listed = await listIssuerSessions(services, ending.tenant.tenant, ending.account);
    const others = listed.flatMap(({ id }) => (id === current ? [] : [id]));
    if ((await endIssuerSessions(services, ending, others)) === 0) return;
  }
}

type Authorizations = Record<string, { sid?: string }>;
type Told = { backchannelLogoutUri?: string; backchannelLogout(account: string, sid: string): Promise<void> };

/** OpenID Connect Back-Channel Logout. Who does not answer is told in the log, and the session has ended all the same. */
async function tellClients(
  { providers, observe }: OfAccountServices,
  snapshot: TenantSnapshot,
  account: string,
  payloads: readonly Payload[],
): Promise<void> {
  const { provider } = await providers.of(snapshot);
  const told = payloads.flatMap(({ authorizations = {} }) => Object.entries(authorizations as Authorizations));
  await Promise.all(
    told.map(async ([clientId, { sid }]) => {
      try {
        const client = (await provider.Client.find(clientId)) as Told | undefined;
        if (client?.backchannelLogoutUri && sid !== undefined) await client.backchannelLogout(account, sid);
      } catch (error) {
        observe({ kind: 'backchannel_logout_failed', tenant: snapshot.tenant, client: clientId, error });
      }
    }),
  );
}

/** What an application was allowed, in one or several log-ins. */
export type GrantedClient = { clientId: string; scopes: string[]; since: string };

/** By the ids of the clients; applications of the tenant itself (first-party), for which nobody was asked, are not among them. */
export async function listGrantedClients(
  { database }: Pick<OfAccountServices, 'database'>,
  tenant: string,
  account: string,
): Promise<GrantedClient[]> {
  const rows = await database.read(tenant, (tx) => listClientConsentRows(tx, tenant, account));
  return rows.map(({ client_id: clientId, granted: { scopes, claims, resources }, created_at: since }) => ({
    clientId,
    scopes: [...new Set([...scopes, ...scopesOfClaims(claims), ...Object.values(resources).flat()])],
    since,
  }));
}

/**
 * Takes from an application what it was allowed: its refresh tokens, codes and opaque tokens of the account are gone, and its
 * access tokens are refused from the next decision on.
 * @returns false when it was allowed nothing
 */
export async function revokeClient(services: OfAccountServices, ending: Ending, clientId: string): Promise<boolean> {
  const { tenant: snapshot, author, account, name } = ending;
  const { tenant } = snapshot;
  const { encrypter } = services;
  const of = {
    account: accountDigest(encrypter, tenant, account),
    client: clientDigest(encrypter, tenant, clientId),
  };
  const { revision, result } = await write(services.writes, author, { locks: 'configuration' }, async (unit) => {
    // Before the records: a grant that is being made of it is found afterwards (grants.ts).
    if ((await deleteClientConsent(unit.tx, tenant, { account, clientId })) === 0) return false;
    await removeOfAccountAndClient(unit.tx, tenant, of);
    await denyGrantTokens(unit, account, clientId);
    unit.changed('account', name, 'put', { revokedClient: clientId });
    return true;
  });
  await services.waitForRevision(tenant, revision);
  return result;
}
