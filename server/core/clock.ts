/** The only source of time: every other file takes a Clock, so that a test can stop it. */

/** `now()` is milliseconds since the Unix epoch; `monotonic()` is milliseconds that never go back, from any origin. */
export type Clock = { now(): number; monotonic(): number };

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** CPU time of the calling thread, ms: unlike the clock, it stands still while other threads and processes have the core. */
export const threadCpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};
