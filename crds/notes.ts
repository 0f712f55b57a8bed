import { definitionOf, type Manifest } from './kinds.ts';

/** What has no effect yet, one sentence for each; of a manifest that was accepted by checkManifest. */
export function notesOn({ kind, spec }: Manifest): string[] {
  return definitionOf(kind).notes?.(spec as never) ?? [];
}
