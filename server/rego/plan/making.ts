/** The statements that build values: constants, arrays, objects, sets, and what is put into them. */
import { type Code, js } from './code.ts';
import { numberOf } from './numbers.ts';
import { local, place, type Scope, text, value } from './scope.ts';
import { type Statement, UnsupportedPlan } from './source.ts';

export function making(one: Statement, scope: Scope): Code {
  switch (one[0]) {
    case 'null':
      return js`${local(scope, one[1])}=null;`;
    case 'integer':
      return js`${local(scope, one[2])}=${number(String(one[1]), scope)};`;
    case 'number':
      return js`${local(scope, one[2])}=${number(text(scope, one[1]), scope)};`;
    case 'array':
      return js`${local(scope, one[1])}=newArray(m);`;
    case 'object':
      return js`${local(scope, one[1])}=newObject(m);`;
    case 'set':
      return js`${local(scope, one[1])}=newSet(m);`;
    case 'append':
      return js`append(m,${local(scope, one[2])},${value(scope, one[1])});`;
    case 'add':
      return js`add(m,${local(scope, one[2])},${value(scope, one[1])});`;
    case 'insert':
      return js`insert(m,${local(scope, one[3])},${value(scope, one[1])},${value(scope, one[2])});`;
    case 'insertOnce': {
      const [, key, item, to, file, row, column] = one;
      const entry = js`${value(scope, key)},${value(scope, item)}`;
      return js`insertOnce(m,${local(scope, to)},${entry},${place(scope, file, row, column)});`;
    }
    case 'merge':
      return js`${local(scope, one[3])}=merged(m,${local(scope, one[1])},${local(scope, one[2])});`;
    default:
      throw new UnsupportedPlan(`the statement ${String(one[0])} is not done here`);
  }
}

/** In the table: a policy's numbers are its own text. */
function number(digits: string, scope: Scope): Code {
  const found = numberOf(digits);
  if (found === undefined)
    throw new UnsupportedPlan(`the number ${digits.slice(0, 40)} is not one that JavaScript writes so`);
  return scope.outer.constants.add(found);
}
