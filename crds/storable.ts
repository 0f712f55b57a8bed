/**
 * Finds what the database cannot hold: U+0000 and half a surrogate pair, neither of which is in Postgres' text or jsonb,
 * numbers that JSON lacks, and nesting without bound. The one check that the API server does not make (no rule reaches into free-form fields), so that in a cluster it
 * shows in the status and not at admission.
 */
import { bounds } from './bounds.ts';
import type { ManifestError } from './describe-error.ts';
import { pointerStep } from './values.ts';

/** @returns one refusal for each value or field name below `pointer` that cannot be stored */
export function unstorable(pointer: string, value: unknown, depth = 0): ManifestError[] {
  if (typeof value === 'string') return refuse(pointer, value);
  if (typeof value === 'number' && !Number.isFinite(value)) return [{ pointer, detail: 'must be a finite number' }];
  if (typeof value !== 'object' || value === null) return [];
  if (depth >= bounds.depthMax) return [{ pointer, detail: `must not be nested more than ${bounds.depthMax} deep` }];
  return Object.entries(value).flatMap(([name, entry]) => {
    const at = `${pointer}/${pointerStep(name)}`;
    return [...refuse(at, name), ...unstorable(at, entry, depth + 1)];
  });
}

function refuse(pointer: string, text: string): ManifestError[] {
  if (text.includes('\0'))
    return [{ pointer, detail: 'must not contain the character U+0000, which cannot be stored' }];
  if (!text.isWellFormed())
    return [{ pointer, detail: 'must not contain half of a surrogate pair, which is not a character' }];
  return [];
}
