/** The worker thread of passwords.ts: argon2id, one after another, below the main thread in priority. */
import { argon2Sync } from 'node:crypto';
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { ArgonJob } from './passwords.ts';

const NICE = 10; // Linux: of this thread alone, so that decisions on the main thread come first
try {
  setPriority(0, NICE);
} catch {
  // Not allowed everywhere; the queue is bounded without it.
}

parentPort?.on('message', ({ id, message, nonce, memory, passes, parallelism, tagLength }: ArgonJob) => {
  const tag = argon2Sync('argon2id', { message, nonce, memory, passes, parallelism, tagLength });
  parentPort?.postMessage({ id, tag: new Uint8Array(tag) });
});
