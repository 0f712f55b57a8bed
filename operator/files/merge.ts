/** The objects that all files make together, pure: who wins a name, what is only missing, and whether the list is complete. */
import { isDeepStrictEqual } from 'node:util';
import type { Key, SourceProblem } from '../source.ts';
import type { FileObject } from './parse.ts';
import type { FileState } from './states.ts';
import type { Listing } from './tree.ts';

export type Store = {
  objects: Map<Key, FileObject>;
  /** Objects that no file has any more, since when (monotonic ms); they are still among `objects`. */
  missing: Map<Key, number>;
  problems: SourceProblem[];
  /** Whether what is absent is gone. */
  complete: boolean;
};

type Scan = {
  states: ReadonlyMap<string, FileState>;
  listing: Pick<Listing, 'problems' | 'whole'>;
  /** A file was being written: the next scan knows more. */
  changing: boolean;
  before: Store;
  now: number;
  vanishMs: number;
};

export function merge({ states, listing, changing, before, now, vanishMs }: Scan): Store {
  const paths = [...states.keys()].sort();
  const problems = [...listing.problems, ...paths.flatMap((path) => states.get(path)?.problems ?? [])];
  const whole = listing.whole && !changing && paths.every((path) => states.get(path)?.whole);
  const objects = new Map<Key, FileObject>();
  for (const path of paths) {
    for (const object of states.get(path)?.objects ?? []) {
      const first = objects.get(object.key);
      if (first === undefined) objects.set(object.key, sameAsBefore(object, before));
      else problems.push(duplicate(object, first));
    }
  }
  // What a broken file said before gives way to what a readable one says now.
  for (const path of paths) {
    for (const object of states.get(path)?.kept ?? []) {
      if (!objects.has(object.key)) objects.set(object.key, sameAsBefore(object, before));
    }
  }
  const missing = new Map<Key, number>();
  for (const [key, object] of before.objects) {
    if (objects.has(key)) continue;
    const since = before.missing.get(key) ?? now;
    if (whole && now - since >= vanishMs) continue;
    objects.set(key, object);
    missing.set(key, since);
  }
  return { objects, missing, problems, complete: whole };
}

/** The identity of an object is its version: where nothing changed, the object stays the same one. */
function sameAsBefore(object: FileObject, before: Store): FileObject {
  const known = before.objects.get(object.key);
  if (known === undefined || known === object) return object;
  const { locate: _, ...now } = object;
  const { locate: __, ...was } = known;
  return isDeepStrictEqual(now, was) ? known : object;
}

function duplicate(object: FileObject, first: FileObject): SourceProblem {
  const name = `${object.kind} ${object.namespace === '' ? '' : `${object.namespace}/`}${object.name}`;
  return {
    place: `${object.path}:${object.line}`,
    message: `${name} is already in ${first.path}:${first.line}, which comes first; this one is ignored.`,
  };
}
