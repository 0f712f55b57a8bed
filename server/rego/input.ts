/** What an evaluation takes for an input: JSON within its bounds. */

import { isBounded } from '../core/bounded.ts';
import { limits } from '../core/limits.ts';
import { wellFormedJson } from '../core/text.ts';
import { PolicyError } from './budget.ts';

/** The input as JSON text. Throws PolicyError (input) for what is not JSON or exceeds its bounds. */
export function encodeInput(input: unknown): string {
  let text: string | undefined;
  try {
    if (!isBounded(input, limits.inputDepthMax))
      throw new RangeError(`it is deeper than ${limits.inputDepthMax} levels, or a number is beyond the doubles`);
    text = JSON.stringify(input);
    if (text === undefined) throw new TypeError(`a ${typeof input} is not JSON`);
  } catch (cause) {
    throw new PolicyError('input', `the input is refused: ${String(cause)}`, { cause });
  }
  // UTF-8 takes at most three bytes a unit
  if (text.length > limits.evaluateInputBytesMax / 3 && Buffer.byteLength(text) > limits.evaluateInputBytesMax)
    throw new PolicyError('input', `the input exceeds ${limits.evaluateInputBytesMax} bytes`);
  // OPA's parser aborts on a lone surrogate; Go's, and so OPA elsewhere, reads it as U+FFFD.
  return wellFormedJson(text);
}
