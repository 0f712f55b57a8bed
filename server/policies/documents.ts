/** Data documents as programs see them: each decoded once, and put together below data. */
import { limits } from '../core/limits.ts';
import type { BaseDocument } from '../rego/index.ts';

/** One revision of a document. */
export type DocumentRef = { readonly path: string; readonly number: number; readonly digest: string };
/**
 * Those of a policy.
 * @property key tells them from the same documents at other revisions @property numbers of their revisions, by path
 */
export type Documents = {
  readonly key: string;
  readonly list: readonly DocumentRef[];
  readonly numbers: Readonly<Record<string, number>>;
};
export type DocumentText = { readonly path: string; readonly digest: string; readonly text: string };
export type Decoded = { readonly value: unknown; readonly weight: number };

export function documentsOf(list: readonly DocumentRef[] | null): Documents | undefined {
  if (list === null || list.length === 0) return undefined;
  const numbers = Object.fromEntries(list.map(({ path, number }) => [path, number]));
  return { list, key: keyOf(list), numbers };
}

export function keyOf(list: readonly { path: string; digest: string }[]): string {
  return list.map(({ path, digest }) => `${path}@${digest}`).join(' ');
}

/** `weight`: how many programs it counts for. */
export function decoded(text: string): Decoded {
  return { value: JSON.parse(text), weight: Math.ceil(text.length / limits.instanceDocumentBytes) };
}

/** Paths do not overlap, and their parts begin with a letter. */
export function baseDocument(documents: readonly { path: string; value: unknown }[]): BaseDocument {
  const root: Record<string, unknown> = {};
  for (const { path, value } of documents) {
    const segments = path.split('/');
    let at = root;
    for (const segment of segments.slice(0, -1)) {
      if (!Object.hasOwn(at, segment)) at[segment] = {};
      at = at[segment] as Record<string, unknown>;
    }
    at[segments.at(-1) as string] = value;
  }
  return root;
}
