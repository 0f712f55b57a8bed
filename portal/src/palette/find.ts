/** Which entries a query finds, best first. */
import type { PaletteEntry } from '../core/screen.ts';

/** Words that begin with what was typed come first, then those that contain it; each typed word must be found. */
export function matching<T extends PaletteEntry>(entries: readonly T[], query: string): T[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const scored = entries.map((entry) => ({
    entry,
    score: score(`${entry.label} ${entry.hint ?? ''}`.toLowerCase(), words),
  }));
  return scored
    .filter(({ score }) => score !== undefined)
    .sort((a, b) => (b.score ?? 0) - (a.score ?? 0))
    .map(({ entry }) => entry);
}

function score(text: string, words: readonly string[]): number | undefined {
  let sum = 0;
  for (const word of words) {
    const at = text.indexOf(word);
    if (at < 0) return undefined;
    sum += at === 0 ? 3 : /[\s/:.-]/.test(text[at - 1] ?? '') ? 2 : 1;
  }
  return sum;
}
