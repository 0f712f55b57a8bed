/** Programs made of plans: nothing of a policy gets into their text, and what is no plan of ours makes none. */
import { afterAll, describe, expect, test } from 'vitest';
import { twentyRules } from '../../../bench/policies.ts';
import { limits } from '../../../server/core/limits.ts';
import { Evaluator } from '../../../server/rego/evaluator.ts';
import { js } from '../../../server/rego/plan/code.ts';
import { generateProgram, loadPlan } from '../../../server/rego/plan/program.ts';
import { runtime } from '../../../server/rego/plan/runtime.ts';
import { type PlanSource, readPlan, UnsupportedPlan } from '../../../server/rego/plan/source.ts';
import { closeCompiler, compileCode, NOW } from '../policies.ts';
import { Pair } from './oracle.ts';

afterAll(closeCompiler);

/** Every word of JavaScript that programs are written in; other names are a letter and a number. */
const WORDS = new Set([
  ...['use', 'strict', 'const', 'let', 'var', 'function', 'functions', 'constants', 'return', 'if', 'else', 'for'],
  ...['break', 'typeof', 'string', 'length', 'key', 'value', 'm', 'fuel', 'memo', 'undefined', 'null', 'true', 'false'],
  ...Object.keys(runtime),
]);
const SIGNS = /^[\s,;:=<>!&?.+\-(){}[\]]*$/;

