/** The table of kinds that the operator reconciles. */
import type { KindName } from '../source.ts';
import { definitionKind } from './definition.ts';
import { issuerKind } from './issuer.ts';
import type { Kind } from './kind.ts';
import { policyKind } from './policy.ts';
import { tenantKind } from './tenant.ts';
import { actorTypeKind, relationshipTypeKind, resourceTypeKind } from './types.ts';

export type { LooseManifest } from './kind.ts';

const table = {
  Tenant: tenantKind,
  TrustedIssuer: issuerKind,
  ActorType: actorTypeKind,
  ResourceType: resourceTypeKind,
  RelationshipType: relationshipTypeKind,
  ConsentDefinition: definitionKind,
  Policy: policyKind,
};

export function kindOf(name: KindName): Kind {
  return table[name] as unknown as Kind;
}
