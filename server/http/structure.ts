/**
 * How much structure a text of JSON may have before it is parsed. V8 makes a hidden class for each new order of
 * members, which costs about 1 us and garbage that lasts: 256 KiB of objects with a name of their own each took 25 ms,
 * and of a usual body 2 ms. One pass over the characters, without allocation; what is no JSON is JSON.parse's to refuse.
 */
import { randomBytes } from 'node:crypto';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';

export const TOO_DEEP = `The body is nested more than ${limits.inputDepthMax} levels deep.`;
const TOO_MANY_VALUES = `The body has more than ${limits.bodyValuesMax} values.`;
const TOO_MANY_SHAPES = `The objects of the body have too many different sequences of field names (more than ${limits.bodyShapesMax}).`;

const [QUOTE, BACKSLASH, COMMA, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [34, 92, 44, 123, 125, 91, 93];
/** Twice as many places as there are shapes at most, rounded up to a power of two. */
const PLACES_BITS = 12;
/** The shapes of one body, by hash; 0 is free. Nothing else runs while a body is looked at. */
const places = new Int32Array(2 ** PLACES_BITS);
/** The shape of each object that is open, or 0 for a list. */
const open = new Int32Array(limits.inputDepthMax + 1);
/** Nobody outside knows which names have the same hash. */
const SEED = randomBytes(4).readInt32LE() | 1;
const PRIME = 0x01000193; // of FNV-1a

/**
 * Looks at a body before it is parsed.
 * @param isDocument whether its objects may be maps of any names: shapes are not counted then
 * @returns how many shapes it has: a shape is a member's name after the names before it in the same object
 * @throws Problem invalid_request for more values, shapes or levels than the limits
 */
export function checkStructure(text: string, isDocument = false): number {
  places.fill(0);
  const { length } = text;
  let [values, shapes, depth] = [1, 0, 0];
  let named = false; // whether the next text is a member's name
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      let hash = named ? (open[depth] as number) : 0;
      for (i++; i < length; i++) {
        const inner = text.charCodeAt(i);
        if (inner === QUOTE) break;
        if (named) hash = Math.imul(hash ^ inner, PRIME);
        if (inner !== BACKSLASH) continue;
        i++;
        if (named) hash = Math.imul(hash ^ text.charCodeAt(i), PRIME);
      }
      if (!named) continue;
      named = false;
      hash = Math.imul(hash ^ QUOTE, PRIME) || SEED;
      open[depth] = hash;
      if (isNew(hash) && ++shapes > limits.bodyShapesMax) throw refusal(TOO_MANY_SHAPES);
    } else if (code === COMMA) {
      if (++values > limits.bodyValuesMax) throw refusal(TOO_MANY_VALUES);
      named = open[depth] !== 0;
    } else if (code === OPEN || code === OPEN_LIST) {
      if (++values > limits.bodyValuesMax) throw refusal(TOO_MANY_VALUES);
      if (++depth > limits.inputDepthMax) throw refusal(TOO_DEEP);
      named = code === OPEN && !isDocument;
      open[depth] = named ? SEED : 0;
    } else if (code === CLOSE || code === CLOSE_LIST) {
      if (depth > 0) depth--;
      named = false;
    }
  }
  return shapes;
}

/** Remembers a shape; whether it was not there before. */
function isNew(hash: number): boolean {
  let place = Math.imul(hash ^ (hash >>> 15), SEED) >>> (32 - PLACES_BITS);
  for (; places[place] !== 0; place = (place + 1) % places.length) if (places[place] === hash) return false;
  places[place] = hash;
  return true;
}

function refusal(detail: string) {
  return problem('invalid_request', { detail, errors: [{ pointer: '/', detail }] });
}
