/** Limits of deliveries of events to endpoints, a part of limits.ts. */
export const deliveryLimits = {
  deliveryConnectionsMax: 8, // to one endpoint, from a server
  deliveryTimeoutMs: 10_000, // of one request with its answer
  deliveryAnswerBytesMax: 64 * 1024, // what is more is not read
  deliveryExcerptCharsMax: 1000, // of an answer or a request, as it is shown
  deliveryEventsMax: 100, // of one step of a lane, and of one request with a batch
  deliveryOpenMax: 10_000, // events of a subscription that failed or wait behind one; while there are as many, no more are read
  deliveryFailuresMax: 10, // in a row, then nothing is sent for a while
  deliveryBlockedMsMin: 5000, // for which nothing is sent; doubled each time that the endpoint then fails again
  deliveryBlockedMsMax: 300_000,
  deliveryFailingMsMax: 432_000_000, // five days, then the subscription is disabled
  deliveryDaysKept: 14, // whole days of attempts
  replayConnectionsMax: 2, // of a replay, besides those of live deliveries
  replayEventsMax: 50, // read at once by a replay
  replayAttemptsMax: 3, // of one event
  endpointTokenMsMax: 3_600_000, // for which a token of an authorization server is used
} as const;
