/**
 * How a test waits. There are two reasons to: something will become so (`until`), or something must not come though it
 * had its chance (`turns`). Nothing here measures how fast the product is: bench/ does that.
 */
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { inspect } from 'node:util';

/** What is not so by then never is, however busy the machine. vitest.config.ts gives each test twice as long. */
export const WAIT_MS_MAX = 120_000;
const ASK_AGAIN_MS = 10;

/**
 * Asks until the answer is truthy, and returns it. An `expect` that fails inside is an answer of no.
 * @param what completes "waited for …" in the error: "the second delivery"
 * @throws Error that says what it waited for, and the last answer or error
 */
export async function until<T>(what: string, ask: () => T | Promise<T>): Promise<NonNullable<T>> {
  const end = performance.now() + WAIT_MS_MAX;
  for (;;) {
    let last: string;
    try {
      const answer = await ask();
      if (answer) return answer as NonNullable<T>;
      last = `the last answer was ${inspect(answer)}`;
    } catch (error) {
      if (performance.now() > end) throw new Error(`waited ${WAIT_MS_MAX} ms for ${what}`, { cause: error });
      last = String(error);
    }
    if (performance.now() > end) throw new Error(`waited ${WAIT_MS_MAX} ms for ${what}: ${last}`);
    await sleep(ASK_AGAIN_MS);
  }
}

/** The same for what is said by `expect`: passes when it no longer throws. */
export async function untilPasses(what: string, check: () => unknown): Promise<void> {
  await until(what, async () => {
    await check();
    return true;
  });
}

/** Lets what is ready to run in this process run, and what that made ready, so many times. No wall time passes. */
export async function turns(count = 20): Promise<void> {
  for (let n = 0; n < count; n++) await turn();
}
