/** What each file said when it was last read, and reads again what may say something else now. */
import { join } from 'node:path';
import type { SourceProblem } from '../source.ts';
import { broken, type FileObject } from './parse.ts';
import type { Parser } from './parser.ts';
import { type Listing, readManifests, stamp } from './tree.ts';

export type FileState = {
  objects: readonly FileObject[];
  /** What the file said before it became unreadable, in part or as a whole. */
  kept: readonly FileObject[];
  problems: readonly SourceProblem[];
  whole: boolean;
  stamp: string;
};

/** File systems stamp with their own coarse clock: what was written this shortly before it was read is read again. */
const COARSE_MS = 2000;

export async function readStates(
  directory: string,
  listing: Listing,
  before: ReadonlyMap<string, FileState>,
  now: number,
  parser: Parser,
): Promise<{ states: Map<string, FileState>; changing: boolean }> {
  const states = new Map<string, FileState>();
  let changing = false;
  for (const [path, about] of listing.files) {
    const known = before.get(path);
    if (known && known.stamp === stamp(about)) {
      states.set(path, known);
      continue;
    }
    const read = await readManifests(join(directory, path), about);
    if (read === 'gone') continue;
    if (read === 'changing') {
      changing = true;
      if (known) states.set(path, known);
      continue;
    }
    const parsed = 'problem' in read ? broken(path, read.problem) : await parser.parse(path, read.text);
    const isOld = 'about' in read && Number(read.about.ctimeNs / 1_000_000n) < now - COARSE_MS;
    const state = { ...parsed, stamp: isOld && 'about' in read ? stamp(read.about) : '' };
    states.set(path, { ...state, kept: state.whole ? [] : keptOf(known, state) });
  }
  await parser.rest();
  // In a directory that could not be looked into the files are what they were.
  if (!listing.whole) for (const [path, known] of before) if (!states.has(path)) states.set(path, known);
  return { states, changing };
}

function keptOf(known: FileState | undefined, now: Pick<FileState, 'objects' | 'problems'>): FileObject[] {
  const there = new Set(now.objects.map((object) => object.key));
  const problem = now.problems.map((one) => `${one.place}: ${one.message}`).join('\n');
  return [...(known?.objects ?? []), ...(known?.kept ?? [])]
    .filter((object) => !there.has(object.key))
    .map((object) => ({ ...object, problem }));
}
