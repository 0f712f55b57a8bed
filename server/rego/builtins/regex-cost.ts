/** Foretelling what compiling a regular expression takes, from its text: RE2JS does not tell, and cannot be stopped. */

/** A Unicode class such as \pL has up to 700 ranges. */
export const CLASS_BYTES = 16_384;

/** Measured: 30 us for \pL, up to 300 us with its case folds merged into an alternation. */
const CLASS_FUEL = 800;
const FOLDED_CLASS_FUEL = 4000;
/** \w, [:alpha:] and their like. */
const SMALL_CLASS_FUEL = 100;
/** Folding a range takes 34 ns for each code point between the first and the last that have case. */
const FOLDED_POINTS = { first: 0x41, last: 0x1e943 };
const FOLDED_POINT_FUEL = 0.5;
const COPY_FUEL = 2;

const RANGE =
  /(\\x\{[0-9a-fA-F]+\}|\\x[0-9a-fA-F]{2}|\\.|[^\\])-(?=(\\x\{[0-9a-fA-F]+\}|\\x[0-9a-fA-F]{2}|\\.|[^\\]))/gsu;

/** `classes` counts Unicode classes; `fuel` is what they, ranges, folding and repetition add to a plain pattern's cost. */
export function patternCost(pattern: string): { fuel: number; classes: number } {
  const folds = /\(\?[a-zA-Z]*i/.test(pattern);
  const classes = count(pattern, /\\[pP]/g);
  let fuel = classes * (folds ? FOLDED_CLASS_FUEL : CLASS_FUEL);
  fuel += count(pattern, /\\[dDsSwW]|\[:/g) * SMALL_CLASS_FUEL;
  if (folds) for (const [, from, to] of pattern.matchAll(RANGE)) fuel += foldedPoints(from!, to!) * FOLDED_POINT_FUEL;
  let copies = 0; // of the whole pattern, at most, unless repetitions are nested
  for (const [, least, most] of pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g))
    copies += Math.max(Number(least), Number(most ?? 0));
  return { fuel: fuel + pattern.length * copies * COPY_FUEL, classes };
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

/** The whole range at once is left as it is. */
function foldedPoints(from: string, to: string): number {
  const [low, high] = [pointOf(from) ?? FOLDED_POINTS.first + 1, pointOf(to) ?? FOLDED_POINTS.last];
  if (low <= FOLDED_POINTS.first && high >= FOLDED_POINTS.last) return 0;
  return Math.max(0, Math.min(high, FOLDED_POINTS.last) - Math.max(low, FOLDED_POINTS.first));
}

/** The code point that an end of a range stands for; undefined for an escape that may be any. */
function pointOf(text: string): number | undefined {
  if (text[0] !== '\\') return text.codePointAt(0);
  if (text[1] === 'x') return text.length > 2 ? Number.parseInt(text.replace(/[^0-9a-fA-F]/g, ''), 16) : undefined;
  return /[0-9A-Za-z]/.test(text[1]!) ? undefined : text.codePointAt(1);
}
