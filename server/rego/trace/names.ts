/** What the locals of a definition stand for in the source's own words: paths of the input, arguments, calls, constants. */
import { partsOf } from '../plan/parts.ts';
import type { Block, Operand, PlanFunction, Statement } from '../plan/source.ts';
import type { IndexedPlan } from './index-plan.ts';

/** An item of the loop of that number. */
export type Item = { readonly scan: number };
export type Step = string | number | Item | { readonly local: number };

export type Name =
  /** Of the input, the data, or the argument of that number behind them. */
  | { readonly is: 'path'; readonly root: 'input' | 'data' | number; readonly steps: readonly Step[] }
  | { readonly is: 'constant'; readonly value: unknown }
  | { readonly is: 'call'; readonly name: string; readonly args: readonly Operand[] }
  /** A list of constants, where it is one. */
  | { readonly is: 'made'; readonly items: readonly unknown[] | undefined };

export type Names = {
  of(operand: Operand): Name | undefined;
  /** What wrote it first. */
  writer(local: number): Statement | undefined;
};

/** The documents, which every function has before its arguments. */
const DOCUMENTS = ['input', 'data'] as const;

export function namesIn(block: Block, routine: Pick<PlanFunction, 'params'>, index: IndexedPlan): Names {
  const { strings } = index.plan;
  const names = new Map<number, Name>();
  const writers = new Map<number, Statement>();
  const lists = new Map<number, unknown[] | undefined>();
  for (const [i, local] of routine.params.entries())
    names.set(local, { is: 'path', root: DOCUMENTS[i] ?? i - DOCUMENTS.length, steps: [] });
  const of = (operand: Operand): Name | undefined => {
    if (typeof operand === 'boolean') return { is: 'constant', value: operand };
    if (Array.isArray(operand)) return { is: 'constant', value: strings[operand[0]] };
    const items = lists.get(operand);
    return lists.has(operand) ? { is: 'made', items } : names.get(operand);
  };
  const set = (local: number, name: Name | undefined) => {
    if (name !== undefined && !names.has(local)) names.set(local, name);
  };
  const walk = (statements: Block): void => {
    for (const one of statements) {
      for (const local of partsOf(one).writes) if (!writers.has(local)) writers.set(local, one);
      name(one);
      for (const inner of partsOf(one).blocks) walk(inner);
    }
  };
  const name = (one: Statement): void => {
    switch (one[0]) {
      case 'dot':
        set(one[3], below(of(one[1]), stepOf(one[2], of(one[2]))));
        return;
      case 'assign':
        if (typeof one[1] === 'number' && lists.has(one[1])) lists.set(one[2], lists.get(one[1]));
        set(one[2], of(one[1]));
        return;
      case 'scan':
        set(one[3], below(of(one[1]), { scan: index.number(one) }));
        return;
      case 'call':
        set(one[3], { is: 'call', name: one[1], args: one[2] });
        return;
      case 'null':
        set(one[1], { is: 'constant', value: null });
        return;
      case 'integer':
        set(one[2], { is: 'constant', value: one[1] });
        return;
      case 'number':
        set(one[2], { is: 'constant', value: Number(strings[one[1]]) });
        return;
      case 'set':
      case 'array':
        lists.set(one[1], []);
        return;
      case 'object':
        lists.set(one[1], undefined);
        return;
      case 'add':
      case 'append': {
        const item = of(one[1]);
        const list = lists.get(one[2]);
        if (item?.is === 'constant') list?.push(item.value);
        else lists.set(one[2], undefined);
        return;
      }
      default:
    }
  };
  walk(block);
  return { of, writer: (local) => writers.get(local) };
}

function stepOf(key: Operand, name: Name | undefined): Step {
  if (name?.is === 'constant' && (typeof name.value === 'string' || typeof name.value === 'number')) return name.value;
  return { local: key as number };
}

function below(name: Name | undefined, step: Step): Name | undefined {
  return name?.is === 'path' ? { ...name, steps: [...name.steps, step] } : undefined;
}

/** In the words of whoever calls the function. */
export function resolved(name: Name | undefined, given: readonly Name[]): Name | undefined {
  if (name?.is !== 'path' || typeof name.root !== 'number') return name;
  const argument = given[name.root];
  if (argument?.is !== 'path') return name.steps.length === 0 ? argument : name;
  return { ...argument, steps: [...argument.steps, ...name.steps] };
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** As the source would write it. */
export function nameText(name: Name | undefined): string {
  if (name === undefined) return '…';
  switch (name.is) {
    case 'path': {
      const root = typeof name.root === 'number' ? `argument ${name.root + 1}` : name.root;
      return root + name.steps.map(stepText).join('');
    }
    case 'constant':
      return JSON.stringify(name.value);
    case 'call':
      return name.name.replace(/^g\d+\./, '') + (name.args.length === 2 && /^g\d/.test(name.name) ? '' : '(…)');
    case 'made':
      return name.items === undefined ? '{…}' : JSON.stringify(name.items);
  }
}

function stepText(step: Step): string {
  if (typeof step === 'string') return IDENTIFIER.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
  if (typeof step === 'number') return `[${step}]`;
  return '[_]';
}
