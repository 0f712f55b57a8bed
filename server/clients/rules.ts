/** The rules of clients, pure: what may be registered, and what the authorization server needs of it. */
import { createPublicKey, type JsonWebKey, timingSafeEqual } from 'node:crypto';
import { apiVersion, checkManifest, type OAuthClientSpec } from '../../crds/index.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import type { TenantSpec } from '../tenants/index.ts';
import { clientProblem } from './problems.ts';
import type { Client, ClientBody, ClientRow, ClientSpec, SecretRow } from './schema.ts';

/**
 * Checks a body of the Config API by the rules that manifests have.
 * @returns it with its defaults
 * @throws Problem invalid_request with the places
 */
export function checkClientBody(tenant: string, clientId: string, body: ClientBody): ClientSpec {
  // The API generates secrets on request; what names one in a manifest has no place in a body.
  const secret = usesSecret(body) ? { generateSecret: { name: 'api' } } : {};
  const spec = { ...body, ...secret, clientId, tenantRef: { name: tenant } };
  const checked = checkManifest({
    ...{ apiVersion, kind: 'OAuthClient', spec },
    metadata: { name: 'api', namespace: 'api' },
  });
  if (checked.ok) {
    const { generateSecret: _, ...rest } = clientSpecOf(checked.manifest.spec as OAuthClientSpec);
    return rest;
  }
  const errors = checked.errors.map(({ pointer, detail }) => ({ pointer: place(pointer), detail }));
  const detail = errors.map((error) => `${error.pointer} ${error.detail}`).join('; ');
  throw problem('invalid_request', { detail, errors });
}

function place(pointer: string): string {
  return pointer.startsWith('/spec/clientId') ? '/params/id' : pointer.replace(/^\/spec/, '');
}

/** Whether the client authenticates with a secret. */
export function usesSecret({ tokenEndpointAuthMethod: method }: Pick<ClientBody, 'tokenEndpointAuthMethod'>): boolean {
  return method === undefined || method === 'client_secret_basic' || method === 'client_secret_post';
}

/** Only what belongs to the client: a manifest's spec has more. */
export function clientSpecOf(spec: ClientSpec): ClientSpec {
  const { tenantRef: _ref, managementPolicy: _management, adoptionPolicy: _adoption, ...own } = spec as OAuthClientSpec;
  return own;
}

/**
 * Whether the client may be registered beside the tenant's other ones.
 * @param others how many there are
 * @throws Problem client_audience_unknown, client_id_is_audience, client_key_invalid, client_quota_reached
 */
export function checkClient(spec: ClientSpec, others: number, tenant: Pick<TenantSpec, 'audiences'>): void {
  if (tenant.audiences.includes(spec.clientId)) {
    throw clientProblem('client_id_is_audience', {
      errors: [{ pointer: '/clientId', detail: `${spec.clientId} is one of the tenant's audiences` }],
    });
  }
  const foreign = (spec.audiences ?? []).flatMap((audience, index) =>
    tenant.audiences.includes(audience)
      ? []
      : [{ pointer: `/audiences/${index}`, detail: `${audience} is not one of the tenant's audiences` }],
  );
  if (foreign.length > 0) throw clientProblem('client_audience_unknown', { errors: foreign });
  const wrong = (spec.jwks?.keys ?? []).flatMap((jwk, index) =>
    isPublicKey(jwk) ? [] : [{ pointer: `/jwks/keys/${index}`, detail: 'is not a valid public key' }],
  );
  if (wrong.length > 0) throw clientProblem('client_key_invalid', { errors: wrong });
  if (others >= limits.clientsMax) {
    throw clientProblem('client_quota_reached', { detail: `A tenant can have at most ${limits.clientsMax} clients.` });
  }
}

