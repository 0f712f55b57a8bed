/**
 * Every bound of the service, with its unit in the name. A bound that is not here does not exist: each has a test at
 * the limit and one past it (test/core/limits.test.ts lists them and says where).
 */
import { accountLimits } from './account-limits.ts';
import { decisionLimits } from './decision-limits.ts';
import { deliveryLimits } from './delivery-limits.ts';
import { eventLimits } from './event-limits.ts';
import { graphqlLimits } from './graphql-limits.ts';
import { laneLimits } from './lane-limits.ts';
import { mailLimits } from './mail-limits.ts';
import { oidcLimits } from './oidc-limits.ts';
import { operatorLimits } from './operator-limits.ts';
import { partLimits } from './part-limits.ts';
import { policyLimits } from './policy-limits.ts';
import { portalLimits } from './portal-limits.ts';

export const limits = {
  // HTTP
  headersTimeoutMs: 10_000, // from a connection's or a request's first moment
  requestTimeoutMs: 30_000,
  connectionIdleMs: 300_000, // while a request is answered: a reader that takes nothing
  keepAliveTimeoutMs: 72_000, // longer than the usual balancer keeps a connection
  connectionsCheckMs: 5000,
  connectionsOfAddressPercent: 25,
  adminConnectionsMax: 128,
  bodyBytesMax: 256 * 1024,
  batchBodyBytesMax: 1024 * 1024, // parsing 4 MiB of hostile JSON held up everybody for 0.4 s
  smallBodyBytesMax: 8 * 1024, // of a few names and ids
  configBodyBytesMax: 128 * 1024, // of a type or an issuer
  acceptBodyBytesMax: 20 * 1024, // of a requestToken and who accepts it
  tokenBodyBytesMax: 17 * 1024, // of a requestToken
  redeemBodyBytesMax: 256, // of the code of a member's invitation
  strayBodyBytesMax: 1024, // where nothing is read of it
  bodyBytesPerRequest: 4096, // a larger body counts as so many more requests
  bodyValuesMax: 50_000,
  bodyShapesMax: 2000, // about 1 us each to parse; 256 KiB could have 26,000
  requestShapesMax: 50, // of a body that counts as one request
  uncheckedBodyCharsMax: 1024, // shorter bodies have little structure, and most of POST /authz are
  batchRequestsMax: 1000,
  batchAnswersBytesMax: 4 * 1024 * 1024, // of all answers of a batch; past this the rest is denied unevaluated
  batchesPerTenantMax: 4, // at once on a server, until their answers are taken
  batchesWaitingPerTenantMax: 16,
  batchAnswerTakenMsMax: 60_000, // then the connection of a client that does not read is closed
  eventLoopDelayMsMax: 1500, // on average over a second; past this requests are told to come back
  pageItemsMax: 200,
  minRevisionWaitMs: 2000,
  minRevisionPauseMsMin: 25, // between readings of a tenant whose callers wait for a revision; doubled while nothing is new
  minRevisionPauseMsMax: 400,
  rateLimitCallersMax: 10_000, // remembered; past this the one that was idle longest is forgotten
  rateLimitAddressesMax: 10_000,
  inputDepthMax: 64,
  closeStepMsMax: 10_000, // for each step of a process that stops; requests that are not answered then are cut off
  tracesFlushMsMax: 5000, // at the end of a process, then what is left of its traces is lost
  allErrorsBodyValuesMax: 1000, // of a larger body that is refused, only the first wrong place is told

  // Policies: sources
  policyNameCharsMax: 253,
  regoSourceBytesMax: 64 * 1024,
  graphNodesMax: 200,
  graphEdgesMax: 400, // two for each node
  graphConditionsPerNodeMax: 32,
  graphNodeIdCharsMax: 64,
  graphTextCharsMax: 1000, // a reason, a value, a path, a name
  graphListItemsMax: 100, // values of `in`, ranges of addresses
  graphObligationsMax: 32,
  policyTestsMax: 50,
  policyRevisionsKept: 100,
  ...partLimits,
  ...portalLimits,
  ...graphqlLimits,

  // Policies
  ...policyLimits,
  policySeriesRoundMs: 300_000, // for which policies keep their series in the metrics, at least
  policySeriesWaitingMax: 10_000, // policies without series of their own, of which it is known how often they are asked
  ...decisionLimits,
  reasonCharsMax: 4096,
  obligationsMax: 256,
  builtinResultBytesMax: 1024 * 1024,
  regexPatternCharsMax: 1000, // host builtins; OPA's own run in Wasm, on fuel
  regexInstructionsMax: 10_000, // of one compiled; each takes 0.2-2 us and 300 bytes
  suspendedQueuePerTenantMax: 16,
  strikeKeysMax: 10_000,
  suspendWindowMs: 60_000,
  suspendStrikes: 2,
  suspendTenantStrikes: 6,
  suspendConflicts: 20, // evaluations that end in a conflict of rules
  suspendedAnswerDelayMs: 200, // of a suspended policy's failure, and of a denial for a full queue
  evaluatePromptMs: 0.5, // past this a policy's next evaluation waits for its turn
  evaluateSlowMs: 1, // of CPU: past this the worker has the policy's evaluations while other tenants want the main thread
  evaluateSlowForMs: 10_000, // since its last slow evaluation
  stallBurstMs: 200, // of loading programs and slow evaluations of a tenant on the main thread while others want it
  stallPercent: 2, // of the time; past this and the burst the worker loads and evaluates what is not loaded

  // Turns of the main thread
  turnMs: 0.25, // of work in a turn of the event loop, or one piece that takes longer
  turnPiecesMax: 16, // of work in a turn
  turnAwaitedMs: 1, // for which a long piece of work waits for tenants that had less and may be about to ask
  turnMemoryMs: 10_000, // since a tenant's last request, until the others' no longer take turns with it

  // Tokens
  tokenBytesMax: 16 * 1024,
  verifiedTokensMax: 20_000,
  verifiedTokenTtlMs: 60_000,
  verifiedTokensCharsMax: 32 * 1024 * 1024, // all of them together
  subjectCharsMax: 512,
  accessTokenTtlMsMax: 86_400_000, // what a Tenant may ask for at most
  sessionTtlMsMax: 1_209_600_000, // 14 days: of a user's session at the tenant's own issuer
  refreshTokenTtlMs: 2_592_000_000, // 30 days, unless the Tenant says otherwise
  refreshTokenTtlMsMax: 31_536_000_000, // 365 days
  keyPublishedAheadMs: 900_000, // before a new key signs tokens
  signingKeyAgeMsMax: 7_776_000_000, // 90 days: past this a new key of tokens is made
  deniedTokensMax: 10_000, // single tokens of a tenant that were revoked and have not expired
  portalTokenTtlMs: 86_400_000,
  memberInvitationTtlMs: 604_800_000, // of a member's
  memberInvitationsMax: 200, // open ones of a tenant
  invitationKeyAgeMsMax: 7_776_000_000, // 90 days: past this the next invitation is signed by a new key
  redeemingsMax: 2, // at once on a server: nobody in particular may ask for it
  scarcePerSecondMax: 20, // requests of one address for what takes the database's time and asks for no token

  claimsMsMax: 200, // for the claims that are added to a token; past this it is issued without them
  claimsBytesMax: 8 * 1024, // of JSON of those of one token: as base64url, 11,000 of the 16,384 bytes that a token may have
  claimRelationshipsMax: 100, // of the claim relationships; an actor with more gets no such claim
  claimConsentsMax: 100, // that a user gave, older ones of a version too; a user with more gets no claim consents
  claimReadsMax: 2, // at once on a server, one of a tenant
  claimReadsWaitingMax: 256, // tokens that wait for one, on a server; past this the tenant that has most loses its oldest
  claimReadTokensMax: 8, // of one tenant in one read
  clockToleranceMs: 10_000, // of nbf and iat; exp is exact
  jwksRefreshAfterMs: 300_000, // in the background
  jwksMaxAgeMs: 600_000, // older keys are confirmed before they verify anything
  jwksStaleMaxMs: 3_600_000, // unless the issuer cannot be reached; past this nothing is accepted
  jwksRetryMs: 5000,
  jwksKeysMax: 64,
  publishedKeysTenantsMax: 10_000, // remembered
  jwksSourcesMax: 20_000,
  rsaModulusBitsMin: 2048,
  rsaModulusBitsMax: 8192,
  rsaExponentMin: 65_537,
  rsaExponentBytesMax: 4,
  jwksCooldownMs: 30_000,
  jwksResponseBytesMax: 512 * 1024,
  issuerLooksMax: 50, // issuers whose keys a server reads in one round without a token
  issuerLookRetryMs: 60_000, // of keys that could not be had, without a token
  issuerErrorCharsMax: 1024, // why keys could not be had, as it is stored
  outboundTimeoutMs: 5000,
  dnsLookupsMax: 2, // of libuv's four threads, one of a tenant
  dnsThreadsMax: 3, // with those that nobody waits for any more

  // Database
  statementTimeoutMs: 10_000, // of a tenant's transaction
  roundTripExtraMs: 2500, // beyond the time of a statement, for all statements that were sent in one round trip
  systemStatementTimeoutMs: 60_000, // loading every tenant's snapshot is one statement a kind

  // Tenants
  audiencesMax: 32,
  trustedIssuersMax: 32,
  clientsMax: 1000, // of a tenant
  clientSecretsMax: 2, // of a client at once
  clientSecretOverlapMs: 86_400_000, // for which the secret before works when a manifest's changes
  clientSecretCharsMax: 256,
  secretValueBytesMax: 4096, // of one key that a Tenant refers to

  // Types and relationships
  typeNameCharsMax: 63,
  attributeNameCharsMax: 63,
  typeAttributesMax: 64,
  typesMax: 1000, // of actors and resources together, and as many of relationships
  entityIdBytesMax: 1024,
  attributeCharsMax: 4096, // of one value
  attributeFiltersMax: 8, // of a list of actors or resources
  entitiesScannedMax: 2000, // for one page of such a list; past this it ends with what it has, and a cursor
  importLineBytesMax: 8192,
  importBatchLinesMax: 5000,
  importBytesMax: 8 * 1024 * 1024 * 1024,
  importIdleMs: 60_000, // without a byte
  relationshipQuotaMarginItems: 100_000, // with no more than so many left of a tenant's quota, its writers take turns
  importAnalyzeRowsMin: 1000, // created by an import: Postgres analyzes the table then, if they are also the next share of it
  importAnalyzePercentMin: 10,
  importErrorsMax: 1000, // told of one import; all are counted
  exportPageItemsMax: 5000,
  deletePageItemsMax: 20_000, // relationships in one statement
  erasePageItemsMax: 2000, // ledger entries, invitations and Idempotency-Keys in one statement of erasing an actor
  eraseScanItemsMax: 1000, // decisions, audit entries and failed deliveries looked through in one statement
  eraseScanBytesMax: 16 * 1024 * 1024, // of decisions or audit entries looked through in one statement, and the last one beyond it
  eraseRewriteBytesMax: 1024 * 1024, // of these, read to be rewritten, and the last one beyond it
  erasedTextsMax: 1000, // of a decision, compared with what was erased; of one that has more, only who, what and outcome are recorded
  eraseContactsMax: 16, // addresses of the actor in one request; an erasure under way has as many in all, each in up to two spellings
  eraseRequestMs: 20_000, // past this the request answers how far it came, and is repeated
  erasePreviewMs: 3000, // then what was counted is answered

  // Idempotency-Key
  idempotencyKeyCharsMax: 255,
  idempotencyKeptMs: 86_400_000,
  idempotencyAnswerWaitMs: 30_000, // from when a key was reserved until its answer is not to be expected any more
  idempotencyAnswerBytesMax: 16 * 1024, // a longer one is not stored
  idempotencyKeysPerUserMax: 1000, // remembered at once; back ends have their tenant's limits

  // Invitations
  invitationAgeMsMax: 2_592_000_000, // 30 days: the longest ttl that a relationship type may have
  invitationsPerUserMax: 60, // in an hour, by one user: each may be a mail to any address
  invitationResendPauseMs: 60_000, // after the first delivery; doubled with each further one
  sharingOffersMax: 200, // that a user is asked about at once, each by a policy
  invitationsLookedAtMax: 500, // of those to one entity, for one page of a user; the cursor goes on behind them
  invitationsWipedMax: 100, // expired ones whose contact is wiped when one is made

  // Consent definitions
  definitionsMax: 1000, // of a tenant, archived ones too
  consentNameCharsMax: 128,
  consentVersionCharsMax: 64, // of a version, and of a document
  consentLanguageCharsMax: 64,
  consentVersionsMax: 32, // of a definition
  consentDocumentsMax: 128, // of a version, in all languages
  consentTitleCharsMax: 200,
  consentBodyBytesMax: 64 * 1024, // of a document's content; escaped as JSON it fits into bodyBytesMax
  consentNestingDepthMax: 64, // of the elements of HTML; what is deeper loses its markup and keeps its words
  consentRemovedMax: 32, // elements and attributes of HTML that its author is told were removed
  consentRemovedCharsMax: 64, // of the name of one
  consentLanguagesShownMax: 64, // in a 404
  plainTextsKept: 32, // documents whose text was made from HTML
  periodCharsMax: 47,

  // Writes
  writeAttemptsMax: 5, // of one transaction that meets deadlocks or serialization failures
  writeRetryMsMax: 100, // before another attempt

  // Users' consents
  consentBatchMax: 50, // items of one request
  consentNamesCharsMax: 4096, // of the list of definitions in one question
  proofBytesMax: 4096,
  memberReasonCharsMax: 500, // why a member acts for a user
  proofMembersMax: 64,
  consentsLookedAtMax: 2000, // for one page of those who are left with a version
  adoptionKeptUsersMin: 100_000, // counts of so many users of a definition are kept
  adoptionKeptMs: 60_000,
  adoptionsKept: 1000, // definitions of all tenants whose counts a server keeps
  registrationItemsMax: 500, // in one transaction, unless one request alone has more
  registrationsWritingMax: 2, // transactions of a tenant at once

  // Ledger
  ledgerThrottledMs: 1000, // of a caller's requests that a rate limit refused, one is recorded
  ledgerTextBytesMax: 1024, // of a field; what is longer was refused, and is recorded cut
  ledgerGroupEntriesMax: 1000, // in one insert, unless one append alone has more
  ledgerCheckpointCharsMax: 2048,
  ledgerSealEntriesMax: 250, // under one checkpoint
  ledgerSealSliceEntriesMax: 25, // hashed at a stretch and moved by one statement, while answers wait
  ledgerVerifyPageItemsMax: 1000, // hashed at a stretch, while others wait
  ledgerExportPageItemsMax: 250, // one text
  auditEntriesLookedAtMax: 20_000, // for one page of a search; the cursor goes on behind them
  auditExportPageItemsMax: 250,
  auditExportsMax: 4, // of a tenant at once on a server
  ledgerExportsMax: 4, // of a tenant at once on a server: each holds a page for as long as its reader does not take it
  ledgerVerificationsMax: 2, // at once on a server: each takes its CPU for as long as it runs

  // Facts of a decision
  factsEntriesMax: 1000, // a side
  factsEdgesMax: 4000, // stored relationships on inheritance paths, a side; a path passes at most as many
  factsDerivedMax: 10_000, // times that two relationships make a third, a side
  dataSubjectsMax: 100,
  explainedStepsMax: 20_000, // of all inheritance paths of a side together; what is left out is counted
  factsPointersMax: 32, // relationships that are asked for one by one, a side; with more of them all are fetched
  factsQuestionsMax: 32, // in one query; with all that wait in one, this process and Postgres wait for each other in turn
  factsQueriesPerTenantMax: 2, // at once
  factsRowsTogetherMax: 1000, // of a tenant's next query, going by its last one: parsing an answer holds up all others

  // Servers
  serversShownMax: 200,

  // Overview
  overviewHoursMax: 168,
  overviewItemsMax: 20, // of each kind that needs somebody, and of reasons
  overviewRecordsMax: 5000, // the newest decisions, deliveries, graces and invitations that are looked at

  // People
  personRecordsMax: 1000, // of what has no order by time: a person's relationships of a direction, for its time line

  // Search
  searchTokenCharsMax: 8192,
  searchCandidatesMax: 500, // checked for one page; past this it ends with what it has, and a token
  searchPageMsMax: 500, // past this no more candidates are checked for a page, where each takes long
  searchHeadsMax: 4000, // entities by which relationships are inherited; past this all of the type are candidates

  ...accountLimits,
  ...eventLimits,
  ...mailLimits,
  ...laneLimits,
  ...deliveryLimits,
  ...operatorLimits,
  ...oidcLimits,
} as const;
