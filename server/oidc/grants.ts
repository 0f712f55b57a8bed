/** The grant behind a user's tokens: what the user, or for a first-party client the tenant, allows a client. */
import type { Grant, KoaContextWithOIDC } from 'oidc-provider';
import { addAllowed } from './client-consents.ts';
import type { Granted } from './schema.ts';

/** `lastsMs`: for which refresh tokens last that are issued now. */
type Services = {
  nowMs: number;
  firstParty: boolean;
  lastsMs: number;
  /** What the person allowed the client before; `isLocked`: as of now, whoever is taking it back. */
  allowed: (account: string, clientId: string, isLocked?: boolean) => Promise<Granted | undefined>;
};

/** oidc-provider's `loadExistingGrant`: that of the session, which a first-party client gets without being asked for. */
export async function grantFor(
  ctx: KoaContextWithOIDC,
  { nowMs, firstParty, lastsMs, allowed }: Services,
): Promise<Grant | undefined> {
  const { client, session, result, provider } = ctx.oidc;
  if (client === undefined || session?.accountId === undefined) return undefined;
  const id = result?.consent?.grantId ?? session.grantIdFor(client.clientId);
  const found = id === undefined ? undefined : await provider.Grant.find(id);
  // Somebody else's is none: one browser may have logged in as another person.
  const own = found?.accountId === session.accountId && found.clientId === client.clientId ? found : undefined;
  const grant = own ?? new provider.Grant({ accountId: session.accountId, clientId: client.clientId });
  if (!firstParty) {
    const known = await allowed(session.accountId, client.clientId);
    if (known === undefined || !addAllowed(ctx, grant, known)) return own && lasting(own, nowMs + lastsMs);
    await save(grant);
    // Taking it back removes grants that are there: one that is saved while it happens must not stay.
    if ((await allowed(session.accountId, client.clientId, true)) !== undefined) return grant;
    await grant.destroy();
    return undefined;
  }
  if (!addAsked(ctx, grant) && grant.jti) return lasting(grant, nowMs + lastsMs);
  await save(grant);
  return grant;
}

/** Adds to a grant what the request asks for. @returns whether it did not have all of it */
function addAsked(ctx: KoaContextWithOIDC, grant: Grant): boolean {
  const before = JSON.stringify([grant.openid, grant.resources]);
  const asked = [...ctx.oidc.requestParamScopes].filter((scope) => scope !== '');
  if (asked.length > 0) grant.addOIDCScope(asked.join(' '));
  const claims = [...ctx.oidc.requestParamClaims];
  if (claims.length > 0) grant.addOIDCClaims(claims);
  for (const [resource, server] of Object.entries(ctx.oidc.resourceServers ?? {})) {
    if (server.scope) grant.addResourceScope(resource, server.scope);
  }
  return JSON.stringify([grant.openid, grant.resources]) !== before;
}

/** A grant that ends before the refresh tokens that are issued now would end these. */
async function lasting(grant: Grant, untilMs: number): Promise<Grant> {
  if ((grant.exp ?? 0) * 1000 < untilMs) await save(grant);
  return grant;
}

async function save(grant: Grant): Promise<void> {
  const lifetime = grant as { exp?: number | undefined; iat?: number | undefined };
  lifetime.exp = undefined;
  lifetime.iat = undefined;
  await grant.save();
}
