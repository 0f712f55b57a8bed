/** The rules of trusted issuers, pure: what may be trusted, and what verification needs of it. */
import { apiVersion, checkManifest, type TrustedIssuerSpec } from '../../crds/index.ts';
import {
  algorithms,
  type ContactClaims,
  type DeniedTokens,
  type IssuerConfig,
  type TenantAuth,
} from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import { noneDenied, ownIssuer, type PublicKey } from '../keys/index.ts';
import type { TenantRow, TenantSpec } from '../tenants/index.ts';
import { issuerProblem } from './problems.ts';
import type { IssuerBody, IssuerRow, IssuerSpec } from './schema.ts';

/**
 * Checks a body of the Config API by the rules that manifests have.
 * @returns it with its defaults, and the secret of `login` that it brings
 * @throws Problem invalid_request with the places
 */
export function checkIssuerBody(
  tenant: string,
  name: string,
  body: IssuerBody,
): { spec: IssuerSpec; loginSecret: LoginSecret } {
  const { login, ...rest } = body;
  const { clientSecret: loginSecret, ...shown } = login ?? {};
  const spec = { ...rest, ...(login === undefined ? {} : { login: shown }), tenantRef: { name: tenant } };
  const checked = checkManifest({ apiVersion, kind: 'TrustedIssuer', metadata: { name, namespace: 'api' }, spec });
  if (checked.ok) return { spec: checked.manifest.spec as TrustedIssuerSpec, loginSecret };
  const errors = checked.errors.map(({ pointer, detail }) => ({ pointer: place(pointer), detail }));
  const detail = errors.map((error) => `${error.pointer} ${error.detail}`).join('; ');
  throw problem('invalid_request', { detail, errors });
}

function place(pointer: string): string {
  return pointer.startsWith('/metadata/name') ? '/params/name' : pointer.replace(/^\/spec/, '');
}

/** Of the log-in at an issuer. `null`: there is to be none. `undefined`: it is not told, and what is stored may stay. */
export type LoginSecret = string | null | undefined;

/** Whether a stored secret may be sent where the new settings send it: whoever cannot read it must not have it sent elsewhere. */
export function keepsLoginSecret(before: IssuerSpec | undefined, { issuer, login }: IssuerSpec): boolean {
  return (
    before?.login?.secretRef !== undefined && before.issuer === issuer && before.login.clientId === login?.clientId
  );
}

/** What the API's `secretRef` is called, which names no Secret: the value came in a body. */
const OF_API = { name: 'api' };

/**
 * The spec as it is stored for an API caller: with a secretRef where there is a secret.
 * @throws Problem login_secret_missing
 */
export function withLoginSecret(spec: IssuerSpec, before: IssuerSpec | undefined, secret: LoginSecret): IssuerSpec {
  const { login } = spec;
  if (login === undefined || login.secretRef !== undefined || secret === null) return spec;
  const hadOne = before?.login?.secretRef !== undefined;
  if (secret === undefined && !hadOne) return spec;
  if (secret === undefined && !keepsLoginSecret(before, spec)) {
    const detail = 'is required here: the stored one belongs to another issuer or clientId';
    throw issuerProblem('login_secret_missing', { errors: [{ pointer: '/login/clientSecret', detail }] });
  }
  return { ...spec, login: { ...login, secretRef: OF_API } };
}

/** A spec as a manifest has it, and what has to be done before it is applied. */
export function exportedIssuer(name: string, spec: IssuerSpec): { spec: IssuerSpec; comments?: string[] } {
  const { login } = spec;
  if (login?.secretRef?.name !== OF_API.name) return { spec };
  const secretRef = { name: `${name}-login` };
  return {
    spec: { ...spec, login: { ...login, secretRef } },
    comments: [`The Secret ${secretRef.name} needs the key client_secret.`],
  };
}

/** Only what belongs to the issuer: a manifest's spec has more. */
export function issuerSpecOf(spec: IssuerSpec): IssuerSpec {
  const {
    issuer,
    jwksUri,
    audiences,
    algorithms: accepted,
    tokenMapping,
    contactClaims,
    actorIdPrefix,
    sharesActors,
    clients,
    clientMatch,
    clientScopes,
    login,
  } = spec;
  return {
    issuer,
    ...(jwksUri === undefined ? {} : { jwksUri }),
    ...(audiences === undefined ? {} : { audiences }),
    algorithms: accepted,
    ...(tokenMapping === undefined ? {} : { tokenMapping }),
    ...(contactClaims === undefined ? {} : { contactClaims }),
    ...(actorIdPrefix === undefined ? {} : { actorIdPrefix }),
    sharesActors,
    clients,
    ...(clientMatch === undefined ? {} : { clientMatch }),
    ...(clientScopes === undefined ? {} : { clientScopes }),
    ...(login === undefined ? {} : { login }),
  };
}

/**
 * Whether the issuer may be trusted beside the tenant's other ones.
 * @param tenant its audiences: an issuer's may narrow them, never widen them
 * @throws Problem issuer_is_ours, issuer_audience_unknown, duplicate_issuer, issuer_mixes_actors, issuer_quota_reached
 */
