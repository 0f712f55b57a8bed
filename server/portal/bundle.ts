/** The portal's web application as it was built (portal/dist): read from the disk when it is asked for, and kept by nobody. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { PortalOptions } from '../room/room.ts';

/** Of a source tree and of the image. */
const DIST = resolve(import.meta.dirname, '../../portal/dist');

export type Bundle = {
  /** Files that never change under their names. */
  readonly assets: string;
  /** The document of every page, with its placeholders; undefined: it is not there yet. */
  index(): Promise<string | undefined>;
  /** The same of the sharing page of a tenant's users. */
  sharing(): Promise<string | undefined>;
};

export function openBundle({ directory = DIST }: PortalOptions = {}): Bundle {
  const read = (name: string) => readFile(join(directory, name), 'utf8').catch(unlessMissing);
  return { assets: join(directory, 'assets'), index: () => read('index.html'), sharing: () => read('sharing.html') };
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
