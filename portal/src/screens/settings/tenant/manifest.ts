/** Parts of a Tenant as its manifest has them. */
import { type Spec, yamlOfNew } from '../../../manifests/manifest.ts';

export const ofTenant = (tenant: string) => ({ kind: 'Tenant', name: tenant });

/** For every role; the whole manifest is for security admins. */
export const tenantPart = (tenant: string, spec: Spec) =>
  yamlOfNew({ apiVersion: 'accord.dev/v1alpha1', kind: 'Tenant', metadata: { name: tenant }, spec });
