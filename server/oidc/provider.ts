/** One tenant's authorization server: oidc-provider with the tenant's keys, clients, accounts and storage. */
import type {
  Configuration,
  errors,
  JWKS,
  KoaContextWithOIDC,
  Provider,
  Client as ProviderClient,
} from 'oidc-provider';
import { type Client, isRegisteredRedirect, verifyClientSecret } from '../clients/index.ts';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import type { Observe } from '../core/observe.ts';
import type { Outbound } from '../core/outbound/outbound.ts';
import { deviceOf } from '../http/device.ts';
import { type identityKeys, ownIssuer, refreshTokenTtlMs } from '../keys/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import type { WriteServices } from '../writes/index.ts';
import type { AccountOf } from './accounts.ts';
import { actingScope } from './audience.ts';
import type { Beginnings } from './beginnings.ts';
import { failedAuthentication } from './client-authentication.ts';
import { findClientConsent } from './client-consents.ts';
import { metadataOf } from './client-metadata.ts';
import { common, lifetimes } from './configuration.ts';
import { listUsefulScopes } from './discovery.ts';
import { withFormPost } from './form-post.ts';
import { loggedInOf } from './forms.ts';
import { grantFor } from './grants.ts';
import { knowJwts } from './introspect.ts';
import { signAfterDenials } from './issued-at.ts';
import type { library } from './library.ts';
import { observed } from './observed.ts';
import { fetchThrough } from './outgoing.ts';
import { logOutNobody, type PageSources, pageSources, redirectByPage, switchPerson } from './page-sources.ts';
import { Records } from './records.ts';
import { type AccessSigner, resourceIndicators } from './resource-indicators.ts';
import type { ExtraClaims } from './token-claims.ts';

export type ProviderServices = {
  keys: Parameters<typeof identityKeys>[0];
  database: Database;
  encrypter: Encrypter;
  clock: Clock;
  observe: Observe;
  outbound: Outbound;
  baseUrl: string;
  accountOf: AccountOf;
  writes: WriteServices;
  extraClaims: ExtraClaims;
  pages: PageSources;
  denyToken: (tenant: string, jti: string, expiresAtMs: number) => Promise<void>;
  denySubject: (tenant: string, account: string) => Promise<void>;
  beginnings: Beginnings;
  /** What a client got for an account; without one, all of the client. */
  denyGrant: (tenant: string, account: string | undefined, clientId: string) => Promise<void>;
};

type Library = Awaited<ReturnType<typeof library>>;

/** The keys that a provider is built with. */
type ProviderKeys = { jwks: JWKS; access: AccessSigner };

type Made = { services: ProviderServices; current: () => TenantSnapshot; keys: ProviderKeys; lib: Library };

export function createProvider(made: Made): Provider {
  const { services, current, lib } = made;
  const { tenant } = current();
  const { errors } = lib;
  const records = new Records(services, {
    ...{ tenant, errors, client: (id) => metadata(current(), id) },
    clientCreatedAtMs: (id) => current().clients.get(id)?.createdAtMs,
    request: () => lib.Provider.ctx,
    begin: (model) => begin(made, model),
    device: () => deviceOf(lib.Provider.ctx?.get('user-agent')),
    loggedIn: () => loggedInOf(lib.Provider.ctx?.oidc.result),
    familyEnded: ({ account, clientId }) => services.denyGrant(tenant, account, clientId),
  });
  const pages = pageSources(services.pages, current);
  const OurProvider = withFormPost(lib, pages.formPost);
  const provider = new OurProvider(ownIssuer(services.baseUrl, tenant), configurationOf(made, records, pages));
  // What a proxy or a client says of host and scheme was replaced before it gets here (mount.ts).
  provider.proxy = true;
  judgeClients(provider, made);
  rememberClients(provider, current);
  endSessions(provider, records, (account) => services.denySubject(tenant, account));
  signAfterDenials(provider, lib, { clock: services.clock, current });
  observed(provider, services.observe, tenant);
  provider.use(withoutCors);
  provider.use(redirectByPage(services.pages, current));
  provider.use(logOutNobody(services.pages, current));
  provider.use(switchPerson(services.pages, current));
  provider.use(failedAuthentication);
  provider.use(knowJwts(services, current));
  provider.use(listUsefulScopes(current));
  return provider;
}

