/** Mail of a local installation: a file for each message, and a line that says which. The file holds links that log somebody in. */
import { join } from 'node:path';
import { startOutbox } from '../server/mail/index.ts';
import type { Services } from '../server/services.ts';
import { placeOfFile } from './place.ts';

/** @param directory of the installation's data */
export const outboxOf = (directory: string) => join(directory, 'outbox');

/** @param directory of the installation's data @returns what ends it */
export function openOutbox(services: Services, directory: string): () => Promise<void> {
  return startOutbox(services, outboxOf(directory), ({ tenant, to, subject, path }) => {
    console.log(`Mail to ${to} of ${tenant} (${subject}): see ${placeOfFile(path)}`);
  });
}
