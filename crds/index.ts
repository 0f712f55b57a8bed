/**
 * The custom resources of the group accord.dev: one schema a kind, from which the CustomResourceDefinitions beside this file,
 * the reference and the checks of manifests without a cluster all come. Imports nothing of ours.
 */
export type { ActorTypeSpec, Attribute } from './actor-type.ts';
export { bounds } from './bounds.ts';
export { type Checked, checkManifest } from './check.ts';
export {
  ConsentContent,
  type ConsentDefinitionSpec,
  languageFallbacks,
  languageFallbackWords,
} from './consent-definition.ts';
export { applyDefaults } from './defaults.ts';
export type { EventSubscriptionSpec } from './event-subscription.ts';
export type { DisplayName } from './fields.ts';
export { apiVersion, group, type Kind, version } from './kind.ts';
export {
  type ActorTypeManifest,
  type ConsentDefinitionManifest,
  definitionOf,
  type EventSubscriptionManifest,
  type IssuerManifest,
  kinds,
  type MailTemplateManifest,
  type Manifest,
  type OAuthClientManifest,
  type PolicyDataManifest,
  type PolicyLibraryManifest,
  type PolicyManifest,
  type RelationshipTypeManifest,
  type ResourceTypeManifest,
  type TenantManifest,
} from './kinds.ts';
export type { MailTemplateSpec } from './mail-template.ts';
export { notesOn } from './notes.ts';
export type { OAuthClientSpec } from './oauth-client.ts';
export { patterns } from './patterns.ts';
export { PolicyTests } from './policy.ts';
export { LibraryModules } from './policy-library.ts';
export type { RelationshipTypeSpec } from './relationship-type.ts';
export { unstorable } from './storable.ts';
export type { TenantSpec } from './tenant.ts';
export { durationSeconds } from './tenant-rules.ts';
export type { TrustedIssuerSpec } from './trusted-issuer.ts';
export { wordsReadDifferently } from './yaml-words.ts';
