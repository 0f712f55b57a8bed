/** Where a file is, as a person can open it from where the command runs: npm runs it in the package's folder. */
import { isAbsolute, relative, resolve } from 'node:path';

/** @returns relative to the working directory when the file is below it, and absolute when it is elsewhere */
export function placeOfFile(path: string, from = process.cwd()): string {
  const place = relative(from, path);
  return place.startsWith('..') || isAbsolute(place) ? resolve(from, path) : place;
}
