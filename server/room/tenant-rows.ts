/** The shape in which a room keeps rows of tenants: what comes with a new tenant, what keeps it, and how they are erased. */

import type { TenantSpec } from '../../crds/index.ts';
import type { AuditKind } from '../core/audit-kinds.ts';
import type { Clock } from '../core/clock.ts';
import type { Transaction } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';

/** What a write of a tenant's configuration changed. */
type RowChange = { kind: AuditKind; name: string; action: string };

/**
 * Rows with a foreign key to accord.tenant that cascades go with the tenant's row; a room whose rows all do states nothing.
 * A transaction is the tenant's, except in `after`.
 */
export type TenantRows = {
  /** Makes what a tenant must have, under the lock of its row, whenever the tenant is written. */
  ensure?(
    services: { encrypter: Encrypter; clock: Clock },
    write: { tx: Transaction; tenant: string; spec: TenantSpec },
  ): Promise<RowChange | undefined>;
  /** How many objects of manifests name the tenant: while there are any, it is not erased. */
  countOfManifests?(tx: Transaction, tenant: string): Promise<number>;
  /** Removes at most so many rows before the tenant's row goes, because a statement has its time. @returns how many */
  removeSome?(tx: Transaction, tenant: string, limit: number): Promise<number>;
  /** Removes what is left after the tenant's row was deleted, in the same transaction: nothing is written after that. */
  removeRest?(tx: Transaction, tenant: string): Promise<void>;
  /** Removes at most so many rows in a system transaction after the tenant is gone; called until it removes none. @returns how many */
  removeAfter?(tx: Transaction, tenant: string, limit: number): Promise<number>;
};
