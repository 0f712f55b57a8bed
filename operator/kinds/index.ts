/** The kinds that the operator reconciles, of all rooms. */
import type { Manifest } from '../../crds/index.ts';
import type { ResourceKind } from '../../server/core/resource-kind.ts';
import { resourceKinds as definitionKinds } from '../../server/definitions/index.ts';
import { resourceKinds as issuerKinds } from '../../server/issuers/index.ts';
import { resourceKinds as policyKinds } from '../../server/policies/index.ts';
import { resourceKinds as tenantKinds } from '../../server/tenants/index.ts';
import { resourceKinds as typeKinds } from '../../server/types/index.ts';
import type { KindName } from '../source.ts';

const all = [...tenantKinds, ...issuerKinds, ...typeKinds, ...definitionKinds, ...policyKinds];

type ServicesOf<Of> = Of extends ResourceKind<infer Services, infer _> ? Services : never;
type Intersection<Of> = (Of extends unknown ? (one: Of) => void : never) extends (one: infer All) => void ? All : never;

/** What the actions of all kinds need, by room. */
export type KindServices = Intersection<ServicesOf<(typeof all)[number]>>;

/** In the order in which they are looked at. */
export const kinds = [...all].sort((a, b) => a.order - b.order) as unknown as readonly ResourceKind<
  KindServices,
  Manifest
>[];

export const kindNames: readonly KindName[] = kinds.map(({ kind }) => kind);

const byName = new Map(kinds.map((kind) => [kind.kind, kind]));

export function kindOf(name: KindName): ResourceKind<KindServices, Manifest> {
  return byName.get(name) as ResourceKind<KindServices, Manifest>;
}
