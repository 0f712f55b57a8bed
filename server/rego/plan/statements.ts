/** The statements without blocks inside: checks, assignments, look-ups, and what ends a block. */
import { callBuiltin, callDynamic, callFunction } from './calls.ts';
import { type Code, js } from './code.ts';
import { making } from './making.ts';
import { exit, local, place, type Scope, text, value } from './scope.ts';
import { type Operand, type Statement, UnsupportedPlan } from './source.ts';
import { PlanObject, PlanSet } from './values.ts';

/** One statement's code: it goes on behind itself, or leaves its block. */
export function statement(one: Statement, scope: Scope): Code {
  switch (one[0]) {
    case 'nop':
      return js``;
    case 'break':
      return exit(scope, one[1]);
    case 'result':
      return js`result(m,${local(scope, one[1])});`;
    case 'return':
      if (scope.returning === undefined) throw new UnsupportedPlan('a result where nothing returns one');
      return scope.returning(local(scope, one[1]));
    case 'call':
      return scope.outer.functions.has(one[1]) ? callFunction(one, scope) : callBuiltin(one, scope);
    case 'dynamic':
      return callDynamic(one, scope);
    case 'dot':
      return dot(one, scope);
    default:
      return checking(one, scope) ?? assigning(one, scope) ?? making(one, scope);
  }
}

function dot([, from, key, to]: Extract<Statement, ['dot' | 'insert', ...unknown[]]>, scope: Scope): Code {
  if (typeof from !== 'number') return exit(scope); // neither a string nor a boolean has members
  const [container, name, target] = [local(scope, from), value(scope, key), local(scope, to)];
  const found = js`(${target}=lookUp(m,${container},${name}))===undefined`;
  if (from === to || !Array.isArray(key) || !isOwnOnly(text(scope, key[0]))) return js`if(${found})${exit(scope)}`;
  // In place, V8 remembers for each look-up where the member was: a third of an evaluation went into asking anew.
  return js`if((${target}=${container}?.[${name}])===undefined&&${found})${exit(scope)}`;
}

/** All that JavaScript finds in values by itself. */
const innate = new Set(
  [{}, [], new PlanObject(), new PlanSet(), Object(''), Object(0), Object(0n), Object(true)].flatMap(namesIn),
);

function namesIn(value: object | null): (string | symbol)[] {
  return value === null ? [] : [...Reflect.ownKeys(value), ...namesIn(Object.getPrototypeOf(value))];
}

/** Whether what stands under the name in any value can only be a member of JSON: no index of a text or an array either. */
function isOwnOnly(name: string): boolean {
  return !innate.has(name) && !/^\d/.test(name);
}

function checking(one: Statement, scope: Scope): Code | undefined {
  switch (one[0]) {
    case 'equal':
      return js`if(${different(one[1], one[2], scope)})${exit(scope)}`;
    case 'notEqual':
      return js`if(!(${different(one[1], one[2], scope)}))${exit(scope)}`;
    case 'isDefined':
      return js`if(${local(scope, one[1])}===undefined)${exit(scope)}`;
    case 'isUndefined':
      return js`if(${local(scope, one[1])}!==undefined)${exit(scope)}`;
    case 'isArray':
      return js`if(!isArray(${value(scope, one[1])}))${exit(scope)}`;
    case 'isObject':
      return js`if(!isObject(${value(scope, one[1])}))${exit(scope)}`;
    case 'isSet':
      return js`if(!isSet(${value(scope, one[1])}))${exit(scope)}`;
    default:
      return undefined;
  }
}

/** Longer texts are charged for. */
const COMPARED_IN_PLACE_MAX = 256;

/** Booleans and short texts are compared in place; the rest knows its own way. */
function different(a: Operand, b: Operand, scope: Scope): Code {
  const [left, right] = [value(scope, a), value(scope, b)];
  const isPlain = (one: Operand) =>
    typeof one === 'boolean' || (Array.isArray(one) && text(scope, one[0]).length <= COMPARED_IN_PLACE_MAX);
  return isPlain(a) || isPlain(b) ? js`${left}!==${right}` : js`!equal(m,${left},${right})`;
}

function assigning(one: Statement, scope: Scope): Code | undefined {
  switch (one[0]) {
    case 'assign':
      return js`${local(scope, one[2])}=${value(scope, one[1])};`;
    case 'reset':
      return js`${local(scope, one[1])}=undefined;`;
    case 'assignOnce': {
      const [, from, to, file, row, column] = one;
      const [target, given] = [local(scope, to), value(scope, from)];
      const conflict = js`same(m,${target},${given},${place(scope, file, row, column)});`;
      return js`if(${target}===undefined)${target}=${given};else ${conflict}`;
    }
    case 'len':
      return js`${local(scope, one[2])}=lengthOf(m,${value(scope, one[1])});`;
    default:
      return undefined;
  }
}
