/** The bounds of the decision log, and of what is read of it and of other logs, as part of core/limits.ts. */
export const decisionLimits = {
  decisionLogQueueMax: 20_000,
  decisionLogQueueCharsMax: 64 * 1024 * 1024, // of all requests and answers that wait to be recorded
  logEntriesLookedAtMax: 20_000, // of a log: for one page of a search of decisions, whose cursor goes on behind them; or for a request id
  lookupRecordsMax: 50, // that are answered of those with an id
  missingRelationshipsMax: 4, // of one explanation, whose paths are looked for: each is a query
  missingWaysMax: 8, // to inherit one relationship, that are looked at
  missingPathsMax: 3, // that are told of one relationship
  replayRecordsMax: 1000, // of the decision log, in one replay
  replayMsMax: 20_000, // then it tells what it has found
  replayExamplesMax: 20,
  replayExampleBytesMax: 256 * 1024, // of all requests and answers in the examples; past this they are told without
  replaysMax: 2, // at once on a server, one of a tenant
  replaysWaitingMax: 8, // for their turn, on a server; further ones are refused
} as const;
