/** How a room gives its objects of a tenant to `accord export`. */
import type { TenantSpec } from '../../crds/index.ts';
import type { Owner } from '../core/ownership.ts';

export type ExportContext = {
  tenant: string;
  tenantSpec: TenantSpec;
  /** The Tenant is to take dates of the past. */
  allowPastDates: boolean;
  /** ms */
  now: number;
};

export type ExportedObject = {
  /** Its name in the API. */
  name: string;
  /** Its name in the API is that of a Kubernetes object. */
  isObjectName?: true;
  owner: Owner;
  spec: Record<string, unknown>;
  /** Lines that a reader has to know. */
  comments?: readonly string[];
  /** Why it is left out, in words. */
  skipped?: string;
};
