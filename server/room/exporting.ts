/** How a room gives its objects of a tenant as manifests say them: all to `accord export`, or one. */
import type { TenantSpec } from '../../crds/index.ts';
import type { Owner } from '../core/ownership.ts';

/** One object by its name in the API, or by the manifest that owns it: `fleet/car-wash`, or `acme` where there is no namespace. */
export type Only = { name: string } | { manifest: string };

export type ExportContext = {
  tenant: string;
  tenantSpec: TenantSpec;
  /** The Tenant is to take dates of the past. */
  allowPastDates: boolean;
  /** ms */
  now: number;
  /** Only this object is needed, and others may be left out: all of a kind can be hundreds of mebibytes. */
  only?: Only;
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

export type ExportedName = Pick<ExportedObject, 'name' | 'owner'>;
