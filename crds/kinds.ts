/** The table of kinds and the types of their manifests. */
import { type ActorTypeSpec, actorType } from './actor-type.ts';
import { type ConsentDefinitionSpec, consentDefinition } from './consent-definition.ts';
import { type EventSubscriptionSpec, eventSubscription } from './event-subscription.ts';
import type { apiVersion, Kind } from './kind.ts';
import { type MailTemplateSpec, mailTemplate } from './mail-template.ts';
import { type OAuthClientSpec, oauthClient } from './oauth-client.ts';
import { type PolicySpec, policy } from './policy.ts';
import { type PolicyDataSpec, policyData } from './policy-data.ts';
import { type PolicyLibrarySpec, policyLibrary } from './policy-library.ts';
import { type RelationshipTypeSpec, relationshipType } from './relationship-type.ts';
import { type ResourceTypeSpec, resourceType } from './resource-type.ts';
import { type TenantSpec, tenant } from './tenant.ts';
import { type TrustedIssuerSpec, trustedIssuer } from './trusted-issuer.ts';

/** What others name comes first. The order in which manifests are applied is that of `order` in each resource-kind.ts. */
export const kinds = [
  tenant,
  trustedIssuer,
  oauthClient,
  actorType,
  resourceType,
  relationshipType,
  consentDefinition,
  policyData,
  policyLibrary,
  policy,
  eventSubscription,
  mailTemplate,
] as const satisfies readonly Kind[];

/** ObjectMeta as far as it is read; the API server's own fields are accepted and kept. */
interface Metadata {
  name: string;
  namespace?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  uid?: string;
  generation?: number;
  resourceVersion?: string;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  finalizers?: string[];
}

interface ManifestOf<Name extends string, Spec> {
  apiVersion: typeof apiVersion;
  kind: Name;
  metadata: Metadata;
  /** Complete: defaults are filled in. */
  spec: Spec;
  /** Written by the operator; never checked here and never to be read as a fact. */
  status?: unknown;
}

export type TenantManifest = ManifestOf<'Tenant', TenantSpec>;
export type PolicyManifest = ManifestOf<'Policy', PolicySpec> & { metadata: { namespace: string } };
export type PolicyLibraryManifest = ManifestOf<'PolicyLibrary', PolicyLibrarySpec> & {
  metadata: { namespace: string };
};
export type PolicyDataManifest = ManifestOf<'PolicyData', PolicyDataSpec> & { metadata: { namespace: string } };
export type IssuerManifest = ManifestOf<'TrustedIssuer', TrustedIssuerSpec> & { metadata: { namespace: string } };
export type OAuthClientManifest = ManifestOf<'OAuthClient', OAuthClientSpec> & { metadata: { namespace: string } };
export type ActorTypeManifest = ManifestOf<'ActorType', ActorTypeSpec> & { metadata: { namespace: string } };
export type ResourceTypeManifest = ManifestOf<'ResourceType', ResourceTypeSpec> & { metadata: { namespace: string } };
export type RelationshipTypeManifest = ManifestOf<'RelationshipType', RelationshipTypeSpec> & {
  metadata: { namespace: string };
};
export type ConsentDefinitionManifest = ManifestOf<'ConsentDefinition', ConsentDefinitionSpec> & {
  metadata: { namespace: string };
};
export type EventSubscriptionManifest = ManifestOf<'EventSubscription', EventSubscriptionSpec> & {
  metadata: { namespace: string };
};
export type MailTemplateManifest = ManifestOf<'MailTemplate', MailTemplateSpec> & { metadata: { namespace: string } };
export type Manifest =
  | TenantManifest
  | PolicyManifest
  | PolicyLibraryManifest
  | PolicyDataManifest
  | IssuerManifest
  | OAuthClientManifest
  | ActorTypeManifest
  | ResourceTypeManifest
  | RelationshipTypeManifest
  | ConsentDefinitionManifest
  | EventSubscriptionManifest
  | MailTemplateManifest;

type Kinds = (typeof kinds)[number];

/** The kind of this name. */
export function definitionOf<Name extends Kinds['kind']>(name: Name): Kind & Extract<Kinds, { kind: Name }> {
  return kinds.find(({ kind }) => kind === name) as Kind & Extract<Kinds, { kind: Name }>;
}
