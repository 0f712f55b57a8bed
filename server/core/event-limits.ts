/** Limits of the events room, a part of limits.ts. */
export const eventLimits = {
  eventBodyBytesMax: 64 * 1024, // of the data of one; a decision that has more is streamed without its request and obligations
  eventsMovedMax: 2000, // numbered in one transaction
  eventInboxWatermarkMs: 130_000, // a transaction commits or is ended within this time after it has written an event
  eventsRemovedMax: 5000, // in one statement
  eventsPageMax: 1000, // of one answer
  eventPageBytesMax: 1024 * 1024, // of the data of the events of one answer, or one event
  eventsScannedMax: 1000, // events looked at for one answer, of whatever types
  eventTypesAskedMax: 32,
  eventsErasedScanItemsMax: 200, // looked through in one statement
  eventWaitMsMax: 30_000,
  eventStreamMsMax: 60_000, // then a client connects again, with its token
  eventReadersMax: 20, // of a tenant, waiting or streaming, on a server
  dueRowsLookedAtMax: 1000, // of all tenants, in one look for what is due: with more, each tenant is looked at
  timedEventsMax: 200, // what time brings: emitted for one tenant in one transaction
  importEventItemsMax: 100, // relationships in one event
  eventTypeCharsMax: 64, // of a type, or of its beginning and a *
  eventTypesMax: 64, // that a subscription names
  eventFilterTypesMax: 64,
  endpointRetriesMax: 9, // as many as the schedule has
  subscriptionsMax: 50, // of a tenant
  signingSecretOverlapMs: 86_400_000, // for which requests have the signature of the secret before, too
} as const;
