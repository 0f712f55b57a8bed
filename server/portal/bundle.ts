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
};

export function openBundle({ directory = DIST }: PortalOptions = {}): Bundle {
  return {
    assets: join(directory, 'assets'),
    index: () => readFile(join(directory, 'index.html'), 'utf8').catch(unlessMissing),
  };
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
