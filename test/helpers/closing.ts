/** Ends what a test or a file has made. */
import { afterAll, onTestFinished, TestRunner } from 'vitest';

/** Called in a test: when that ends. Else: behind the last test of the file, or of the describe. `afterAll` in a test does nothing. */
export function closeAtEnd(close: () => unknown): void {
  const run = async () => void (await close());
  if (TestRunner.getCurrentTest() === undefined) afterAll(run);
  else onTestFinished(run);
}
