import type { JWK } from 'jose';
import { durationSeconds } from '../../crds/index.ts';
import type { Algorithm, Denied, DeniedTokens } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import type { TenantSpec } from '../tenants/index.ts';
import type { DeniedTokenRow, KeyRow, KeyView, TokenKeyRow, TokenKeys } from './schema.ts';

export function signingAlgorithm(spec: TenantSpec): Algorithm {
  return spec.tokens.signingAlgorithm;
}

/** How long the tenant's access tokens live, in milliseconds. */
export function accessTokenTtlMs(spec: TenantSpec): number {
  return Math.min(durationSeconds(spec.tokens.accessTokenTTL) * 1000, limits.accessTokenTtlMsMax);
}

/** How long a user's session at the tenant's own issuer lives at most, in milliseconds. */
export function sessionTtlMs({ tokens }: TenantSpec): number {
  if (tokens.sessionTTL === undefined) return limits.sessionTtlMsMax;
  return Math.min(durationSeconds(tokens.sessionTTL) * 1000, limits.sessionTtlMsMax);
}

/** How long a refresh token of the tenant's own issuer lives, in milliseconds. */
export function refreshTokenTtlMs({ tokens }: TenantSpec): number {
  if (tokens.refreshTokenTTL === undefined) return limits.refreshTokenTtlMs;
  return Math.min(durationSeconds(tokens.refreshTokenTTL) * 1000, limits.refreshTokenTtlMsMax);
}

/** The issuer that a tenant's own access tokens name. */
export function ownIssuer(baseUrl: string, tenant: string): string {
  return `${baseUrl}/${tenant}/oidc`;
}

/** The issuer of portal tokens. */
export function portalIssuer(baseUrl: string): string {
  return `${baseUrl}/portal`;
}

/**
 * The keys of tokens in the order in which they are used.
 * @param rows that have not retired
 * @param open the private half of one that signs or will
 */
export function tokenKeysOf(rows: readonly TokenKeyRow[], nowMs: number, open: (row: TokenKeyRow) => JWK): TokenKeys {
  const byActivation = rows.toSorted((a, b) => Date.parse(b.activates_at) - Date.parse(a.activates_at));
  const active = byActivation.filter((row) => Date.parse(row.activates_at) <= nowMs);
  const upcoming = byActivation.filter((row) => Date.parse(row.activates_at) > nowMs).reverse();
  const signing = [...active.slice(0, 1), ...upcoming];
  const keys = [...signing, ...active.slice(1)].map((row) => ({
    kid: row.kid,
    algorithm: row.algorithm,
    publicJwk: row.public_jwk,
    ...(signing.includes(row) ? { privateJwk: open(row) } : {}),
    activatesAtMs: Date.parse(row.activates_at),
    ...(row.retires_at === null ? {} : { retiresAtMs: Date.parse(row.retires_at) }),
  }));
  const changes = keys.flatMap(({ activatesAtMs, retiresAtMs }) => [activatesAtMs, retiresAtMs ?? nowMs]);
  return { keys, changesAtMs: Math.min(...changes.filter((at) => at > nowMs)) };
}

/** After how long the schedule makes the next key; others are not rotated, or when they are next used. */
const rotatesAfterMs: Partial<Record<KeyRow['purpose'], number>> = {
  access: limits.signingKeyAgeMsMax,
  identity: limits.signingKeyAgeMsMax,
};

/** @param rows that have not retired for good; of a purpose the one that is activated last first */
export function statesOf(rows: readonly KeyRow[], nowMs: number): KeyView[] {
  const signing = new Set<string>();
  return rows.map((row) => {
    const { kid, purpose, algorithm, created_at: createdAt, activates_at: activatesAt, retires_at: retiresAt } = row;
    // Only keys of tokens are published before they sign. The others have the database's time, which may be ahead of ours.
    const isUpcoming = (purpose === 'access' || purpose === 'identity') && Date.parse(activatesAt) > nowMs;
    const state = isUpcoming ? 'published' : signing.has(purpose) ? 'retired' : 'active';
    if (!isUpcoming) signing.add(purpose);
    const afterMs = retiresAt === null ? rotatesAfterMs[purpose] : undefined;
    return {
      ...{ kid, purpose, algorithm, state, createdAt, activatesAt },
      ...(retiresAt === null ? {} : { verifiesUntil: retiresAt }),
      ...(afterMs === undefined ? {} : { rotatesAt: new Date(Date.parse(createdAt) + afterMs).toISOString() }),
    };
  });
}

/** Nothing is denied. */
export const noneDenied: DeniedTokens = Object.freeze({
  revision: 0,
  clients: new Map<string, Denied>(),
  subjects: new Map<string, Denied>(),
  erased: new Map<string, Denied>(),
  grants: new Map<string, Denied>(),
  jtis: new Map<string, Denied>(),
});

/** @param rows all of a tenant @param revision of the tenant, as of which they were read */
export function deniedOf(rows: readonly DeniedTokenRow[], revision: number): DeniedTokens {
  return deniedAfter(noneDenied, rows, { revision, nowMs: Number.NEGATIVE_INFINITY });
}

/** @param rows those that were written after `before` was read. Of the others, what has expired by `nowMs` is forgotten */
export function deniedAfter(
  before: DeniedTokens,
  rows: readonly DeniedTokenRow[],
  { revision, nowMs }: { revision: number; nowMs: number },
): DeniedTokens {
  const all = (known: ReadonlyMap<string, Denied>, kind: DeniedTokenRow['kind']) => {
    const next = new Map(known);
    for (const [id, { expiresAtMs }] of known) if (expiresAtMs <= nowMs) next.delete(id);
    for (const row of rows) if (row.kind === kind) next.set(row.id, deniedBy(row));
    return next;
  };
  return Object.freeze({
    revision,
    clients: all(before.clients, 'client'),
    subjects: all(before.subjects, 'subject'),
    erased: all(before.erased, 'erased'),
    grants: all(before.grants, 'grant'),
    jtis: all(before.jtis, 'jti'),
  });
}

function deniedBy(row: DeniedTokenRow): Denied {
  const ms = (instant: string | null) => (instant === null ? Number.POSITIVE_INFINITY : Date.parse(instant));
  return { untilMs: ms(row.issued_until), expiresAtMs: ms(row.expires_at) };
}