/** Outside of the library's requests a log-in under way is only continued. Nobody is asked whether nobody should be logged out. */
function begin({ services, current, lib }: Made, model: string): boolean {
  const { ctx } = lib.Provider;
  if (ctx === undefined) return true;
  if (model === 'Session' && ctx.oidc.route === 'end_session') return false;
  if (services.beginnings.take(current().tenant, model, ctx.ip)) return true;
  throw new lib.errors.TemporarilyUnavailable('this network has begun too many: try again in a minute');
}

/**
 * Which pages read an answer is decided before it gets here (mount.ts). The library lets any page read answers to a request
 * without an Origin, and those in which it has not found a client.
 */
const withoutCors: Parameters<Provider['use']>[0] = async (ctx, next) => {
  const decided = ctx.res.hasHeader('access-control-allow-origin');
  await next();
  if (decided) return;
  for (const name of ['access-control-allow-origin', 'access-control-expose-headers']) ctx.remove(name);
};

function metadata({ clients }: TenantSnapshot, id: string): object | undefined {
  const client = clients.get(id);
  return client?.enabled ? metadataOf(client) : undefined;
}

/** The library digests the metadata of a client at each request, to see whether it has changed. Clients of a snapshot do not. */
function rememberClients({ Client }: Provider, current: () => TenantSnapshot): void {
  const known = new WeakMap<Client, ProviderClient>();
  const find = Client.find.bind(Client);
  Client.find = async (id) => {
    const client = current().clients.get(id);
    if (!client?.enabled) return undefined;
    const found = known.get(client) ?? (await find(id));
    if (found !== undefined) known.set(client, found);
    return found;
  };
}

function configurationOf(
  { services, current, keys, lib }: Made,
  records: Records,
  pages: ReturnType<typeof pageSources>,
): Configuration {
  const { tenant, tenantCreatedAt } = current();
  const { encrypter, clock, outbound, baseUrl } = services;
  const path = new URL(ownIssuer(baseUrl, tenant)).pathname;
  const secret = (purpose: string) => encrypter.digest(Buffer.from(tenantCreatedAt), ['oidc', tenant, purpose]);
  const firstParty = (id: string | undefined) => current().clients.get(id ?? '')?.firstParty === true;
  return {
    ...common(),
    adapter: (model: string) => records.adapter(model),
    jwks: keys.jwks,
    cookies: cookies(baseUrl, path, secret('cookies')),
    ttl: lifetimes(current, () => clock.now()),
    fetch: fetchThrough(outbound, tenant) as NonNullable<Configuration['fetch']>,
    clientBasedCORS: (_ctx, origin) => current().spec.allowedOrigins?.includes(origin) ?? false,
    findAccount: (ctx, id) => services.accountOf(current(), id, ctx.oidc.client?.clientId),
    loadExistingGrant: (ctx) =>
      grantFor(ctx, {
        nowMs: clock.now(),
        firstParty: firstParty(ctx.oidc.client?.clientId),
        lastsMs: refreshTokenTtlMs(current().spec),
        allowed: (account, clientId, isLocked) => findClientConsent(services, { tenant, account, clientId }, isLocked),
      }),
    extraTokenClaims: (ctx, token) => services.extraClaims(current(), token, ctx),
    interactions: {
      policy: policyOf(lib, firstParty),
      url: (_ctx, interaction) => `${path}/interaction/${interaction.uid}`,
    },
    // RFC 7523bis: an assertion is for this issuer alone.
    assertJwtClientAuthClaimsAndHeader: async (ctx, claims) => {
      if (claims.aud === ctx.oidc.issuer) return;
      throw new lib.errors.InvalidClientAuth('aud of the assertion must be the issuer, as one string');
    },
    renderError: pages.error,
    features: features(lib.errors, { current, keys, pages, nonceSecret: secret('dpop') }),
  };
}

/** A session of an account that is gone asks who it is. The person allows a client of others to act for it. */
function policyOf({ interactionPolicy: { base, Check } }: Library, firstParty: (id: string | undefined) => boolean) {
  const policy = base();
  const gone = (ctx: KoaContextWithOIDC) => ctx.oidc.session?.accountId !== undefined && ctx.oidc.account === undefined;
  policy.get('login')?.checks.add(new Check('account_gone', 'the account is gone', gone));
  const unallowed = ({ oidc }: KoaContextWithOIDC) => {
    if (firstParty(oidc.client?.clientId)) return [];
    const isAllowed = (resource: string) => oidc.grant?.getResourceScope(resource).split(' ').includes(actingScope);
    return Object.keys(oidc.resourceServers ?? {}).filter((resource) => !isAllowed(resource));
  };
  const acting = new Check(
    'audience_missing',
    'requested audiences not granted',
    'consent_required',
    (ctx) => unallowed(ctx).length > 0,
    (ctx) => ({ missingAudiences: unallowed(ctx) }),
  );
  policy.get('consent')?.checks.add(acting);
  return policy;
}

