/** Owns what an evaluation takes for an input: JSON within its bounds. */
import { limits } from '../core/limits.ts';
import { PolicyError } from './budget.ts';
import { nestsWithin } from './nesting.ts';

/** A lone surrogate as JSON.stringify writes it, or any other escape, which is kept. */
const ESCAPES = /\\(?:ud[89a-f][0-9a-f]{2}|.)/g;

/** The input as JSON text. Throws PolicyError (input) for what is not JSON or exceeds its bounds. */
export function encodeInput(input: unknown): string {
  let text: string | undefined;
  try {
    if (!nestsWithin(input, limits.inputDepthMax)) throw new RangeError(`deeper than ${limits.inputDepthMax} levels`);
    text = JSON.stringify(input);
    if (text === undefined) throw new TypeError(`a ${typeof input} is not JSON`);
  } catch (cause) {
    throw new PolicyError('input', `the input is refused: ${String(cause)}`, { cause });
  }
  // UTF-8 takes at most three bytes a unit
  if (text.length > limits.evaluateInputBytesMax / 3 && Buffer.byteLength(text) > limits.evaluateInputBytesMax)
    throw new PolicyError('input', `the input exceeds ${limits.evaluateInputBytesMax} bytes`);
  // OPA's parser aborts on a lone surrogate; Go's, and so OPA elsewhere, reads it as U+FFFD.
  if (text.includes('\\ud')) text = text.replace(ESCAPES, (found) => (found.length === 6 ? '\ufffd' : found));
  return text;
}
