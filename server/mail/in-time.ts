/** Work on what tenants wrote, which ends in time, and why a template cannot be used. */
import { createContext, Script } from 'node:vm';
import { limits } from '../core/limits.ts';
import type { ProblemPlace } from '../core/problems.ts';

/** Why a template cannot be used. `line` and `column` begin with 1. `variable`: the one that it reads and was not given. */
export class TemplateError extends Error {
  readonly line: number | undefined;
  readonly column: number | undefined;
  readonly variable: string | undefined;
  constructor(message: string, line?: number, column?: number) {
    super(message);
    this.line = line;
    this.column = column;
    this.variable = /^undefined variable: ([\w-]+)/.exec(message)?.[1];
  }
}

/** The place of a template's error, for a problem. */
export function placeOf(pointer: string, { message, line, column }: TemplateError): ProblemPlace {
  const at = line === undefined || column === undefined ? {} : { line, column };
  const where = line === undefined ? '' : `Line ${line}, column ${column}: `;
  return { pointer, detail: `${where}${message}`, ...at };
}

const context = createContext({ work: undefined as unknown });
const call = new Script('work()');

/**
 * Does work on what tenants wrote, and ends it after mailRenderMsMax wherever it is: much of the library takes the square of a length.
 * Only time that passes can end work, so what was ended before it had the CPU for so long is done again with more time.
 * @param cpuMs CPU time of this thread @throws TemplateError
 */
export function inTime<T>(work: () => T, cpuMs = threadCpuMs): T {
  const { mailRenderMsMax: maxMs } = limits;
  let timeoutMs: number = maxMs;
  for (let attempt = 1; ; attempt++) {
    const began = cpuMs();
    try {
      return runInTime(work, timeoutMs);
    } catch (error) {
      if (!isTimeout(error)) throw error;
    }
    const usedMs = Math.max(1, cpuMs() - began);
    if (usedMs > 0.9 * maxMs || attempt === ATTEMPTS) throw new TemplateError(`it takes more than ${maxMs} ms`);
    timeoutMs = Math.min(LONGEST_MS, Math.ceil((1.5 * timeoutMs * maxMs) / usedMs));
  }
}
const ATTEMPTS = 3;
const LONGEST_MS = 1000;

function runInTime<T>(work: () => T, timeout: number): T {
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