function cookies(baseUrl: string, path: string, key: string): NonNullable<Configuration['cookies']> {
  const isSecure = baseUrl.startsWith('https:');
  const prefix = isSecure ? '__Secure-accord' : 'accord';
  const cookie = { signed: true, httpOnly: true, sameSite: 'lax' as const, overwrite: true, secure: isSecure };
  return {
    keys: [key],
    names: { session: `${prefix}_session`, interaction: `${prefix}_interaction`, resume: `${prefix}_resume` },
    long: { ...cookie, path },
    short: cookie,
  };
}

type Featured = {
  current: () => TenantSnapshot;
  keys: ProviderKeys;
  pages: ReturnType<typeof pageSources>;
  nonceSecret: string;
};

function features(
  lib: typeof errors,
  { current, keys, pages, nonceSecret }: Featured,
): NonNullable<Configuration['features']> {
  const enabled = true;
  return {
    devInteractions: { enabled: false },
    userinfo: { enabled },
    clientCredentials: { enabled },
    claimsParameter: { enabled },
    pushedAuthorizationRequests: { enabled },
    backchannelLogout: { enabled },
    // Retired keys, of which only the public halves are there.
    externalSigningSupport: { enabled, ack: 'experimental-01' },
    dPoP: { enabled, nonceSecret: Buffer.from(nonceSecret, 'base64url') },
    introspection: { enabled, allowedPolicy: async (_ctx, client, token) => mayKnow(client, token) },
    revocation: { enabled, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
    rpInitiatedLogout: { enabled, logoutSource: pages.logout, postLogoutSuccessSource: pages.loggedOut },
    deviceFlow: {
      enabled,
      charset: 'base-20',
      mask: '****-****',
      userCodeInputSource: pages.deviceCode,
      userCodeConfirmSource: pages.deviceConfirm,
      successSource: pages.deviceDone,
    },
    resourceIndicators: resourceIndicators(lib, current, keys.access),
  };
}

/** A client that cannot authenticate learns of its own tokens only. */
function mayKnow(client: ProviderClient, token: { clientId?: string | undefined }): boolean {
  return client.clientAuthMethod !== 'none' || token.clientId === client.clientId;
}

/** Secrets are compared by their digests, and addresses as the clients room compares them. */
function judgeClients(provider: Provider, { services, current }: Made): void {
  const prototype = provider.Client.prototype as unknown as {
    compareClientSecret(presented: string): boolean;
    redirectUriAllowed(uri: string): boolean;
    postLogoutRedirectUriAllowed(uri: string): boolean;
  };
  const registered = (clientId: string) => current().clients.get(clientId);
  prototype.redirectUriAllowed = function allowed(this: ProviderClient, uri: string): boolean {
    const client = registered(this.clientId);
    return client !== undefined && isRegisteredRedirect(client, uri);
  };
  prototype.postLogoutRedirectUriAllowed = function allowed(this: ProviderClient, uri: string): boolean {
    return registered(this.clientId)?.postLogoutRedirectUris.includes(uri) ?? false;
  };
  prototype.compareClientSecret = function compare(this: ProviderClient, presented: string): boolean {
    const client = current().clients.get(this.clientId);
    if (!client?.enabled) return false;
    return verifyClientSecret(services, current(), client, presented, services.clock.now());
  };
}

/**
 * The library ends the session of the browser's cookie. Those of the same log-in that other tabs made end with it, and so do
 * access tokens of the user: which of them are the session's is not known.
 */
function endSessions(provider: Provider, records: Records, deny: (account: string) => Promise<void>): void {
  type Ending = { uid: string; accountId?: string; destroyed: boolean };
  const prototype = provider.Session.prototype as unknown as { destroy(): Promise<void> };
  prototype.destroy = async function destroy(this: Ending): Promise<void> {
    await records.endSession(this.uid);
    if (this.accountId !== undefined) await deny(this.accountId);
    this.destroyed = true;
  };
}
