/** Work on what tenants wrote, which ends in time. */
import { createContext, Script } from 'node:vm';
import { limits } from '../core/limits.ts';
import { TemplateError } from './template-error.ts';

const context = createContext({ work: undefined as unknown });
const call = new Script('work()');

/**
 * Does work on what tenants wrote, and ends it after mailRenderMsMax wherever it is: much of the library takes the square of a length.
 * Only time that passes can end work, so what was ended before it had the CPU for so long is done again with more time.
 * @param cpuMs CPU time of this thread @throws TemplateError
 */
export function withTimeLimit<T>(work: () => T, cpuMs = threadCpuMs): T {
  const { mailRenderMsMax: maxMs, mailRenderAttemptsMax, mailRenderWaitMsMax } = limits;
  let timeoutMs: number = maxMs;
  for (let attempt = 1; ; attempt++) {
    const began = cpuMs();
    try {
      return runWithTimeout(work, timeoutMs);
    } catch (error) {
      if (!isTimeout(error)) throw error;
    }
    const usedMs = Math.max(1, cpuMs() - began);
    if (usedMs > 0.9 * maxMs || attempt === mailRenderAttemptsMax)
      throw new TemplateError(`it takes more than ${maxMs} ms`);
    timeoutMs = Math.min(mailRenderWaitMsMax, Math.ceil((1.5 * timeoutMs * maxMs) / usedMs));
  }
}

function runWithTimeout<T>(work: () => T, timeout: number): T {
  context.work = work;
  try {
    return call.runInContext(context, { timeout }) as T;
  } finally {
    context.work = undefined;
  }
}

const isTimeout = (error: unknown) => (error as { code?: string }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
