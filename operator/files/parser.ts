/**
 * Reads files of manifests without holding up the process: a YAML of 4 MiB takes seconds. Small files are read where
 * they are; larger ones in a thread, one after the other, within a bound of its CPU time and of its memory.
 */
import { Worker } from 'node:worker_threads';
import { limits } from '../../server/core/limits.ts';
import { broken, type ParsedFile, type ParsedText } from './parse.ts';
import { parseFile, revive } from './parse-file.ts';
import type { FromParseWorker, ToParseWorker } from './parse-worker.ts';

const LOOK_MS = 100;
const MIB_PAGES = 16;

/** For one file. */
type Bounds = { cpuMsMax: number; memoryPages: number };

export class Parser {
  readonly #bounds: Bounds;
  #worker: Worker | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(bounds: Partial<Bounds> = {}) {
    this.#bounds = { cpuMsMax: limits.manifestParseMsMax, memoryPages: limits.manifestParsePages, ...bounds };
  }

  /** @param path as it is shown, relative to the directory of manifests */
  async parse(path: string, text: string): Promise<ParsedFile> {
    if (text.length <= limits.manifestParsedHereCharsMax) return parseFile(path, text);
    const parsed = this.#last.then(() => this.#parseApart({ path, text }));
    this.#last = parsed;
    return parsed;
  }

  /** Ends the thread, which holds some memory; another one starts when it is needed. */
  async rest(): Promise<void> {
    await this.#last;
    await this.#end();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#end();
    await this.#last;
  }

  async #parseApart(file: ToParseWorker): Promise<ParsedFile> {
    if (this.#closed) return broken(file.path, 'The file was not read: the process is stopping.');
    this.#worker ??= startWorker(this.#bounds.memoryPages);
    try {
      return revive(file.path, await ask(this.#worker, file, this.#bounds.cpuMsMax));
    } catch (error) {
      await this.#end();
      return broken(file.path, `The file cannot be read: ${(error as Error).message}.`);
    }
  }

  async #end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }
}

function startWorker(memoryPages: number): Worker {
  const worker = new Worker(new URL('./parse-worker.ts', import.meta.url), {
    name: 'manifests',
    env: {},
    execArgv: ['--disable-warning=ExperimentalWarning'],
    resourceLimits: { maxOldGenerationSizeMb: memoryPages / MIB_PAGES },
  });
  worker.unref();
  return worker;
}

/** @throws Error when the thread ended, for lack of memory too, or has worked for too long */
function ask(worker: Worker, file: ToParseWorker, cpuMsMax: number): Promise<ParsedText> {
  const answer = Promise.withResolvers<ParsedText>();
  let looking: NodeJS.Timeout | undefined;
  const receive = (message: FromParseWorker) => {
    if (message !== 'started') return answer.resolve(message);
    let begun: number | undefined;
    // By its CPU time, so that a busy machine refuses nobody.
    looking = setInterval(async () => {
      const { user, system } = await worker.cpuUsage().catch(() => ({ user: 0, system: 0 }));
      const ms = (user + system) / 1000;
      begun ??= ms;
      if (ms - begun > cpuMsMax) answer.reject(new Error(`it takes more than ${cpuMsMax} ms of CPU time`));
    }, LOOK_MS);
  };
  const ended = () => answer.reject(new Error('its thread ended'));
  worker.on('message', receive).on('error', answer.reject).on('exit', ended);
  worker.ref();
  worker.postMessage(file);
  return answer.promise.finally(() => {
    clearInterval(looking);
    worker.off('message', receive).off('error', answer.reject).off('exit', ended);
    worker.unref();
  });
}
