/** The statements that have blocks inside: nested blocks, iteration, negation, `with`. */
import { type Code, joined, js } from './code.ts';
import { exit, fresh, inside, local, type Scope, text, value } from './scope.ts';
import type { Block, Statement } from './source.ts';
import { statement } from './statements.ts';

/** A block, which its statements leave; its fuel is taken by the one around it. */
export function block(statements: Block, scope: Scope): Code {
  const label = js`b${fresh(scope)}`;
  return js`${label}:{${sequence(statements, inside(scope, js`break ${label};`))}}\n`;
}

/** A unit of fuel for each statement, taken beforehand. */
function charged(statements: Block): Code {
  return statements.length === 0 ? js`` : js`if((m.fuel-=${statements.length})<0)exhausted();`;
}

function sequence(statements: Block, scope: Scope): Code {
  const { notes } = scope.outer;
  if (notes === undefined) return joined(statements.map((one) => nesting(one, scope) ?? statement(one, scope)));
  return joined(
    statements.map((one, i) => {
      const own = { ...scope, failed: notes.failed(one, scope) };
      const code = nesting(one, own) ?? statement(one, own);
      return js`${notes.before(one, statements[i - 1])}${code}${notes.after(one, scope)}`;
    }),
  );
}

function nesting(one: Statement, scope: Scope): Code | undefined {
  switch (one[0]) {
    case 'block':
      return joined(one[1].map((inner) => js`${charged(inner)}${block(inner, scope)}`));
    case 'not':
      return negated(one[1], scope);
    case 'scan':
      return scan(one, scope);
    case 'with':
      return withValue(one, scope);
    default:
      return undefined;
  }
}

/** Undefined when the block is run to its end. */
function negated(statements: Block, scope: Scope): Code {
  const label = js`b${fresh(scope)}`;
  const body = sequence(statements, inside(scope, js`break ${label};`));
  return js`${label}:{${charged(statements)}${body}${exit(scope)}}\n`;
}

/** Within an iteration, leaving the block goes on with the next item, and leaving one more ends the iteration. */
function scan([, from, key, item, statements]: Extract<Statement, ['scan', ...unknown[]]>, scope: Scope): Code {
  const number = fresh(scope);
  const [container, keyed, at] = [local(scope, from), local(scope, key), local(scope, item)];
  const [loop, body] = [js`s${number}`, js`b${number}`];
  const [c, list, i, name] = [js`c${number}`, js`a${number}`, js`i${number}`, js`n${number}`];
  const inner = sequence(statements, inside(scope, js`break ${loop};`, js`break ${body};`));
  const ofArray = js`if(${list}===${c}){${keyed}=${i};${at}=${c}[${i}];}`;
  const ofObject = js`else{const ${name}=${list}[${i}];if(typeof ${name}==="string"){${keyed}=${name};${at}=${c}[${name}];}`;
  const ofEntries = js`else{${keyed}=${name}.key;${at}=${name}.value;}}`;
  const each = js`${charged(statements)}${ofArray}${ofObject}${ofEntries}${body}:{${inner}}`;
  const noted = scope.failed ?? js``; // it holds for no item, unless something further is noted
  const head = js`${noted}const ${c}=${container},${list}=listed(m,${c});${keyed}=undefined;`;
  const turns = js`for(let ${i}=0;${i}<${list}.length;${i}++){if(--m.fuel<0)exhausted();${each}}`;
  return js`${loop}:{${head}${turns}${keyed}=undefined;}\n`;
}

/** Inside, rules see the document with the value in it, so what was found of them before does not count. */
function withValue([, to, path, from, statements]: Extract<Statement, ['with', ...unknown[]]>, scope: Scope): Code {
  const number = fresh(scope);
  const [document, given] = [local(scope, to), value(scope, from)];
  const names = path.map((index) => text(scope, index));
  const [saved, memo, ended, label] = [js`d${number}`, js`m${number}`, js`e${number}`, js`b${number}`];
  // A break that leaves more than this block, and a return, would leave the document as it is.
  const never = js`wayOutOfWith();`;
  const outer = { ...scope, exits: scope.exits.map(() => never), returning: () => never };
  const own = inside(outer, js`break ${label};`);
  const body = js`${label}:{${charged(statements)}${sequence(statements, own)}${ended}=true;}`;
  const changed = js`${document}=upserted(m,${saved},${scope.outer.constants.add(names)},${given});`;
  const before = js`const ${saved}=${document},${memo}=m.memo;let ${ended}=false;forget(m);${changed}`;
  return js`{${before}${body}${document}=${saved};m.memo=${memo};if(!${ended})${exit(scope)}}\n`;
}
