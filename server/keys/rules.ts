import { durationSeconds } from '../../crds/index.ts';
import type { Algorithm } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import type { TenantSpec } from '../tenants/index.ts';

export function signingAlgorithm(spec: TenantSpec): Algorithm {
  return spec.tokens.signingAlgorithm;
}

/** How long the tenant's access tokens live, in milliseconds. */
export function accessTokenTtlMs(spec: TenantSpec): number {
  return Math.min(durationSeconds(spec.tokens.accessTokenTTL) * 1000, limits.accessTokenTtlMsMax);
}

/** The issuer that a tenant's own access tokens name. */
export function ownIssuer(baseUrl: string, tenant: string): string {
  return `${baseUrl}/${tenant}/oidc`;
}

/** The issuer of portal tokens. */
export function portalIssuer(baseUrl: string): string {
  return `${baseUrl}/portal`;
}
