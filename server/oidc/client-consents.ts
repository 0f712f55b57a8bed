/**
 * What persons allowed applications that the tenant does not vouch for. It lasts until the person takes it back: grants are of one
 * session (log-out ends them), and each is made of what was allowed before.
 */
import type { Grant, KoaContextWithOIDC } from 'oidc-provider';
import { accountAuthor } from '../accounts/index.ts';
import { utc } from '../core/instants.ts';
import { type WriteServices, write } from '../writes/index.ts';
import { actingScope } from './audience.ts';
import type { Granted } from './schema.ts';
import { putClientConsent, readClientConsent } from './store.ts';

export type ConsentServices = { writes: WriteServices };

/** Which person allowed which application. */
export type ConsentKey = { tenant: string; account: string; clientId: string };

/** @param isLocked whoever takes it back meanwhile waits until this is read, or it is gone */
export async function findClientConsent(
  { writes }: ConsentServices,
  { tenant, ...key }: ConsentKey,
  isLocked = false,
): Promise<Granted | undefined> {
  if (!isLocked) return (await writes.database.read(tenant, (tx) => readClientConsent(tx, tenant, key)))?.granted;
  const locked = await write(writes, { tenant }, { locks: 'records' }, ({ tx }) =>
    readClientConsent(tx, tenant, key, 'share'),
  );
  return locked.result?.granted;
}

/** Adds to what a person allowed an application. @param actorType of the tenant's users */
export async function addClientConsent(
  { writes }: ConsentServices,
  { tenant, account, clientId }: ConsentKey,
  allowed: Granted,
  { actorType, requestId }: { actorType: string; requestId: string },
): Promise<void> {
  await write(writes, accountAuthor(tenant, actorType, account, requestId), { locks: 'records' }, async (unit) => {
    const key = { account, clientId };
    const before = await readClientConsent(unit.tx, tenant, key, 'update');
    const granted = before === undefined ? allowed : union(before.granted, allowed);
    await putClientConsent(unit.tx, tenant, { ...key, granted, now: utc(unit.now) });
    const detail = { client: clientId, ...allowed };
    unit.audit({ action: 'allow', kind: 'client_consent', name: `${actorType}/${account}`, detail });
  });
}

const both = (one: readonly string[] = [], other: readonly string[] = []) => [...new Set([...one, ...other])].sort();

function union(one: Granted, other: Granted): Granted {
  const resources = both(Object.keys(one.resources), Object.keys(other.resources));
  return {
    scopes: both(one.scopes, other.scopes),
    claims: both(one.claims, other.claims),
    resources: Object.fromEntries(resources.map((name) => [name, both(one.resources[name], other.resources[name])])),
  };
}

/** Adds to a grant what the request asks for and was allowed before. @returns whether that is anything new */
export function addAllowed(ctx: KoaContextWithOIDC, grant: Grant, allowed: Granted): boolean {
  const before = JSON.stringify([grant.openid, grant.resources]);
  const asked = [...ctx.oidc.requestParamScopes];
  const scopes = [...ctx.oidc.requestParamOIDCScopes].filter((scope) => allowed.scopes.includes(scope));
  if (scopes.length > 0) grant.addOIDCScope(scopes.join(' '));
  const claims = [...ctx.oidc.requestParamClaims].filter((claim) => allowed.claims.includes(claim));
  if (claims.length > 0) grant.addOIDCClaims(claims);
  for (const [resource, server] of Object.entries(ctx.oidc.resourceServers ?? {})) {
    const known = allowed.resources[resource] ?? [];
    const granted = [...asked.filter((scope) => server.scopes.has(scope)), actingScope].filter((scope) =>
      known.includes(scope),
    );
    if (granted.length > 0) grant.addResourceScope(resource, granted.join(' '));
  }
  return JSON.stringify([grant.openid, grant.resources]) !== before;
}
