/** Finding a substring in linear time whatever the tenant's strings are. */

/** Below this, String.indexOf is at most that many times linear, and much faster. */
const SHORT = 32;

/** The UTF-16 offsets at which `part`, not empty, occurs in `text`, at most `max`; overlapping ones only if asked for. */
export function occurrences(text: string, part: string, options: { overlapping: boolean; max?: number }): number[] {
  const max = options.max ?? Number.POSITIVE_INFINITY;
  return part.length <= SHORT
    ? byIndexOf(text, part, options.overlapping, max)
    : byBorders(text, part, options.overlapping, max);
}

function byIndexOf(text: string, part: string, overlapping: boolean, max: number): number[] {
  const found: number[] = [];
  const step = overlapping ? 1 : part.length;
  for (let at = text.indexOf(part); at >= 0 && found.length < max; at = text.indexOf(part, at + step)) found.push(at);
  return found;
}

/** Knuth, Morris and Pratt. */
function byBorders(text: string, part: string, overlapping: boolean, max: number): number[] {
  const borders = bordersOf(Array.from({ length: part.length }, (_, i) => part.charCodeAt(i)));
  const found: number[] = [];
  let matched = 0;
  for (let at = 0; at < text.length && found.length < max; at++) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== unit) matched = borders[matched - 1]!;
    if (part.charCodeAt(matched) === unit) matched++;
    if (matched < part.length) continue;
    found.push(at + 1 - part.length);
    matched = overlapping ? borders[matched - 1]! : 0;
  }
  return found;
}

/** For each prefix of `items`, the length of its longest proper prefix that is also its suffix. */
export function bordersOf(items: readonly unknown[]): number[] {
  const borders = [0];
  let matched = 0;
  for (let at = 1; at < items.length; at++) {
    while (matched > 0 && items[matched] !== items[at]) matched = borders[matched - 1]!;
    if (items[matched] === items[at]) matched++;
    borders.push(matched);
  }
  return borders;
}
