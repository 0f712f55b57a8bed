/** Owns what a kind of manifest is to the reconciler: how it is written, found and removed in its room. */
import type { Manifest } from '../../crds/index.ts';
import type { Owner, Writer } from '../../server/core/ownership.ts';
import type { TenantSecrets } from '../../server/tenants/index.ts';
import type { Peers } from '../../server/types/index.ts';
import type { FoundObject, Rooms, Written } from '../rooms.ts';
import type { Claim, ResourceStatus } from '../source.ts';

export type PutOptions = {
  /** Whether this generation has not been accepted yet, so that its tests run. */
  fresh: boolean;
  /** Of a Tenant. */
  secrets?: TenantSecrets | undefined;
  /** Of a RelationshipType: others of the tenant that wait for it as it may wait for them. */
  peers: Peers;
};

export interface Kind<Of extends Manifest = Manifest> {
  /** A legible claim of a manifest that need not be valid otherwise. */
  claims(manifest: LooseManifest): Claim | undefined;
  find(rooms: Rooms, claim: Claim): Promise<FoundObject | undefined>;
  put(rooms: Rooms, writer: Writer, claim: Claim, manifest: Of, options: PutOptions): Promise<Written>;
  /** Gives the row to another owner as it is; does nothing when it is not (any more) the writer's. */
  transfer(rooms: Rooms, writer: Writer, claim: Claim, to: Owner): Promise<Written>;
  /** What a status says besides, of what is stored now. */
  describe?(rooms: Rooms, claim: Claim): Promise<Partial<ResourceStatus> | undefined>;
  /** Absent for tenants: their removal has steps of its own (remove.ts). */
  remove?(rooms: Rooms, writer: Writer, claim: Claim): Promise<Written>;
}

/** A document of which only the shape of the outermost fields is known. */
export type LooseManifest = { metadata: { name: string }; spec: Record<string, unknown> };

/** The name in spec.tenantRef, where it is one. */
export function tenantRefOf(manifest: LooseManifest): string | undefined {
  const name = (manifest.spec.tenantRef as { name?: unknown } | null | undefined)?.name;
  return typeof name === 'string' && name !== '' ? name : undefined;
}
