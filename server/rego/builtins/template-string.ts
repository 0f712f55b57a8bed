/** What OPA makes of a template string, `$"…{x}…"`: a call with its parts, each expression as the set of its values. */
import { PolicyError } from '../budget.ts';
import { RegoSet, type Value } from '../value.ts';
import { arrayOf, type BuiltinContext, type BuiltinTable, boundResult } from './arguments.ts';
import { displayValue } from './display.ts';

export const templateStringBuiltins: BuiltinTable = {
  'internal.template_string': (context, parts) => {
    let text = '';
    for (const part of arrayOf(parts)) {
      const shown = shownPart(context, part);
      boundResult(text.length + shown.length);
      context.charge(1 + shown.length / 8);
      text += shown;
    }
    return text;
  },
};

function shownPart(context: BuiltinContext, part: Value): string {
  if (!(part instanceof RegoSet)) return plainText(context, part);
  if (part.items.length > 1) throw new PolicyError('conflict', 'template-strings must not produce multiple outputs');
  return part.items.length === 0 ? '<undefined>' : plainText(context, part.items[0] as Value);
}

function plainText(context: BuiltinContext, value: Value): string {
  return typeof value === 'string' ? value : displayValue(context, value);
}