function isPublicKey(jwk: NonNullable<ClientSpec['jwks']>['keys'][number]): boolean {
  try {
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = createPublicKey({
      key: jwk as JsonWebKey,
      format: 'jwk',
    });
    if (type === 'ec') return details?.namedCurve === 'prime256v1';
    const { modulusLength: bits = 0, publicExponent: exponent = 0n } = details ?? {};
    const isSound = exponent >= BigInt(limits.rsaExponentMin) && exponent % 2n === 1n;
    return bits >= limits.rsaModulusBitsMin && bits <= limits.rsaModulusBitsMax && isSound;
  } catch {
    return false;
  }
}

/** A client as the authorization server uses it. @param secrets its own */
export function clientOf(
  { spec, created_at: createdAt, revision }: Pick<ClientRow, 'spec' | 'created_at' | 'revision'>,
  secrets: readonly Pick<SecretRow, 'id' | 'digest' | 'expires_at'>[],
  tenant: Pick<TenantSpec, 'audiences'>,
): Client {
  const { secretRef: _secretRef, generateSecret: _generateSecret, audiences, ...own } = spec;
  return Object.freeze({
    ...own,
    redirectUris: spec.redirectUris ?? [],
    postLogoutRedirectUris: spec.postLogoutRedirectUris ?? [],
    scopes: spec.scopes ?? [],
    // The tenant's list may have become shorter since the client's was accepted.
    audiences: audiences?.filter((audience) => tenant.audiences.includes(audience)) ?? tenant.audiences,
    secrets: secrets.map(({ id, digest, expires_at: at }) => ({
      ...{ id, digest },
      ...(at === null ? {} : { expiresAtMs: Date.parse(at) }),
    })),
    createdAtMs: Date.parse(createdAt),
    revision,
  });
}

/** Whether a secret has not expired. */
export function isLive(nowMs: number): (secret: Pick<SecretRow, 'expires_at'>) => boolean {
  return ({ expires_at: at }) => at === null || Date.parse(at) > nowMs;
}

/** A tenant and not another of its code: a secret of an erased tenant is none of its successor's. */
export type Incarnation = { readonly tenant: string; readonly tenantCreatedAt: string };

/** The keyed digest of a secret, by which it is recognized. */
export function secretDigest(
  encrypter: Pick<Encrypter, 'digest'>,
  { tenant, tenantCreatedAt }: Incarnation,
  clientId: string,
  secret: string,
): string {
  return encrypter.digest(Buffer.from(secret), ['oauth_client_secret', tenant, tenantCreatedAt, clientId]);
}

/**
 * Whether the secret is one that the client has now. It takes as long whether it is or not.
 * @param tenant such as the tenant's snapshot, of which the client is
 */
export function verifyClientSecret(
  { encrypter }: { encrypter: Pick<Encrypter, 'digest'> },
  tenant: Incarnation,
  client: Pick<Client, 'clientId' | 'secrets'>,
  presented: string,
  nowMs: number,
): boolean {
  if (presented.length > limits.clientSecretCharsMax) return false;
  const digest = Buffer.from(secretDigest(encrypter, tenant, client.clientId, presented));
  let isRight = false;
  for (const { digest: stored, expiresAtMs = Number.POSITIVE_INFINITY } of client.secrets) {
    const expected = Buffer.from(stored);
    const isSame = expected.length === digest.length && timingSafeEqual(expected, digest);
    isRight = (isSame && expiresAtMs > nowMs) || isRight;
  }
  return isRight;
}

const loopbackPort = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::[0-9]{1,5})?(?=[/?]|$)/;

/**
 * Whether a browser may be sent there for the client: character by character as registered, but for the port of a loopback
 * address where an app on a device chose one (RFC 8252 section 7.3).
 */
export function isRegisteredRedirect(
  { applicationType, redirectUris }: Pick<Client, 'applicationType' | 'redirectUris'>,
  uri: string,
): boolean {
  if (redirectUris.includes(uri)) return true;
  // No address has a port above 65535, which the pattern takes.
  if (applicationType !== 'native' || !loopbackPort.test(uri) || !URL.canParse(uri)) return false;
  const portless = uri.replace(loopbackPort, '$1');
  return redirectUris.some((one) => loopbackPort.test(one) && one.replace(loopbackPort, '$1') === portless);
}
