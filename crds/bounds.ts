/**
 * Every bound of a custom resource's fields, with its unit in the name. They stand here and not in server/core/limits.ts because
 * crds/ imports nothing of ours; where the server has the same bound, test/crds/bounds.test.ts holds the two equal.
 * Each string, list and map has one: the API server prices CEL rules by the worst case and refuses a CRD without them.
 */
export const bounds = {
  objectNameCharsMax: 253, // RFC 1123 subdomain
  labelCharsMax: 63, // RFC 1123 label
  labelPrefixCharsMax: 253,
  annotationsBytesMax: 256 * 1024, // the API server's own bound on all annotations of an object
  tenantCodeCharsMax: 40,
  displayNameCharsMax: 128,
  displayNamesMax: 16, // of a type, one in each language
  emailCharsMax: 254, // RFC 5321 section 4.5.3.1.3, without the angle brackets
  mailFromCharsMax: 384,
  mailLanguageCharsMax: 35, // RFC 5646 section 4.4.1
  mailSubjectCharsMax: 200, // of a template's subject
  mailTemplateCharsMax: 50_000, // of one part of a template
  hostCharsMax: 253,
  urlCharsMax: 2048,
  audienceCharsMax: 512,
  audiencesMax: 32,
  claimPathCharsMax: 256,
  claimValueCharsMax: 512,
  typeNameCharsMax: 63,
  actorIdPrefixCharsMax: 64,
  namespacesMax: 256,
  selectorLabelsMax: 32,
  selectorExpressionsMax: 32,
  selectorValuesMax: 64,
  labelKeyCharsMax: 317, // prefix, slash, name
  securityAdminsMax: 32,
  originCharsMax: 267, // https://, a host name, a port
  allowedOriginsMax: 32,
  durationCharsMax: 16,
  consentAttributesMax: 64,
  consentNameCharsMax: 128,
  consentVersionCharsMax: 64, // of a version, and of a document
  consentLanguageCharsMax: 64,
  consentVersionsMax: 32, // of a definition
  consentDocumentsMax: 128, // of a version, in all languages
  consentActiveMax: 256, // languages that a status tells of
  consentRemovedMax: 32, // elements and attributes of a text that were removed
  consentRemovedCharsMax: 64, // of the name of one
  consentSanitizedMax: 64, // documents that a status tells of
  consentTitleCharsMax: 200,
  consentBodyBytesMax: 64 * 1024, // of a document's content; longer texts are named by url
  digestCharsMax: 71, // sha256: and 64 hexadecimal digits
  instantCharsMax: 29,
  periodCharsMax: 47,
  attributeNameCharsMax: 63,
  typeAttributesMax: 64,
  relationshipTypeKeyCharsMax: 191, // three type names and two colons
  inheritancesMax: 16,
  maxPerTargetMax: 1_000_000,
  invitationUsesMax: 100_000,
  colourCharsMax: 7,
  upstreamClientIdCharsMax: 256,
  upstreamScopeCharsMax: 128,
  upstreamScopesMax: 16,
  redirectUrisMax: 32,
  clientIdCharsMax: 128,
  clientKeysMax: 16,
  jwkIdCharsMax: 256,
  jwkMemberCharsMax: 1400, // an RSA modulus of 8,192 bits
  tenantPoliciesMax: 100_000,
  tenantRelationshipsMax: 1_000_000_000,
  tenantRequestsPerSecondMax: 1_000_000,
  eventRetentionDaysMax: 90,
  graceEndingDaysMax: 365,
  eventTypeCharsMax: 64, // of a type, or of its beginning and a *
  eventTypesMax: 64, // that a subscription names
  eventFilterTypesMax: 64,
  endpointUserCharsMax: 256,
  endpointScopeCharsMax: 1024,
  endpointRequestsPerSecondMax: 10_000,
  endpointRetriesMax: 9, // as many as the schedule has
  policyNameCharsMax: 253,
  regoSourceBytesMax: 64 * 1024,
  policyPartNameCharsMax: 253, // a package, a path
  libraryModulesMax: 32,
  policyDataFieldsMax: 50_000,
  graphNodesMax: 200,
  graphEdgesMax: 400, // two for each node
  graphConditionsPerNodeMax: 32,
  graphNodeIdCharsMax: 64,
  graphTextCharsMax: 1000, // a reason, a value, a path, a name
  graphListItemsMax: 100, // values of `in`, ranges of addresses
  graphObligationsMax: 32,
  dataSubjectPathCharsMax: 256,
  policyTestsMax: 50,
  testNameCharsMax: 128,
  testInputFieldsMax: 64,
  reasonCharsMax: 4096,
  obligationsMax: 256,
  obligationCharsMax: 256,
  conditionsMax: 16,
  conditionReasonCharsMax: 1024, // metav1.Condition
  conditionMessageCharsMax: 32_768, // metav1.Condition
  revisionCharsMax: 64,
  depthMax: 64,
  errorsShownMax: 50,
} as const;
