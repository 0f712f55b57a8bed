/** Which claims a token is enriched with, and whether they fit. Pure. */
import type { TenantSpec } from '../../crds/index.ts';
import { limits } from '../core/limits.ts';

/** Scopes of the tenant's own issuer: a token gets a claim when its scope was granted and the tenant has switched it on. */
export const claimScopes = ['relationships', 'consents'] as const;
export type ClaimScope = (typeof claimScopes)[number];

/**
 * `late`: not read in time. `busy`: too many tokens wait. `failed`: the database. `many`: more entries than a claim may have.
 * `large`: longer than the claims of one token may be.
 */
export type LeftOut = 'late' | 'busy' | 'failed' | 'many' | 'large';

type Asked = {
  spec: Pick<TenantSpec, 'claims' | 'tokenMapping'>;
  actor: { type: string };
  scopes: ReadonlySet<string>;
};

/** The names of the claims by their scopes. */
export function wantedClaims({ spec, actor, scopes }: Asked): ReadonlyMap<ClaimScope, string> {
  const { claims, tokenMapping } = spec;
  const wanted = claimScopes.filter((scope) => claims?.[scope] === true && scopes.has(scope));
  const namespace = claims?.namespace;
  if (namespace === undefined) return new Map();
  // Only actors of the default type have consents.
  const isUser = actor.type === tokenMapping.defaultActorType;
  return new Map(
    wanted.flatMap((scope) =>
      scope === 'consents' && !isUser ? [] : [[scope, `https://${namespace}/${scope}`] as const],
    ),
  );
}

type Enriched = { claims: Record<string, unknown>; leftOut: [ClaimScope, LeftOut][] };

/**
 * The claims that fit, whole. One that does not fit leaves the room for those behind it.
 * @param found what a claim consists of; undefined: more than it may have
 */
export function fittingClaims(
  wanted: ReadonlyMap<ClaimScope, string>,
  found: (scope: ClaimScope) => readonly unknown[] | undefined,
): Enriched {
  const enriched: Enriched = { claims: {}, leftOut: [] };
  let room: number = limits.claimsBytesMax;
  for (const [scope, name] of wanted) {
    const entries = found(scope);
    if (entries === undefined) {
      enriched.leftOut.push([scope, 'many']);
      continue;
    }
    const bytes = Buffer.byteLength(JSON.stringify(entries));
    if (bytes > room) {
      enriched.leftOut.push([scope, 'large']);
      continue;
    }
    room -= bytes;
    enriched.claims[name] = entries;
  }
  return enriched;
}
