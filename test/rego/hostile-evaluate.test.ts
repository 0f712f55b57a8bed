/** Hostile evaluations: each ends by its budget or memory, with nothing but PolicyError, and a good one works right after. */
import { afterAll, describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { Instance, PolicyError, type PolicyErrorKind } from '../../server/rego/evaluate.ts';
import { closeCompiler, compileProgram, NOW } from './policies.ts';

afterAll(closeCompiler);

const long = 'a'.repeat(60_000);
const graph = Object.fromEntries(
  Array.from({ length: 30 }, (_, i) => [i, Array.from({ length: 30 }, (_, j) => String(j))]),
);
const bomb = `a: &a [1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\n`;

/** A name, a rule body that gives `obligations`, an input, and the ends that are right. */
type Attack = [name: string, expression: string, input: unknown, kinds: (PolicyErrorKind | 'undefined' | 'defined')[]];

const attacks: Attack[] = [
  ['range of 1e9', 'count(numbers.range(1, 1000000000))', {}, ['memory', 'budget']],
  ['range_step of 1e9', 'count(numbers.range_step(1, 1000000000, 1))', {}, ['memory']],
  ['range_step of 5e5', 'count(numbers.range_step(1, 500000, 1))', {}, ['memory', 'budget']],
  [
    'cross product',
    '[1 | some i in numbers.range(1, 10000); some j in numbers.range(1, 10000); i * j == 1000000007]',
    {},
    ['budget'],
  ],
  [
    'comprehension of 9M',
    'count({[i, j] | r := numbers.range(1, 3000); some i in r; some j in r})',
    {},
    ['budget', 'memory'],
  ],
  ['replace blow-up', 'count(replace(input, "a", input))', long, ['budget', 'memory']],
  ['regex.replace blow-up', 'count(regex.replace(input, "a", input))', 'a'.repeat(5000), ['budget', 'memory']],
  [
    'regex.replace blow-up by groups',
    'count(regex.replace(input, "(.*)", "$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1$1"))',
    long,
    ['budget', 'memory'],
  ],
  ['regex.split ReDoS', 'regex.split("^(a+)+$", input)', `${'a'.repeat(40_000)}!`, ['defined', 'budget']],
  ['regex.find_n quadratic', 'count(regex.find_n("a*b|a", input, -1))', 'a'.repeat(20_000), ['budget']],
  ['regex.find_n with a wide program', 'count(regex.find_n("(x?){900}y|.", input, -1))', 'x'.repeat(2000), ['budget']],
  [
    'regex program blow-up',
    'count(regex.find_n(input, "x", -1))',
    '((\\pL{9}){10}){10}'.repeat(50),
    ['budget', 'undefined'],
  ],
  ['regex pattern too long', 'regex.split(input, "x")', 'a'.repeat(1001), ['undefined']],
  [
    'many patterns',
    'count([1 | some i in numbers.range(1, 10000); regex.split(sprintf("a%d", [i]), "b")])',
    {},
    ['budget'],
  ],
  ['template_match', 'regex.template_match("{(a*)*(a*)*b}", input, "{", "}")', long, ['defined', 'budget']],
  ['sprintf huge pad', 'count(sprintf("%0999999999d", [1]))', {}, ['memory']],
  ['sprintf huge precision', 'count(sprintf("%.999999999f", [1.5]))', {}, ['memory']],
  [
    'sprintf many pads',
    'count(sprintf(concat("", [s | some i in numbers.range(1, 500); s := "%9999d"]), numbers.range(1, 500)))',
    {},
    ['memory'],
  ],
  ['sprintf star', 'count(sprintf("%*d", [1000000, 1]))', {}, ['budget', 'memory']],
  [
    'walk squared',
    'count([p | walk(input, [p, v]); walk(input, [q, w]); v != w])',
    Array.from({ length: 3000 }, (_, i) => [i]),
    ['budget', 'memory'],
  ],
  ['deep text', 'json.unmarshal(input)', '['.repeat(100_000), ['budget', 'internal', 'memory']],
  ['graph of all paths', 'count(graph.reachable_paths(input, ["0"]))', graph, ['budget']],
  ['yaml aliases', 'yaml.unmarshal(input)', `${bomb}e: [*d,*d,*d,*d,*d,*d,*d,*d]`, ['undefined', 'budget']],
  ['yaml keys', 'yaml.unmarshal(input)', Array.from({ length: 20_000 }, (_, i) => `k${i}: 1`).join('\n'), ['budget']],
  [
    'sprintf many times one value',
    'sprintf(concat("", ["%[1].0v" | some i in numbers.range(1, 5000)]), [input])',
    Array.from({ length: 5000 }, (_, i) => i),
    ['defined', 'budget', 'memory'],
  ],
  ['template of braces', 'strings.render_template(input, {})', '{{'.repeat(30_000), ['undefined']],
  ['uri of colons', 'uri.parse(input)', `http://${':'.repeat(60_000)}x`, ['undefined']],
  ['number of digits', 'sprintf("%d", [json.unmarshal(input)])', '9'.repeat(60_000), ['defined', 'budget', 'memory']],
  [
    'find a long needle',
    'strings.count(input, concat("", ["b", substring(input, 0, 20000)]))',
    long,
    ['defined', 'budget'],
  ],
  ['yaml depth', 'yaml.unmarshal(input)', '['.repeat(5000), ['undefined']],
  ['cidr expand', 'count(net.cidr_expand("10.0.0.0/8"))', {}, ['memory']],
  ['cidr expand v6', 'count(net.cidr_expand("::/0"))', {}, ['memory']],
  [
    'cidr matches',
    'count(net.cidr_contains_matches(input, input))',
    Array.from({ length: 3000 }, () => '10.0.0.0/8'),
    ['budget'],
  ],
  [
    'json.patch copies',
    'json.patch({"a": [1]}, [{"op": "copy", "from": "", "path": sprintf("/k%d", [i])} | some i in numbers.range(1, 40)])',
    {},
    ['budget', 'memory'],
  ],
  [
    'marshal indentation',
    'count(json.marshal_with_options(input, {"indent": sprintf("%9999d", [1])}))',
    Array.from({ length: 500 }, () => 1),
    ['memory', 'budget'],
  ],
  [
    'template output',
    'count(strings.render_template("{{range .l}}{{range $.l}}{{range $.l}}x{{end}}{{end}}{{end}}", {"l": input}))',
    Array.from({ length: 300 }, () => 1),
    ['budget', 'memory'],
  ],
  [
    'time zones',
    'count([1 | some i in numbers.range(1, 5000); time.date([i, sprintf("Etc/GMT%d", [i])])])',
    {},
    ['budget'],
  ],
  ['units exponent', 'units.parse("1e999999")', {}, ['undefined']],
  ['shift', 'bits.lsh(1, 100000000)', {}, ['undefined', 'budget', 'memory', 'internal']],
];

/** What came of it: the kind of the error, `undefined`, or `defined`. */
function outcomeOf(instance: Instance, input: unknown): string {
  try {
    const { result } = instance.evaluate(input, { now: NOW });
    return 'obligations' in (result as object) ? 'defined' : 'undefined';
  } catch (error) {
    if (error instanceof PolicyError) return error.kind;
    throw error;
  }
}

describe('ends by itself', () => {
  test.for(attacks)('%s', async ([, expression, input, kinds], { annotate }) => {
    const program = await compileProgram(
      `obligations := x if {\n\tnot input.good\n\tx := ${expression}\n}\nobligations := "fine" if input.good`,
    );
    const started = process.cpuUsage();
    const outcome = outcomeOf(new Instance(program), input);
    const { user, system } = process.cpuUsage(started);
    await annotate(`${outcome} after ${((user + system) / 1000).toFixed(0)} ms of CPU`);
    expect(kinds).toContain(outcome);
    expect(new Instance(program).evaluate({ good: true }, { now: NOW }).result).toEqual({ obligations: 'fine' });
  });
});

test('string doubling', async () => {
  const steps = Array.from({ length: 30 }, (_, i) => `s${i + 1} := concat("", [s${i}, s${i}])`);
  const program = await compileProgram(`s0 := input.s\n${steps.join('\n')}\nobligations := count(s30)`);
  expect(['budget', 'memory']).toContain(outcomeOf(new Instance(program), { s: 'aaaaaaaaaaaaaaaa' }));
});

test('a conflict 5,000 times, with a new instance each time', async () => {
  const program = await compileProgram('obligations := 1 if input.a\nobligations := 2 if input.b');
  let instance = new Instance(program);
  for (let i = 0; i < 5000; i++) {
    if (outcomeOf(instance, { a: true, b: true }) !== 'conflict') throw new Error(`not a conflict the ${i}th time`);
    instance = new Instance(program);
  }
  expect(instance.evaluate({ a: true }, { now: NOW }).result).toEqual({ obligations: 1 });
});

test('as many instances as are kept can be alive', async () => {
  const program = await compileProgram('obligations := input');
  const instances = Array.from({ length: limits.instancesMax }, () => new Instance(program));
  for (const [i, instance] of instances.entries())
    expect(instance.evaluate(i, { now: NOW }).result).toEqual({ obligations: i });
});
