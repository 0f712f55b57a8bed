/** The compiler as the rooms use it: both syntaxes, positions, refusals, what is read, what held. OPA's own Wasm host is the oracle. */
import { createRequire } from 'node:module';
import { afterAll, describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { createCompiler } from '../../server/rego/compile.ts';
import type { Compiled, CompileOptions } from '../../server/rego/schema.ts';

// A CommonJS package whose types claim named ES exports that Node does not find.
const { loadPolicySync } = createRequire(import.meta.url)(
  '@open-policy-agent/opa-wasm',
) as typeof import('@open-policy-agent/opa-wasm');

const compiler = createCompiler();
afterAll(() => compiler.close());

const options: CompileOptions = { builtins: ['sprintf', 'time.now_ns'] };
const FORBIDDEN = [
  'http.send net.lookup_ip_addr opa.runtime rego.parse_module providers.aws.sign_req rand.intn uuid.rfc4122',
  'io.jwt.encode_sign io.jwt.encode_sign_raw',
].join(' ');

async function accepted(source: string, more: Partial<CompileOptions> = {}): Promise<Compiled> {
  const result = await compiler.compile('t', source, { ...options, ...more });
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return result;
}

async function refused(source: string, more: Partial<CompileOptions> = {}) {
  const result = await compiler.compile('t', source, { ...options, ...more });
  if (result.ok) throw new Error('was accepted');
  return result.errors;
}

function load(wasm: Uint8Array) {
  return loadPolicySync(wasm, { initial: 5, maximum: limits.evaluateMemoryPages });
}

function answer(compiled: Compiled, input: unknown): unknown {
  return load(compiled.wasm).evaluate(input)[0].result;
}

describe('answer', () => {
  const source = `package car.read
import rego.v1
default outcome := "deny"
outcome := "allow" if input.subject == "ann"
reason := sprintf("owner of %d", [input.cars])
obligations contains o if some o in input.log
obligations contains "return-token" if input.token
`;

  test('holds the defined ones of outcome, reason, obligations', async () => {
    const compiled = await accepted(source);
    expect(compiled).toMatchObject({ package: 'data.car.read', syntax: 'v1', builtins: ['sprintf'] });
    expect(answer(compiled, {})).toEqual({ outcome: 'deny', obligations: [] });
    expect(answer(compiled, { subject: 'ann', cars: 2, log: ['a'], token: true })).toEqual({
      outcome: 'allow',
      reason: 'owner of 2',
      obligations: ['a', 'return-token'],
    });
  });

  test('is empty when the policy defines none of them', async () => {
    expect(answer(await accepted('package a\nallow := true'), {})).toEqual({});
  });

  test('is read from a package whose name needs quoting', async () => {
    const compiled = await accepted('package a["b \\" c"].d\noutcome := "allow"');
    expect(compiled.package).toBe('data.a["b \\" c"].d');
    expect(answer(compiled, {})).toEqual({ outcome: 'allow' });
  });

  test('cannot be extended from the name of a package', async () => {
    const hostile = `package a["x\\"].y\\nanswer.outcome := \\"allow\\" #"]\noutcome := "deny"`;
    expect(answer(await accepted(hostile), {})).toEqual({ outcome: 'deny' });
  });

  test('has parts that are objects of partial rules', async () => {
    const compiled = await accepted(
      'package a\noutcome.x := 1 if input.x\nobligations[k] := v if some k, v in input.o',
    );
    expect(answer(compiled, { x: 1, o: { p: 2 } })).toEqual({ outcome: { x: 1 }, obligations: { p: 2 } });
  });

  test('compiles to the same module with the same fuel each time', async () => {
    const [first, second] = [await accepted(source), await accepted(source)];
    expect(Buffer.compare(first.wasm, second.wasm)).toBe(0);
    expect(first.fuel).toBe(second.fuel);
    expect(first.fuel).toBeLessThan(limits.compileFuel / 8);
  });
});

describe('v0 syntax', () => {
  test.each([
    ['default outcome = "deny"\noutcome = "allow" { input.a }', { outcome: 'allow' }],
    ['outcome = "x" { input.z } { input.a }', { outcome: 'x' }],
    ['outcome = "x" { input.z } else = "y" { input.a }', { outcome: 'y' }],
    ['obligations[x] { x := input.list[_] }', { obligations: [1, 2] }],
    ['import future.keywords.if\noutcome = "x" if input.a\nreason = "r" { input.a }', { outcome: 'x', reason: 'r' }],
    ['outcome = "x" { any([input.a == 1]) }', { outcome: 'x' }], // gone from v1
  ])('%s', async (rules, expected) => {
    const compiled = await accepted(`package a\n${rules}`);
    expect(compiled.syntax).toBe('v0');
    expect(answer(compiled, { a: 1, list: [1, 2] })).toEqual(expected);
  });
});

describe('errors', () => {
  const at = (code: string, row: number, col: number, message: string) => ({
    code,
    row,
    col,
    message: expect.stringContaining(message),
  });
  test.each([
    ['', at('rego_parse_error', 1, 1, 'empty module')],
    ['x := 1', at('rego_parse_error', 1, 1, 'package expected')],
    ['package a\nx if {a == }', at('rego_parse_error', 2, 12, 'unexpected } token')],
    ['package a\nimport rego.v1\nx { true }', at('rego_parse_error', 3, 1, '`if` keyword is required')],
    ['package a\nx { y == }', at('rego_parse_error', 2, 10, 'unexpected } token')],
    ['package a\nx := foo.bar(1)', at('rego_type_error', 2, 6, 'undefined function foo.bar')],
    ['package a\n\n  x := count(1)', at('rego_type_error', 3, 8, 'invalid argument')],
    ['package a\nx { y > 1 }', at('rego_unsafe_var_error', 2, 5, 'var y is unsafe')],
    ['package a\na if b\nb if a', at('rego_recursion_error', 2, 1, 'recursive')],
    ['package a\noutcome(x) := x', at('rego_compile_error', 2, 1, 'outcome must be a rule')],
    ['package a\noutcome := data["accord answer"]', at('rego_recursion_error', 2, 1, 'recursive')],
  ])('%j', async (source, expected) => {
    expect((await refused(source))[0]).toEqual(expected);
  });

  test('a source past the limit is refused, one at the limit is not', async () => {
    const pad = (bytes: number) => `package a\n#${'é'.repeat((bytes - 12) / 2)}\n`;
    await accepted(pad(limits.regoSourceBytesMax));
    expect((await refused(pad(limits.regoSourceBytesMax + 2)))[0]?.code).toBe('too_large');
  });

  test('nesting past the limit is refused, and the message does not repeat the source', async () => {
    const nested = (levels: number) => `package a\nx := ${'['.repeat(levels)}${']'.repeat(levels)}`;
    await accepted(nested(100));
    const [error] = await refused(nested(limits.compileDepthMax));
    expect(error?.message).toContain('max parsing recursion depth exceeded');
    expect(Buffer.byteLength(error!.message)).toBeLessThan(1100);
  });
});

describe('builtins', () => {
  test.each(FORBIDDEN.split(' '))('%s is refused by name, even if the host offers it', async (name) => {
    const uses = [`x := ${name}(input.a)`, `x = ${name}(input.a) { true }`];
    uses.push(`f(y) := y\nx if f(1) with f as ${name}`);
    for (const use of uses) {
      const [error] = await refused(`package a\n${use}`, { builtins: FORBIDDEN.split(' ') });
      expect(error).toMatchObject({
        code: 'builtin_unavailable',
        message: `builtin ${name} is not available to policies`,
      });
    }
  });

  test('one that the host does not supply is refused with its place', async () => {
    const source = 'package a\noutcome := "allow" if {\n  semver.is_valid(input.v)\n}';
    expect(await refused(source)).toEqual([
      { code: 'builtin_unavailable', message: 'builtin semver.is_valid is not available to policies', row: 3, col: 3 },
    ]);
    expect((await accepted(source, { builtins: ['semver.is_valid'] })).builtins).toEqual(['semver.is_valid']);
  });

  test('print and metadata need no host', async () => {
    expect((await accepted('package a\nx if print(input.a)\ny := rego.metadata.rule()')).builtins).toEqual([]);
  });

  test('native ones are exactly those that the linked module runs itself', async () => {
    const syntax = new Set(['eq', 'assign', 'and', 'or', 'print', 'rego.metadata.chain', 'rego.metadata.rule']);
    const usable = (await compiler.builtins()).filter(
      ({ name }) => !(syntax.has(name) || name.startsWith('internal.') || FORBIDDEN.split(' ').includes(name)),
    );
    expect(usable.length).toBeGreaterThan(180);
    const call = (name: string, arity: number) => `${name}(${Array.from({ length: arity }, (_, i) => `input.a${i}`)})`;
    const rules = usable.map(({ name, arity }) => `obligations["${name}"] { x = ${call(name, arity)} }`);
    const compiled = await accepted(`package a\n${rules.join('\n')}`, { builtins: usable.map(({ name }) => name) });
    const { exports } = load(compiled.wasm).wasmInstance;
    const imported = readString(exports, exports.opa_json_dump(exports.builtins()));
    const outside = usable.filter(({ native }) => !native).map(({ name }) => name);
    // What the host does instead of the module's own is marked (compiler/plan/order.go), and no other is.
    const asked = Object.keys(JSON.parse(imported));
    const instead = asked.filter((name) => name.startsWith('host '));
    expect(instead.sort()).toEqual(
      ['format_int', 'json.is_valid', 'json.marshal', 'json.unmarshal'].map((name) => `host ${name}`),
    );
    expect(asked.filter((name) => !name.startsWith('host ')).sort()).toEqual(outside.sort());
    expect(compiled.builtins).toEqual(outside);
  });
});

function readString(exports: { memory: WebAssembly.Memory }, from: number): string {
  const bytes = new Uint8Array(exports.memory.buffer);
  return Buffer.from(bytes.subarray(from, bytes.indexOf(0, from))).toString();
}

describe('data', () => {
  const elsewhere = (name: string, own = 'data.a') =>
    `${name} is not available: it is neither in the package ${own}, nor in a library or a data document of the tenant`;
  test.each([
    ['outcome := "allow" if data.users[input.u].admin', 2, 23, elsewhere('data.users')],
    ['import data.users as people\noutcome := "allow" if people[input.u]', 3, 23, elsewhere('data.users')],
    ['outcome := "allow" if not data["the users"].x', 2, 27, elsewhere('data["the users"].x')],
    ['outcome := "allow" if data[input.u].x', 2, 23, elsewhere('data')],
    ['outcome := "allow" if rule with data.users as {}\nrule := true', 2, 33, elsewhere('data.users')],
    ['outcome = "allow" { data.users[_].name == input.u }', 2, 21, elsewhere('data.users')],
    ['outcome := "allow" if data.a.users.x', 2, 23, 'data.a.users.x is not available: data.a has no such rule'],
  ])('%s is refused with its place', async (rules, row, col, message) => {
    expect(await refused(`package a\n${rules}`)).toEqual([{ code: 'data_unavailable', message, row, col }]);
  });

  test('each place is named, up to a bound', async () => {
    const errors = await refused(`package a.b\nx if {\n  data.c\n  data.d.e\n}\n`);
    expect(errors.map(({ row, message }) => [row, message])).toEqual([
      [3, elsewhere('data.c', 'data.a.b')],
      [4, elsewhere('data.d.e', 'data.a.b')],
    ]);
    expect(
      await refused(`package a\n${Array.from({ length: 30 }, (_, i) => `x${i} if data.y${i}\n`).join('')}`),
    ).toHaveLength(20);
  });

  test.each([
    'x := data.a.y\ny := 1',
    'import data.a.y as z\nx := z\ny := 1',
    'x := data.a.y.z[input.u]\ny.z.w := 1',
    'x := data.a.y[input.u]\ny[k] := 1 if some k in input.l',
    'x := data.a.f(1)\nf(n) := n',
    'x if y with data.a.z as 1\ny := z\nz := 2',
    'import data.unused\nx := 1',
  ])('the policy itself: %s', async (rules) => {
    await accepted(`package a\n${rules}`);
  });

  test.each(['import data.lib\nx := lib.f(1)', 'x := data.lib.f(1)', 'import data.lib.f\nx if f(1)'])(
    'a function elsewhere: %s',
    async (rules) => {
      const [error] = await refused(`package a\n${rules}`);
      expect(error).toMatchObject({
        code: 'rego_type_error',
        message: 'undefined function data.lib.f: it is neither in the own package, nor in a library of the tenant',
      });
    },
  );
});

test.each(['m := {}\nx if { some g in m[input.x]; g }', 'x if { some y in []; y }'])(
  'types that OPA 1.22.0 refused: %s',
  async (rules) => {
    await accepted(`package a\n${rules}`);
  },
);

describe('reads', () => {
  const paths = (...list: string[]) => ({ all: false, paths: list.map((path) => path.split('.')) });
  test.each([
    ['x := 1', paths()],
    ['x := input.a.b', paths('a.b')],
    ['x if { input.b.c; input.a; input.b }', paths('a', 'b')],
    ['x if { input.a.b; input.ab }', paths('a.b', 'ab')],
    ['x := input.a[_].b', paths('a')],
    ['x := input.a[input.b].c', paths('a', 'b')],
    ['x := input["a"]["b"]', paths('a.b')],
    ['x := input.a[0].b', paths('a')],
    ['import input.graph as g\nx := g.subject', paths('graph.subject')],
    ['import input as i\nx := i.q', paths('q')],
    ['x if { g := input.graph; g.subject }', paths('graph')],
    ['x if every e in input.e { e == input.f.g }', paths('e', 'f.g')],
    ['x := [y | y := input.l[_].z]', paths('l')],
    ['x if not input.n', paths('n')],
    ['x := 1 if input.a\nelse := 2 if input.b', paths('a', 'b')],
    ['x := $"hi {input.name}"', paths('name')],
    ['x if input.a with input.b as 1', paths('a', 'b')],
    ['x contains input.k', paths('k')],
    ['x[input.k] := input.v', paths('k', 'v')],
    ['x := input', { all: true }],
    ['x := {"i": input}', { all: true }],
    ['x := input[y] if some y in ["a"]', { all: true }],
    ['x if { some k; input[k] == 1 }', { all: true }],
    ['x if walk(input, [["a"], _])', { all: true }],
    ['x := object.get(input, "a", 1)', { all: true }],
    ['f(i) := i.a\nx := f(input)', { all: true }],
    ['x if { i := input; i.a }', { all: true }],
    ['x if input.a with input as {"a": 1}', { all: true }],
  ])('%s', async (rules, expected) => {
    const { reads } = await accepted(`package a\n${rules}`);
    expect({ ...reads, narrowing: undefined }).toEqual(expected); // plan/narrowing.test.ts
  });
});

describe('explain', () => {
  const held = async (source: string, input: unknown) =>
    (answer(await accepted(source, { explain: true }), input) as { held: number[] }).held.sort((a, b) => a - b);

  const chain = `package a
default outcome := "deny"
outcome := "allow" if {
  input.a
} else := "deny" if {
  input.b
} else := "maybe" if helper
reason := input.r
obligations contains x if some x in input.list
obligations contains "z" if input.z
helper if input.h
`;
  test.each([
    [{}, []],
    [{ a: 1 }, [3]],
    [{ a: 1, b: 1 }, [3]],
    [{ b: 1, r: 'x' }, [5, 8]],
    [{ h: 1, list: ['p', 'q'] }, [7, 9]],
    [{ z: true, r: false }, [8, 10]],
  ])('else chains and sets with %j', async (input, rows) => expect(await held(chain, input)).toEqual(rows));

  test('v0', async () => {
    const source =
      'package a\nobligations[x] { x = input.list[_] }\nreason = x { x := input.list[0] } else = 2 { input.z }';
    expect(await held(source, { list: [1] })).toEqual([2, 3]);
    expect(await held(source, { list: [], z: 1 })).toEqual([3]);
  });

  test('computed names of parts', async () => {
    const source = 'package a\nobligations[k] := v if some k, v in input.o\noutcome.x := 1 if input.x';
    expect(await held(source, { o: { p: 1 } })).toEqual([2]);
  });

  test('is there when no rule can hold, and leaves the rest of the answer as it was', async () => {
    expect(await held('package a\ndefault outcome := "deny"', {})).toEqual([]);
    const input = { a: 1, list: ['p'] };
    const plain = answer(await accepted(chain), input);
    expect(answer(await accepted(chain, { explain: true }), input)).toEqual({ ...(plain as object), held: [3, 9] });
  });
});

describe('format', () => {
  const formatted = async (source: string) => {
    const result = await compiler.format('t', source);
    if (!result.ok) throw new Error(JSON.stringify(result.errors));
    return result.source;
  };

  test('lays v1 out and reports a fault', async () => {
    expect(await compiler.format('t', 'package a\nx  if {input.x==1\n}')).toEqual({
      ok: true,
      source: 'package a\n\nx if input.x == 1\n',
    });
    expect(await compiler.format('t', 'package a\nx := [')).toMatchObject({
      ok: false,
      errors: [{ row: 2, col: 6 }, { row: 2 }],
    });
  });

  test('what is older stays older, until it can be read as v1', async () => {
    expect(await formatted('package a\nx = 1 {input.x==1;\n  input.y }')).toBe(
      'package a\n\nx = 1 {\n\tinput.x == 1\n\tinput.y\n}\n',
    );
    // The formatter writes `if` where the keywords are imported: then the text is v1, and is laid out as that.
    expect(await formatted('package a\nimport future.keywords\nq[x] = y { x := 1; y := 2 }')).toBe(
      'package a\n\nimport future.keywords\n\nq[x] := y if {\n\tx := 1\n\ty := 2\n}\n',
    );
  });

  test.each([
    'package a\n#one\n  # METADATA\n# title: t\nx := { # two\n "a" : 1, # three\n # four\n}\n\n\n# five\ny if {\n# six\ninput.x # seven\n}\n#eight',
    'package a\nx = 1 { # one\n input.y # two\n} else = 2 { # three\n input.z }\n# four',
    'package a\nimport rego.v1\nx contains y if { some y in [1, # one\n2,# two\n3]; y>1 } # three',
  ])('keeps comments and what the policy means; formatted twice it is the same: %j', async (source) => {
    const once = await formatted(source);
    const words = (text: string) => text.match(/# ?(one|two|three|four|five|six|seven|eight)/g)?.length;
    expect(words(once)).toBe(words(source));
    expect(await formatted(once)).toBe(once);
    expect((await accepted(once)).wasm).toEqual((await accepted(source)).wasm);
  });
});
