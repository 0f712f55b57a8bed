/** Hostile policies: what a tenant might put to burn time or memory in one evaluation, by an expression and an input. */
import type { PolicyErrorKind } from '../../server/rego/evaluate.ts';

export const long = 'a'.repeat(60_000);
const graph = Object.fromEntries(
  Array.from({ length: 30 }, (_, i) => [i, Array.from({ length: 30 }, (_, j) => String(j))]),
);
const bomb = `a: &a [1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\n`;

/** A name, a rule body that gives `obligations`, an input, and the ends that are right. */
export type Attack = [
  name: string,
  expression: string,
  input: unknown,
  kinds: (PolicyErrorKind | 'undefined' | 'defined')[],
];

export const attacks: Attack[] = [
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
  [
    'jwt in a jwt, of quotes',
    'io.jwt.decode(input)',
    `${[{ cty: 'JWT', alg: 'none' }].map((header) => Buffer.from(JSON.stringify(header)).toString('base64url'))}.${Buffer.from(`x${'"'.repeat(100_000)}x`).toString('base64url')}.`,
    ['undefined', 'budget'],
  ],
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

/** A name, a rule body, an input, and the fuel that its work is worth: it took 100 ns a unit or more when it was free. */
export type Costly = [name: string, expression: string, input: unknown, fuelLeast: number];

const key = 'k'.repeat(9000);
const nodeName = 'n'.repeat(400);
const paragraph = 'x'.repeat(1000);

export const costly: Costly[] = [
  [
    'template that ranges over long keys many times',
    'strings.render_template("{{range $.a}}{{range $.a}}{{range $.m}}{{end}}{{end}}{{end}}", input)',
    { a: Array.from({ length: 110 }, (_, i) => i), m: { [`${key}a`]: 1, [`${key}b`]: 1, [`${key}c`]: 1 } },
    450_000,
  ],
  [
    'template that reads a long number many times',
    'strings.render_template("{{range $.a}}{{range $.a}}{{if $.n}}{{end}}{{end}}{{end}}", {"a": input.a, "n": json.unmarshal(input.n)})',
    { a: Array.from({ length: 110 }, (_, i) => i), n: `1.${'0'.repeat(20_000)}` },
    1_000_000,
  ],
  [
    'regex of folded classes',
    'count([1 | some i in numbers.range(1, 8); regex.split(sprintf("%s%d", [input, i]), "x")])',
    `(?i)${'\\pL'.repeat(300)}`,
    1_000_000,
  ],
  [
    'regex of folded alternatives',
    'count([1 | some i in numbers.range(1, 8); regex.split(sprintf("%s%d", [input, i]), "x")])',
    `(?i)${'\\pL|'.repeat(240)}`,
    1_000_000,
  ],
  ['regex of classes', 'regex.split(input, "x")', '\\pL'.repeat(300), 180_000],
  ['regex of wide folded ranges', 'regex.split(input, "x")', `(?i)${'[\\x80-\\x{10fff0}]'.repeat(40)}`, 1_000_000],
  ['regex of ranges with unknown ends', 'regex.split(input, "x")', `(?i)${'[\\101-\\x{1e900}]'.repeat(40)}`, 1_000_000],
  [
    'json.patch by composite keys',
    'json.patch({"o": {[p, i]: i | some i, p in input}}, [{"op": "add", "path": ["o", [p, 0 - i]], "value": 1} | some i, p in input])',
    Array.from({ length: 40 }, () => paragraph),
    200_000,
  ],
  [
    'json.patch of a large set',
    'json.patch({"s": {[p, i] | some i, p in input}}, [{"op": "add", "path": ["s", [p, 0 - i - 1]], "value": [p, 0 - i - 1]} | some i, p in input])',
    Array.from({ length: 40 }, () => paragraph),
    250_000,
  ],
  [
    'json.patch that copies a long text',
    'json.patch({"a": input}, [{"op": "copy", "from": "/a", "path": sprintf("/k%d", [i])} | some i in numbers.range(1, 200)])',
    'x'.repeat(20_000),
    1_000_000,
  ],
  [
    'graph paths of long names',
    'graph.reachable_paths(input, object.keys(input))',
    Object.fromEntries(
      Array.from({ length: 9 }, (_, i) => [nodeName + i, Array.from({ length: 9 }, (_, j) => nodeName + j)]),
    ),
    1_000_000,
  ],
  ['cidr pairs', 'net.cidr_contains_matches(input, input)', Array.from({ length: 450 }, () => '10.0.0.0/8'), 1_000_000],
  [
    'query of a long key',
    'urlquery.encode_object({input: [sprintf("%d", [i]) | some i in numbers.range(1, 1000)]})',
    'k'.repeat(20_000),
    1_000_000,
  ],
  [
    'yaml of one map merged many times',
    'yaml.is_valid(input)',
    `a: &a {${Array.from({ length: 400 }, (_, i) => `k${i}: `).join(', ')}}\nb: {<<: [${'*a, '.repeat(2000)}*a]}`,
    1_000_000,
  ],
  [
    'sprintf that reads a long number many times',
    'sprintf(concat("", ["%[1]T" | some i in numbers.range(1, 2000)]), [json.unmarshal(input)])',
    `1.${'0'.repeat(20_000)}`,
    1_000_000,
  ],
];
