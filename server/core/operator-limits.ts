/** The bounds of the operator, which are a part of limits.ts. */
export const operatorLimits = {
  // Operator
  manifestFileBytesMax: 4 * 1024 * 1024,
  manifestParsedHereCharsMax: 16 * 1024, // of a file; a larger one is read in a thread of its own: 4 MiB take seconds
  manifestParseMsMax: 60_000, // of that thread's CPU, for one file; 4 MiB take up to 16,000 on a busy machine
  manifestParsePages: 16_384, // of that thread's memory, 1 GiB: a parsed document takes 50 times as much as its text
  manifestFilesMax: 20_000,
  manifestDirectoryDepthMax: 16,
  manifestDocumentsPerFileMax: 2000,
  manifestRefusalsMax: 50, // told of one manifest
  yamlAliasesMax: 100, // expansions in one document
  massDeletionRowsMax: 10, // more rows than this and a greater share than the next are not deleted unasked
  massDeletionPercentMax: 20,
  massDeletionWindowMs: 60_000,
  reconcileFirstTriesMax: 5, // of one manifest at the start; past this nobody waits for it
  reconcileRetryMsMin: 250,
  reconcileRetryMsMax: 30_000,
  reconcileAgedAfterMs: 1000,
  waitingShownMax: 1000, // of what waits, by /waiting on the admin port

  // Kubernetes API server
  kubernetesRequestConnectionsMax: 4,
  kubernetesStreamConnectionsMax: 26, // two for each kind that is watched
  kubernetesAnswerBytesMax: 64 * 1024 * 1024, // of a page of a list; a smaller page is asked for past this
  kubernetesRefusalBytesMax: 64 * 1024,
  kubernetesTriesMax: 6, // while the server asks to wait
  kubernetesRetryMsMin: 100,
  kubernetesRetryMsMax: 5000,
  kubernetesFrameBytesMax: 8 * 1024 * 1024, // etcd holds 1.5 MiB of an object
  kubernetesWritesPerSecondMax: 600,
  kubernetesEventsBurstMax: 100,
  kubernetesEventsWaitingMax: 32,
  kubernetesEventObjectsMax: 10_000, // remembered
  leaseDurationMs: 15_000, // others wait this long after the last renewal that they saw
  leaseRenewDeadlineMs: 10_000, // without a renewal for this long a leader ends
  leaseRetryMs: 2000,
  finalizerRemovalLeaseMs: 60_000, // as long as nobody leads after `accord finalizers remove`, for its operator to be uninstalled in
  termAcquireWaitMs: 500, // transactions of the term before end by themselves, or are ended
} as const;
