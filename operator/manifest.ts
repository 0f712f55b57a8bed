/** What every source reads from a manifest in the same way: what it claims, its annotations, the digest of its spec. */

import { createHash } from 'node:crypto';
import { isObject } from '../crds/values.ts';

export type Loose = Record<string, unknown>;

// What stands in keys, in columns of text and in names of files.
const LEGIBLE = /^[^/\p{C}]{1,253}$/u;

export function isLegible(text: string): boolean {
  return LEGIBLE.test(text);
}

export function annotationsOf(value: Loose): Record<string, string> {
  const { annotations } = value.metadata as Loose;
  if (!isObject(annotations)) return {};
  return Object.fromEntries(
    Object.entries(annotations).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/** The same for two specs that differ in the order of keys, in comments or in layout only. */
export function digestOf(spec: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(spec)) ?? '')
    .digest('base64url');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}
