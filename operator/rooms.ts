/** Owns what the operator asks of the rooms: the same actions that the Config API calls. wire.ts makes one from the rooms. */
import type { IssuerManifest, PolicyManifest, TenantSpec } from '../crds/index.ts';
import type { Owner, Writer } from '../server/core/ownership.ts';

/** The tenant's revision that holds the result, and whether it is a new one. */
export type Written = { revision: number; changed: boolean };

export type FoundTenant = { owner: Owner; revision: number; state: 'active' | 'disabled'; spec: TenantSpec };
export type FoundObject = { owner: Owner; revision: number };

/** Every action is idempotent and throws Problem; deleting what is not there is no error. */
export interface Rooms {
  findTenant(tenant: string): Promise<FoundTenant | undefined>;
  putTenant(writer: Writer, tenant: string, spec: TenantSpec): Promise<Written>;
  disableTenant(writer: Writer, tenant: string): Promise<Written>;
  eraseTenant(writer: Writer, tenant: string): Promise<void>;
  findPolicy(tenant: string, name: string): Promise<FoundObject | undefined>;
  /** `tests` are left out where the same ones have passed on the same source before. */
  putPolicy(
    writer: Writer,
    tenant: string,
    spec: PolicyManifest['spec'],
    options: { tests: boolean },
  ): Promise<Written>;
  deletePolicy(writer: Writer, tenant: string, name: string): Promise<Written>;
  findIssuer(tenant: string, name: string): Promise<FoundObject | undefined>;
  putIssuer(writer: Writer, tenant: string, name: string, spec: IssuerManifest['spec']): Promise<Written>;
  deleteIssuer(writer: Writer, tenant: string, name: string): Promise<Written>;
}