export function checkIssuer(
  spec: IssuerSpec,
  others: readonly Pick<IssuerRow, 'name' | 'spec'>[],
  tenant: Pick<TenantSpec, 'audiences'>,
  baseUrl: string,
): void {
  for (const field of ['issuer', 'jwksUri'] as const) {
    const url = spec[field];
    if (url === undefined || !isAt(url, baseUrl)) continue;
    throw issuerProblem('issuer_is_ours', {
      errors: [{ pointer: `/${field}`, detail: `${url} is at this installation's address` }],
    });
  }
  const foreign = (spec.audiences ?? []).flatMap((audience, index) =>
    tenant.audiences.includes(audience)
      ? []
      : [{ pointer: `/audiences/${index}`, detail: `${audience} is not one of the tenant's audiences` }],
  );
  if (foreign.length > 0) throw issuerProblem('issuer_audience_unknown', { errors: foreign });
  if (others.length >= limits.trustedIssuersMax) {
    throw issuerProblem('issuer_quota_reached', {
      detail: `A tenant can have at most ${limits.trustedIssuersMax} trusted issuers.`,
    });
  }
  const same = others.find((other) => other.spec.issuer === spec.issuer);
  if (same)
    throw issuerProblem('duplicate_issuer', {
      detail: `${spec.issuer} is already trusted under the name ${same.name}.`,
    });
  if (spec.sharesActors) return;
  const mixed = others.find((other) => !other.spec.sharesActors && other.spec.actorIdPrefix === spec.actorIdPrefix);
  if (mixed === undefined) return;
  const has = spec.actorIdPrefix === undefined ? 'has no actorIdPrefix either' : 'has this prefix';
  throw issuerProblem('issuer_mixes_actors', {
    errors: [{ pointer: '/actorIdPrefix', detail: `the issuer ${mixed.name} ${has}` }],
  });
}

function isAt(url: string, baseUrl: string): boolean {
  const [asked, ours] = [new URL(url), new URL(baseUrl)];
  const [path, base] = [decodedPath(asked), ours.pathname.replace(/\/$/, '')];
  const host = (one: URL) => one.host.replace(/\.(?=:|$)/, '');
  return host(asked) === host(ours) && (path === base || path.startsWith(`${base}/`));
}

function decodedPath(url: URL): string {
  try {
    return decodeURIComponent(url.pathname);
  } catch {
    return url.pathname; // a stray % names nothing of ours
  }
}

/** OpenID Connect Core section 5.1. */
const standardContactClaims: ContactClaims = Object.freeze({ email: 'email', emailVerified: 'email_verified' });

/** All that verifying a tenant's access tokens needs, from what is stored. */
export function authOf(
  row: Pick<TenantRow, 'tenant' | 'spec'>,
  issuers: readonly Pick<IssuerRow, 'name' | 'spec'>[],
  keys: readonly PublicKey[],
  baseUrl: string,
  denied: DeniedTokens = noneDenied,
): TenantAuth {
  const { spec, tenant } = row;
  const own: IssuerConfig = {
    name: 'own',
    issuer: ownIssuer(baseUrl, tenant),
    audiences: spec.audiences,
    algorithms,
    // The tokens that we make name the actor in sub, whatever the tenant's other issuers do.
    tokenMapping: { actorIdClaimPath: 'sub', defaultActorType: spec.tokenMapping.defaultActorType },
    contactClaims: standardContactClaims,
    foreignPrefixes: [],
    clients: 'rfc9068',
  };
  const configs = issuers.map((issuer) => configOf(issuer, issuers, row));
  return Object.freeze({
    tenant,
    own: Object.freeze(own),
    ownKeys: Object.freeze(keys.map(({ tenant: _, ...key }) => key)),
    denied,
    issuers: new Map(configs.map((config) => [config.issuer, Object.freeze(config)])),
  });
}

function configOf(
  issuer: Pick<IssuerRow, 'name' | 'spec'>,
  all: readonly Pick<IssuerRow, 'name' | 'spec'>[],
  row: Pick<TenantRow, 'spec'>,
): IssuerConfig {
  const { spec, name } = issuer;
  const prefixes = all.flatMap((one) => (one.spec.actorIdPrefix === undefined ? [] : [one.spec.actorIdPrefix]));
  return {
    name,
    issuer: spec.issuer,
    ...(spec.jwksUri === undefined ? {} : { jwksUri: spec.jwksUri }),
    // The tenant's list may have become shorter since the issuer's was accepted.
    audiences: spec.audiences?.filter((audience) => row.spec.audiences.includes(audience)) ?? row.spec.audiences,
    algorithms: spec.algorithms,
    tokenMapping: spec.tokenMapping ?? row.spec.tokenMapping,
    contactClaims: spec.contactClaims ?? standardContactClaims,
    ...(spec.actorIdPrefix === undefined ? {} : { actorIdPrefix: spec.actorIdPrefix }),
    foreignPrefixes: spec.sharesActors ? [] : prefixes.filter((prefix) => prefix !== spec.actorIdPrefix),
    clients: spec.clients,
    ...(spec.clientMatch === undefined ? {} : { clientMatch: spec.clientMatch }),
    ...(spec.clientScopes === undefined ? {} : { clientScopes: spec.clientScopes }),
    ...(spec.login === undefined ? {} : { login: spec.login }),
  };
}
