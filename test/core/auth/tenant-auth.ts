/** Tenants and issuers as they are stored, with every default filled in by the manifests' own rules. */
import { apiVersion, checkManifest, type TenantSpec, type TrustedIssuerSpec } from '../../../crds/index.ts';

/** @throws Error saying what the rules refuse */
export function tenantSpec(more: Record<string, unknown> = {}): TenantSpec {
  const spec = { displayName: 'Demo', audiences: ['https://api.demo.example'], ...more };
  const checked = checkManifest({ apiVersion, kind: 'Tenant', metadata: { name: 'demo' }, spec });
  if (!checked.ok) throw new Error(JSON.stringify(checked.errors));
  return checked.manifest.spec as TenantSpec;
}

/** @throws Error saying what the rules refuse */
export function issuerSpec(more: Record<string, unknown>): TrustedIssuerSpec {
  const spec = { tenantRef: { name: 'demo' }, ...more };
  const metadata = { name: 'idp', namespace: 'demo' };
  const checked = checkManifest({ apiVersion, kind: 'TrustedIssuer', metadata, spec });
  if (!checked.ok) throw new Error(JSON.stringify(checked.errors));
  return checked.manifest.spec as TrustedIssuerSpec;
}
