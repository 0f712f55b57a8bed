/** Where in a policy something that is told stands: a line, or a node of a drawing. */
import { conditionsOf } from './model.ts';
import type { Explanation, WhyNotRule } from './schema.ts';

export type Place = { node?: string; line?: number };
type Told = Place & { file?: string; text?: string };

/** Whether it stands there; a text of several lines stands in each of them. A library has lines of its own. */
export function isAt({ node, line, file, text = '' }: Told, place: Place | undefined): boolean {
  if (place === undefined || file !== undefined) return false;
  if (node !== undefined) return node === place.node;
  if (line === undefined || place.line === undefined) return false;
  return line <= place.line && place.line < line + text.split('\n').length;
}

/** Whether an explanation tells anything of a place. */
export function isTold({ rules, path = [], whyNot }: Explanation, place: Place): boolean {
  const inRule = (rule: WhyNotRule): boolean =>
    isAt(rule, place) || conditionsOf(rule).some((one) => isAt(one, place) || (one.because ?? []).some(inRule));
  return (
    rules.some((rule) => isAt(rule, place)) ||
    path.some((node) => isAt({ node }, place)) ||
    (whyNot?.rules ?? []).some(inRule)
  );
}
