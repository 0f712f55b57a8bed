/** Calls: of the plan's own functions, of builtins, and of a rule whose path is computed. */
import { type Code, joined, js } from './code.ts';
import { type Callee, exit, fresh, local, type Scope, value } from './scope.ts';
import { type Operand, type Statement, UnsupportedPlan } from './source.ts';

type Call = Extract<Statement, ['call', ...unknown[]]>;

export function callFunction([, name, operands, to]: Call, scope: Scope): Code {
  const { index, params } = scope.outer.functions.get(name) as Callee;
  if (operands.length !== params) throw new UnsupportedPlan('a call with other than the parameters');
  const target = local(scope, to);
  const call = js`f${index}(m${list(operands, scope)})`;
  // A function of the documents alone is a rule: it is evaluated once.
  const isRule = params === 2 && operands.every((operand) => typeof operand === 'number');
  const got = isRule
    ? js`if((${target}=m.memo[${index}])===UNKNOWN)${target}=m.memo[${index}]=${call};`
    : js`${target}=${call};`;
  return js`${got}if(${target}===undefined)${exit(scope)}`;
}

export function callBuiltin([, name, operands, to]: Call, scope: Scope): Code {
  const { outer } = scope;
  const target = local(scope, to);
  const builtin = outer.constants.name(`builtin ${name}`, outer.builtin(name));
  return js`${target}=${builtin}(m${list(operands, scope)});if(${target}===undefined)${exit(scope)}`;
}

/** Its rule found but undefined, it leaves the three blocks that the planner put around it (rule, data, result). */
export function callDynamic(
  [, path, documents, to]: Extract<Statement, ['dynamic', ...unknown[]]>,
  scope: Scope,
): Code {
  const { outer } = scope;
  const [names, target, found] = [list(path, scope), local(scope, to), js`n${fresh(scope)}`];
  const paths = outer.constants.name('paths', outer.paths);
  const wanted = js`const ${found}=numberAt(m,${paths}${names});if(${found}===undefined)${exit(scope)}`;
  const call = js`functions[${found}](m${list(documents, scope)})`;
  const got = js`if((${target}=m.memo[${found}])===UNKNOWN)${target}=m.memo[${found}]=${call};`;
  return js`${wanted}${got}if(${target}===undefined)${exit(scope, 3)}`;
}

/** Arguments, each after its comma. */
function list(operands: readonly Operand[], scope: Scope): Code {
  return joined(operands.map((operand) => js`,${value(scope, operand)}`));
}
