/** Makes the objects of a file from its text: what they claim, and the function that finds their places. */
import { claimsOf } from '../kinds/claim.ts';
import { type FileObject, type ParsedFile, type ParsedText, parseText, type TextObject } from './parse.ts';
import { locator } from './places.ts';

/** @param path as it is shown, relative to the directory of manifests */
export function parseFile(path: string, text: string): ParsedFile {
  return revive(path, parseText(path, text));
}

/** Completes what a thread has read. */
export function revive(path: string, { objects, ...rest }: ParsedText): ParsedFile {
  return { objects: objects.map((object) => complete(path, object)), ...rest };
}

function complete(path: string, { spots, loose, ...object }: TextObject): FileObject {
  const manifest = object.checked.ok ? object.checked.manifest : loose;
  return { ...object, claims: claimsOf({ ...manifest }, object.kind), locate: locator.in(path, spots) };
}
