/** semver.*: Semantic Versioning 2.0.0, with a leading "v" allowed, as OPA allows it. */
import type { SemVer } from 'semver';
import parse from 'semver/functions/parse.js';
import type { Value } from '../value.ts';
import { type BuiltinTable, refuse, stringOf } from './arguments.ts';

export const semverBuiltins: BuiltinTable = {
  'semver.compare': (_context, a, b) => (read(a) ?? refuse()).compare(read(b) ?? refuse()),
  'semver.is_valid': (_context, text) => typeof text === 'string' && read(text) !== null,
};

/** The package trims spaces, which OPA does not, and bounds versions to 256 characters. */
function read(value: Value | undefined): SemVer | null {
  const text = stringOf(value);
  return /^\s|\s$/.test(text) ? null : parse(text);
}
