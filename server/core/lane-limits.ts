/** Limits of lanes (core/lanes), a part of limits.ts. */
export const laneLimits = {
  laneOwnedMs: 15_000, // then another server may own the lane of one that died; renewed three times within it
  laneIdleMs: 30_000, // without work, then its owner gives it up
  lanePollMs: 1000, // between looks for lanes with work that nobody told of
  laneHintMs: 250, // between looks for the lanes of one tenant that has news
  laneTurnMs: 5000, // of a lane's turn, when the server owns lanesOwnedMax and others wait
  laneEndMsMax: 5000, // for what is under way when a lane ends; then it is cut off, and done again by the next owner
  laneRecordMsMax: 3000, // for recording what was done until then; what is not recorded is done again, too
  lanesOwnedMax: 500, // by one server
} as const;
