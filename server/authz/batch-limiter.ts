/**
 * How many batches of a tenant this server works on at once: each holds its requests, and its answers until the
 * client has read them.
 */
import type { ServerResponse } from 'node:http';
import { KeyedSemaphore } from '../core/keyed-semaphore.ts';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import { authzProblem } from './problems.ts';

export class BatchLimiter {
  readonly #semaphore = new KeyedSemaphore(limits.batchesPerTenantMax);
  readonly #takenMsMax: number;

  /** @param takenMsMax a client that has not read its answer after so long is cut off */
  constructor(takenMsMax: number = limits.batchAnswerTakenMsMax) {
    this.#takenMsMax = takenMsMax;
  }

  /**
   * Runs `work` in its tenant's turn; its place is given up when the response was taken or its connection has ended.
   * @throws Problem batches_busy; client_closed_request when the connection ended before its turn
   */
  run<T>(tenant: string, response: ServerResponse, work: () => Promise<T>): Promise<T> {
    if (this.#semaphore.waiting(tenant) >= limits.batchesWaitingPerTenantMax) {
      throw authzProblem('batches_busy');
    }
    return new Promise((resolve, reject) => {
      const taken = new Promise<void>((done) => response.once('close', done));
      void this.#semaphore.run(tenant, async () => {
        if (response.closed) return reject(problem('client_closed_request')); // no client reads it
        try {
          resolve(await work());
        } catch (error) {
          reject(error);
        }
        const cut = setTimeout(() => response.destroy(), this.#takenMsMax);
        await taken;
        clearTimeout(cut);
      });
    });
  }
}
