/**
 * Random rules in Rego and random inputs for them. A rule may have a type error or an unsafe variable: the caller drops
 * what does not compile. All vary around few values, so that entities meet.
 */
import fc from 'fast-check';

const oneOf = fc.constantFrom;
const paths = oneOf(
  'input.a',
  'input.b',
  'input.n',
  'input.s',
  'input.list',
  'input.o',
  'input.nested.x',
  'input.gone',
);
const literals = oneOf(
  ...['1', '0', '-3', '2.5', '0.1', '9007199254740991', '100000000000', 'true', 'false', 'null', '"a"', '""', '"b,é"'],
  ...['"1"', '[]', '{}', 'set()', '[1, "a"]', '{"a": 1}', '{1, 2, "a"}', '{[1]: "x"}'],
);

type Scope = { names: string[]; depth: number };

const calls: [name: string, arity: number][] = [
  ...(['count', 'sum', 'product', 'max', 'min', 'sort', 'abs', 'round', 'ceil', 'floor'] as const).map(
    (name): [string, number] => [name, 1],
  ),
  ...(['is_array', 'is_object', 'is_set', 'is_string', 'is_number', 'is_null', 'is_boolean', 'type_name'] as const).map(
    (name): [string, number] => [name, 1],
  ),
  ...(['lower', 'upper', 'trim_space', 'strings.reverse', 'json.marshal', 'object.keys', 'array.reverse'] as const).map(
    (name): [string, number] => [name, 1],
  ),
  ...(['base64.encode', 'to_number', 'array.flatten', 'bits.negate', 'json.unmarshal', 'union'] as const).map(
    (name): [string, number] => [name, 1],
  ),
  ...(['startswith', 'endswith', 'contains', 'indexof', 'split', 'trim', 'trim_left', 'trim_right'] as const).map(
    (name): [string, number] => [name, 2],
  ),
  ...(
    ['trim_prefix', 'trim_suffix', 'concat', 'format_int', 'array.concat', 'object.union', 'object.remove'] as const
  ).map((name): [string, number] => [name, 2]),
  ...(['object.filter', 'bits.and', 'bits.or', 'bits.lsh', 'graph.reachable', 'numbers.range'] as const).map(
    (name): [string, number] => [name, 2],
  ),
  ...(['array.slice', 'substring', 'replace', 'object.get'] as const).map((name): [string, number] => [name, 3]),
  ['sprintf', 2],
  ['object.subset', 2],
  ['time.parse_rfc3339_ns', 1],
];