/** Throws for anything in the text that no template of ours has. */
function checkText(text: string): void {
  const quoted = [...text.matchAll(/"[^"]*"/g)].map(([found]) => found);
  expect(new Set([...quoted, '"use strict"', '"string"']).size).toBe(2);
  for (const [word] of text.matchAll(/[A-Za-z_$][\w$]*/g)) {
    if (!WORDS.has(word) && !/^[abcdefiklmns]\d+$/.test(word)) throw new Error(`the word ${word}`);
  }
  const signs = text.replaceAll(/"[^"]*"/g, '').replaceAll(/\w+/g, '');
  if (!SIGNS.test(signs)) throw new Error(`the signs ${signs.replaceAll(/[\s,;:=<>!&?.+\-(){}[\]]/g, '')}`);
}

const BREAKOUTS = [
  '"];process.exit(1);["',
  "';process.exit(1);//",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what a careless generator would take for one of its own
  '`${process.exit(1)}`',
  '*/process.exit(1)/*',
  '\\";process.exit(1);//',
  '\u2028process.exit(1)\u2029',
  '\nprocess.exit(1)\n',
  '</script>',
  'k0',
  'constructor',
  '__proto__',
  '}});process.exit(1);({',
];

function hostile(text: string): string {
  const quoted = JSON.stringify(text);
  return `obligations contains x if {
	input[${quoted}][${quoted}].process == ${quoted}
	x := {${quoted}: [${quoted}, 123456789, 0.123456789, input[${quoted}]], {${quoted}}: {${quoted}}}
	startswith(input[${quoted}].process, ${quoted})
	some processExit in input[${quoted}]
	not input[${quoted}] with input[${quoted}] as ${quoted}
	walk(input, [[${quoted}], _])
}
process_exit(x) := concat(${quoted}, [x, ${quoted}]) if x != ${quoted}
obligations contains process_exit(sprintf("%s", [input[${quoted}]]))
names.a := input.a
names[${quoted}] := 1
obligations contains data.t.names[input.name]
reason := input[${quoted}]`;
}

describe('no text of a policy gets into its program', () => {
  test.for(BREAKOUTS)('%j', async (text) => {
    const code = await compileCode(hostile(text));
    const plan = readPlan(code.plan as string);
    expect(JSON.stringify(plan)).toContain('123456789');
    const { code: program, constants } = generateProgram(plan);
    checkText(program.text);
    expect(constants).toContain(text);
    expect(program.text).not.toContain('process');
    expect(program.text).not.toContain('123456789');
    const pair = new Pair(code);
    for (const input of [{}, { [text]: text }, { [text]: { [text]: 1 }, name: 'reason' }, [text], text])
      expect(pair.compare(input)).toBe('same');
  });
});

test('a policy of twenty rules has a program of known words and signs', async () => {
  const code = await compileCode(twentyRules.replace(/^package .*$/m, ''));
  checkText(generateProgram(readPlan(code.plan as string)).code.text);
  expect(() => checkText('l1=process;')).toThrow('process');
  expect(() => checkText('l1=`k1`;')).toThrow('signs');
});

test('code is made of code and whole numbers only', () => {
  const k = js`k${7}`;
  expect(js`${k}=${1};`.text).toBe('k7=1;');
  for (const forged of ['process', { text: 'process' }, 1.5, -1, 1e21, Number.NaN, undefined, [1]])
    expect(() => js`${forged as never}`).toThrow(UnsupportedPlan);
});

const plain: PlanSource = {
  strings: ['result'],
  files: ['policy.rego'],
  builtins: [],
  functions: [{ name: 'f', path: ['g0', 'f'], params: [0, 1], return: 2, blocks: [[['null', 2]], [['return', 2]]] }],
  plans: [
    [
      [
        ['call', 'f', [0, 1], 2],
        ['result', 2],
      ],
    ],
  ],
};
const evil = 'process.exit(1)';

function inFunction(change: Record<string, unknown>): string {
  return JSON.stringify({ ...plain, functions: [{ ...plain.functions[0], ...change }] });
}

function inEntry(...statement: unknown[]): string {
  return JSON.stringify({ ...plain, plans: [[[statement]]] });
}

describe('what is no plan of ours makes no program', () => {
  const forged: [string, string][] = [
    ['a local that is a text', inEntry('null', evil)],
    ['a local that is an array with a text', inEntry('null', [evil])],
    ['a local below zero', inEntry('null', -1)],
    ['a fraction of a local', inEntry('null', 1.5)],
    ['a local far off', inEntry('null', 1e9)],
    ['a string that is not there', inEntry('assign', [7], 2)],
    ['a string of the name of a member', inEntry('assign', ['length'], 2)],
    ['a break out of no block', inEntry('break', 4)],
    ['a break by a text', inEntry('break', evil)],
    ['a place that is a text', inEntry('assignOnce', true, 2, 0, evil, 1)],
    ['a file that is a text', inEntry('assignOnce', true, 2, evil, 1, 1)],
    ['a result where nothing returns one', inEntry('return', 2)],
    ['an unknown statement', inEntry(evil)],
    ['an unknown function', inEntry('call', evil, [0, 1], 2)],
    ['too few arguments', inEntry('call', 'f', [0], 2)],
    ['a number that is a text', inEntry('integer', evil, 2)],
    ['a parameter twice', inFunction({ params: [0, 0] })],
    ['a parameter that is a text', inFunction({ params: [0, evil] })],
    ['no end', inFunction({ blocks: [[['null', 2]]] })],
    ['no JSON', '{'],
    ['no plan', '{}'],
  ];
  test.for(forged)('%s', ([, text]) => {
    expect(() => loadPlan(text)).toThrow(UnsupportedPlan);
  });

  test('the same without a change does', () => {
    expect(loadPlan(JSON.stringify(plain)).memo).toHaveLength(1);
  });
});

test('what V8 does not take is declined', () => {
  const params = Array.from({ length: 70_000 }, (_, i) => i);
  const many = { ...plain.functions[0], params, return: 70_000, blocks: [[['null', 70_000]], [['return', 70_000]]] };
  expect(() => loadPlan(JSON.stringify({ ...plain, functions: [many], plans: [[]] }))).toThrow('V8');
});

test('a policy whose program would be too long runs its Wasm', async () => {
  const code = await compileCode('obligations := input.a');
  const plan = JSON.parse(code.plan as string) as { plans: unknown[][] };
  const statements = Array.from({ length: limits.planProgramCharsMax / 8 }, () => ['null', 10_000]);
  plan.plans[0]?.push(statements);
  const evaluator = new Evaluator({ ...code, plan: JSON.stringify(plan) });
  expect(evaluator.runsPlan).toBe(false);
  expect(evaluator.evaluate({ a: 1 }, { now: NOW }).result).toEqual({ obligations: 1 });
});

test.each(['block', 'not', 'with'])(
  'a policy whose program has more than planNestingMax blocks in blocks (%s) runs its Wasm',
  async (kind) => {
    const code = await compileCode('obligations := input.a');
    const runsPlan = (levels: number) => {
      const plan = JSON.parse(code.plan as string) as { strings: string[]; plans: unknown[][] };
      let inner: unknown[] = [['nop']];
      for (let level = 1; level < levels; level++)
        inner = [
          kind === 'block' ? ['block', [inner]] : kind === 'not' ? ['not', inner] : ['with', 0, [0], true, inner],
        ];
      plan.plans[0]?.push(inner);
      return new Evaluator({ ...code, plan: JSON.stringify(plan) }).runsPlan;
    };
    expect([runsPlan(limits.planNestingMax), runsPlan(limits.planNestingMax + 1)]).toEqual([true, false]);
  },
);
