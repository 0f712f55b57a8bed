/**
 * Looks at a directory of manifests: which files there are, below it and behind symbolic links that stay below it,
 * and reading one of them so that a file that is being written is not taken for a short one.
 */
import type { BigIntStats } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { limits } from '../../server/core/limits.ts';
import type { SourceProblem } from '../source.ts';

export type Listing = {
  /** Paths relative to the directory, in byte order. */
  files: Map<string, BigIntStats>;
  /** Every directory that was looked into, absolute, by its identity. */
  directories: Map<string, string>;
  problems: SourceProblem[];
  /** False when something could not be looked into. */
  whole: boolean;
};

const MANIFEST = /\.(ya?ml|json)$/i;

/** @param except a directory that is not looked into, such as that of our own status files, which are no manifests */
export async function listTree(root: string, except?: string): Promise<Listing> {
  const top = await realpath(root).catch(() => root);
  const listing: Listing = { files: new Map(), directories: new Map(), problems: [], whole: true };
  const own = except === undefined ? undefined : await stat(except, { bigint: true }).catch(() => undefined);
  const identity = own && `${own.dev}:${own.ino}`;
  if (identity !== undefined) listing.directories.set(identity, root);
  await look({ root, top }, '', 0, listing);
  if (identity !== undefined) listing.directories.delete(identity);
  listing.files = new Map([...listing.files].sort(([a], [b]) => (a < b ? -1 : 1)));
  return listing;
}

/** @param at.top what the root is without links */
async function look(at: { root: string; top: string }, below: string, depth: number, listing: Listing): Promise<void> {
  const { root, top } = at;
  const directory = join(root, below);
  const fail = (message: string) => {
    listing.problems.push({ place: below === '' ? root : below, message });
    listing.whole = false;
  };
  if (depth > limits.manifestDirectoryDepthMax)
    return fail(`Directories are nested more than ${limits.manifestDirectoryDepthMax} deep.`);
  let names: string[];
  try {
    const about = await stat(directory, { bigint: true });
    const identity = `${about.dev}:${about.ino}`;
    if (listing.directories.has(identity)) return; // a link back
    listing.directories.set(identity, directory);
    names = await readdir(directory);
  } catch (error) {
    // What vanished below the top while we looked is gone; without the top nothing is known.
    return isMissing(error) && below !== '' ? undefined : fail(describe(error));
  }
  // Hidden: what editors leave, .git, and the versions behind a mounted ConfigMap, which are linked to by their names.
  const shown = names.filter((name) => !name.startsWith('.')).sort();
  const found = await Promise.allSettled(shown.map((name) => statWithin(top, join(directory, name))));
  for (const [i, name] of shown.entries()) {
    const path = below === '' ? name : `${below}/${name}`;
    const about = found[i] as PromiseSettledResult<BigIntStats>;
    if (about.status === 'rejected') {
      if (about.reason instanceof LeadsOut && isManifest(name, about.reason)) {
        listing.problems.push({ place: path, message: about.reason.message });
        listing.whole = false;
      } else if (!isMissing(about.reason) && !(about.reason instanceof LeadsOut)) {
        fail(`${name}: ${describe(about.reason)}`);
      }
    } else if (about.value.isDirectory()) await look(at, path, depth + 1, listing);
    else if (about.value.isFile() && MANIFEST.test(name)) listing.files.set(path, about.value);
    if (listing.files.size > limits.manifestFilesMax) {
      return fail(`There are more than ${limits.manifestFilesMax} files.`);
    }
  }
}

class LeadsOut extends Error {
  readonly about: BigIntStats;

  constructor(about: BigIntStats) {
    super('The link points outside the directory of manifests; it is not followed.');
    this.about = about;
  }
}

/** What leads out and would be read otherwise; anything else is none of ours. */
function isManifest(name: string, { about }: LeadsOut): boolean {
  return about.isDirectory() || MANIFEST.test(name);
}

/** @throws LeadsOut for a link to what is not below the top */
async function statWithin(top: string, path: string): Promise<BigIntStats> {
  const real = await realpath(path);
  const about = await stat(real, { bigint: true });
  if (real !== top && !real.startsWith(top.endsWith(sep) ? top : top + sep)) throw new LeadsOut(about);
  return about;
}

type ReadFile = { text: string; about: BigIntStats } | { problem: string } | 'changing' | 'gone';

/**
 * Reads a file whole, and only if nobody wrote to it meanwhile.
 * @param listed what was found there: another file in its place is looked at anew, because a link may lead elsewhere now
 */
export async function readManifests(path: string, listed?: BigIntStats): Promise<ReadFile> {
  try {
    const file = await open(path, 'r');
    try {
      const before = await file.stat({ bigint: true });
      if (listed !== undefined && (before.ino !== listed.ino || before.dev !== listed.dev)) return 'changing';
      if (before.size > limits.manifestFileBytesMax) {
        return { problem: `The file has ${before.size} bytes; ${limits.manifestFileBytesMax} are allowed.` };
      }
      const bytes = await file.readFile();
      const about = await file.stat({ bigint: true });
      if (stamp(before) !== stamp(about) || BigInt(bytes.length) !== about.size) return 'changing';
      return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), about };
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isMissing(error)) return 'gone';
    if ((error as { code?: string }).code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      return { problem: 'The file is not UTF-8.' };
    return { problem: describe(error) };
  }
}

/** Two equal stamps are the same content, if the content is older than the clock of the file system is coarse. */
export function stamp(about: BigIntStats): string {
  return `${about.dev}:${about.ino}:${about.size}:${about.mtimeNs}:${about.ctimeNs}`;
}

function isMissing(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function describe(error: unknown): string {
  const { code, message } = error as { code?: string; message: string };
  const known: Record<string, string> = {
    ENOENT: 'Directory not found.',
    ENOTDIR: 'Not a directory.',
    EACCES: 'Permission denied.',
    ELOOP: 'Symbolic links form a loop.',
  };
  return known[code ?? ''] ?? message;
}