function term(scope: Scope): fc.Arbitrary<string> {
  const names = scope.names.length > 0 ? oneOf(...scope.names) : paths;
  if (scope.depth <= 0) return fc.oneof(paths, literals, names, names);
  const inner = fc.constant(undefined).chain(() => term({ ...scope, depth: scope.depth - 1 }));
  return fc.oneof(
    ...[paths, literals, names, names],
    fc.array(inner, { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
    fc.array(inner, { minLength: 1, maxLength: 3 }).map((items) => `{${items.join(', ')}}`),
    fc.tuple(inner, inner, inner).map(([key, a, b]) => `{"k": ${a}, ${key}: ${b}}`),
    fc.tuple(inner, oneOf('+', '-', '*', '/', '%', '|', '&'), inner).map(([a, op, b]) => `(${a} ${op} ${b})`),
    oneOf(...calls).chain(([name, arity]) =>
      fc.array(inner, { minLength: arity, maxLength: arity }).map((args) => `${name}(${args.join(', ')})`),
    ),
    fc.tuple(paths, inner).map(([path, key]) => `${path}[${key}]`),
    comprehension(scope),
  );
}

function comprehension(scope: Scope): fc.Arbitrary<string> {
  const [key, value] = [`k${scope.names.length}`, `v${scope.names.length}`];
  const inside = { names: [...scope.names, key, value], depth: scope.depth - 1 };
  return fc
    .tuple(term({ ...scope, depth: scope.depth - 1 }), condition(inside), term(inside), oneOf('[', '{', 'object'))
    .map(([from, when, item, kind]) => {
      const body = `some ${key}, ${value} in ${from}; ${when}`;
      if (kind === 'object') return `{${key}: ${item} | ${body}}`;
      return `${kind}${item} | ${body}${kind === '[' ? ']' : '}'}`;
    });
}

function condition(scope: Scope): fc.Arbitrary<string> {
  const inner = fc.constant(undefined).chain(() => term({ ...scope, depth: scope.depth - 1 }));
  const simple = fc.oneof(
    fc.tuple(inner, oneOf('==', '!=', '<', '<=', '>', '>='), inner).map(([a, op, b]) => `${a} ${op} ${b}`),
    fc.tuple(inner, inner).map(([a, b]) => `${a} in ${b}`),
    inner,
  );
  if (scope.depth <= 0) return simple;
  const name = `e${scope.names.length}`;
  return fc.oneof(
    ...[simple, simple],
    simple.map((one) => `not ${one}`),
    fc
      .tuple(inner, condition({ names: [...scope.names, name], depth: scope.depth - 1 }))
      .map(([from, every]) => `every ${name} in ${from} { ${every} }`),
    fc.tuple(simple, paths, inner).map(([one, path, by]) => `${one} with ${path} as ${by}`),
    fc
      .tuple(oneOf('shared', 'object_of.x', 'set_of', 'double(input.n)', 'object_of'), inner)
      .map(([rule, b]) => `${rule} != ${b}`),
    fc
      .tuple(oneOf('shared', 'set_of', 'object_of'), paths, inner)
      .map(([rule, path, by]) => `${rule} with ${path} as ${by}`),
  );
}

/** What the rules may refer to. */
export const shared = `
shared := x if { some x in input.list; is_string(x) } else := input.a if input.b
default fallback := {"none"}
fallback := {input.s} if input.n > 1
set_of contains x if some x in input.list
set_of contains input.a
object_of[k] := v if some k, v in input.o
double(x) := x * 2 if is_number(x)
double(x) := concat("", [x, x]) if is_string(x)
`;

/** The body and value of one rule. */
export const rules: fc.Arbitrary<{ value: string; body: string }> = fc.integer({ min: 0, max: 3 }).chain((depth) =>
  fc.record({
    value: term({ names: ['y'], depth }),
    body: fc
      .tuple(
        fc.oneof(
          term({ names: [], depth }).map((from) => `y := ${from}`),
          paths.map((from) => `some y in ${from}`),
        ),
        fc.array(condition({ names: ['y'], depth }), { maxLength: 2 }),
      )
      .map(([first, more]) => [first, ...more].join('\n\t')),
  }),
);

const leaves = fc.oneof(
  oneOf<unknown>(1, 0, -0, -3, 2, 2.5, 0.1, 1e21, 1e308, 5e-324, 9007199254740991, 2 ** 53 + 2, 1e18, 100000000000),
  oneOf<unknown>(
    'a',
    'b',
    '',
    '1',
    'b,é',
    'é',
    '\ud83d\ude00',
    '\uffee',
    '__proto__',
    'constructor',
    'A a',
    '\u0000"\\',
  ),
  oneOf<unknown>('\ud800', true, false, null, [], {}),
  fc.integer({ min: -5, max: 20 }),
);
const keys = oneOf('a', 'b', 'x', 'k', '1', '__proto__', 'constructor', 'toString', 'é', '');

function object(values: fc.Arbitrary<unknown>): fc.Arbitrary<object> {
  return fc.array(fc.tuple(keys, values), { maxLength: 8 }).map((entries) => {
    const made = {};
    for (const [key, value] of entries)
      Object.defineProperty(made, key, { value, enumerable: true, writable: true, configurable: true });
    return made;
  });
}

const values = fc.oneof(
  leaves,
  leaves,
  fc.array(leaves, { maxLength: 8 }),
  object(leaves),
  fc.array(object(leaves), { maxLength: 3 }),
  object(fc.oneof(leaves, fc.array(leaves, { maxLength: 3 }), object(leaves))),
);

export const inputs: fc.Arbitrary<Record<string, unknown>> = fc.record(
  {
    a: values,
    b: values,
    n: fc.oneof(fc.integer({ min: -5, max: 20 }), leaves),
    s: fc.oneof(oneOf('a', 'b,é', 'a b', 'AbC'), leaves),
    list: fc.oneof(fc.array(fc.oneof(leaves, values), { maxLength: 12 }), values),
    o: object(values),
    nested: fc.record({ x: values }),
  },
  { requiredKeys: [], noNullPrototype: true },
);
