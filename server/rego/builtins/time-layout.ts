/** Go's reference-time layouts ("2006-01-02T15:04:05Z07:00"): their names and how one is cut into chunks. */

/** A chunk of a layout: literal text, or one element of a time by the name of its reference form. */
export type Chunk = { literal: string } | Element;

/** `digits` and `separator` (point or comma) belong to fractions of a second. */
export type Element = { element: string; digits: number; separator: string };

/** The layouts that OPA's time.parse_ns and time.format accept by name. */
const NAMED: Record<string, string> = {
  ANSIC: 'Mon Jan _2 15:04:05 2006',
  UnixDate: 'Mon Jan _2 15:04:05 MST 2006',
  RubyDate: 'Mon Jan 02 15:04:05 -0700 2006',
  RFC822: '02 Jan 06 15:04 MST',
  RFC822Z: '02 Jan 06 15:04 -0700',
  RFC850: 'Monday, 02-Jan-06 15:04:05 MST',
  RFC1123: 'Mon, 02 Jan 2006 15:04:05 MST',
  RFC1123Z: 'Mon, 02 Jan 2006 15:04:05 -0700',
  RFC3339: '2006-01-02T15:04:05Z07:00',
  RFC3339Nano: '2006-01-02T15:04:05.999999999Z07:00',
};

export function layoutNamed(name: string): string {
  return Object.hasOwn(NAMED, name) ? NAMED[name]! : name;
}

/** Longest forms first. A short name followed by a lower-case letter is literal text ("Month"). */
const ELEMENT = new RegExp(
  [
    'January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|PM|pm',
    '002|01|02|03|04|05|06|15|1|2006|2|__2|_2(?!006)|3|4|5', // "_2006" is an underscore and a year
    '-07:00:00|-070000|-07:00|-0700|-07|Z07:00:00|Z070000|Z07:00|Z0700|Z07',
    '[.,](?:0+|9+)(?![0-9])',
  ].join('|'),
  'g',
);

/** Cuts a layout into chunks. Linear. */
export function chunksOf(layout: string): Chunk[] {
  const chunks: Chunk[] = [];
  let literal = '';
  let from = 0;
  const flush = () => {
    if (literal !== '') chunks.push({ literal });
    literal = '';
  };
  for (const { 0: found, index } of layout.matchAll(ELEMENT)) {
    literal += layout.slice(from, index);
    from = index + found.length;
    flush();
    chunks.push(elementChunk(found));
  }
  literal += layout.slice(from);
  flush();
  return chunks;
}

function elementChunk(found: string): Element {
  if (found[0] !== '.' && found[0] !== ',') return { element: found, digits: 0, separator: '' };
  return { element: found[1] === '0' ? 'fraction' : 'fraction?', digits: found.length - 1, separator: found[0] };
}

export const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
export const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
