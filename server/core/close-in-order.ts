import { limits } from './limits.ts';
import type { Observe } from './observe.ts';

type CloseStep = {
  /** What is closed: "the listener of the APIs". */
  name: string;
  close(): Promise<unknown>;
  /** Gives up what hangs, so that the step can end. */
  late?(): void;
};

/**
 * Closes one after another. A step that fails, or takes longer than it may, is observed, and the next one goes on: what hangs must
 * not take with it what the others would still write.
 */
export async function closeInOrder(
  steps: readonly CloseStep[],
  { observe, stepMsMax = limits.closeStepMsMax }: { observe: Observe; stepMsMax?: number },
): Promise<void> {
  for (const { name, close, late } of steps) {
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        late?.();
        reject(new Error(`it was not closed within ${stepMsMax} ms, and is left as it is`));
      }, stepMsMax);
    });
    try {
      await Promise.race([close(), tooLate]);
    } catch (error) {
      observe({ kind: 'background_failed', task: `closing ${name}`, error });
    } finally {
      clearTimeout(timer);
    }
  }
}
