/** Fuel and memory bounds inside Wasm: same results as without, the same count each time, a trap at the end. */
import { createRequire } from 'node:module';
import { beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { loadCompilerModule, startCompiler } from '../../server/rego/compiler-module.ts';
import { instrument } from '../../server/rego/instrument.ts';
import { encodeS32, encodeU32, WasmReader } from '../../server/rego/wasm-reader.ts';

// A CommonJS package whose types claim named ES exports that Node does not find.
const { loadPolicySync } = createRequire(import.meta.url)(
  '@open-policy-agent/opa-wasm',
) as typeof import('@open-policy-agent/opa-wasm');

const options = { memoryPages: 4, fuel: 1000 };
type Exports = { f(n: number): number; fuel: WebAssembly.Global; memory: WebAssembly.Memory };

const vector = (items: number[][]) => [...encodeU32(items.length), ...items.flat()];
const text = (value: string) => [value.length, ...Buffer.from(value)];
const section = (id: number, body: number[]) => [id, ...encodeU32(body.length), ...body];
const body = (locals: number[], code: number[]) => {
  const all = [...locals, ...code, 0x0b];
  return [...encodeU32(all.length), ...all];
};
const I32 = 0x7f;
const SIGNATURE = section(1, vector([[0x60, 1, I32, 1, I32]])); // i32 -> i32
/** f(n) counts n down in a loop and returns what it counted. */
const LOOP = body(
  [1, 1, I32],
  [
    ...[0x03, 0x40], // loop
    ...[0x20, 1, 0x41, 1, 0x6a, 0x21, 1], // local1 += 1
    ...[0x20, 0, 0x41, 1, 0x6b, 0x22, 0], // local0 -= 1
    ...[0x0d, 0, 0x0b, 0x20, 1], // br_if 0, end, local1
  ],
);
const HEADER = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

function module(code: number[], { imports = [] as number[][], memory = [[0, 1]], exports = [] as number[][] } = {}) {
  return Uint8Array.from([
    ...HEADER,
    ...SIGNATURE,
    ...section(2, vector(imports)),
    ...section(3, vector([[0]])),
    ...section(5, vector(memory)),
    ...section(6, vector([[I32, 0, 0x41, 7, 0x0b]])),
    ...section(7, vector([[...text('f'), 0, 0], ...exports])),
    ...section(10, vector([code])),
  ]);
}

function start(wasm: Uint8Array, imports: WebAssembly.Imports = {}): Exports {
  return new WebAssembly.Instance(new WebAssembly.Module(wasm), imports).exports as unknown as Exports;
}

describe('fuel', () => {
  test('counts the function and each iteration, and traps when it is used up', () => {
    const { f, fuel } = start(instrument(module(LOOP), options));
    expect(fuel.value).toBe(1000);
    expect(f(10)).toBe(10);
    expect(fuel.value).toBe(1000 - 11);
    fuel.value = 11;
    expect(f(10)).toBe(10);
    expect(fuel.value).toBe(0);
    fuel.value = 10;
    expect(() => f(10)).toThrow(WebAssembly.RuntimeError);
    expect(fuel.value).toBe(-1);
    expect(() => f(1)).toThrow(WebAssembly.RuntimeError);
  });

  test('ends endless loops and endless recursion', () => {
    const endless = start(instrument(module(body([0], [0x03, 0x40, 0x0c, 0, 0x0b, 0x41, 0])), options));
    expect(() => endless.f(1)).toThrow('unreachable');
    const recursive = start(instrument(module(body([0], [0x20, 0, 0x10, 0])), options));
    expect(() => recursive.f(1)).toThrow('unreachable');
    expect(recursive.fuel.value).toBe(-1);
  });

  test('takes its index after imported globals', () => {
    const imports = [[...text('e'), ...text('g'), 3, I32, 0]];
    const global = new WebAssembly.Global({ value: 'i32' }, 5);
    const { f, fuel } = start(instrument(module(LOOP, { imports }), options), { e: { g: global } });
    expect(f(3)).toBe(3);
    expect([fuel.value, global.value]).toEqual([996, 5]);
  });

  test.each([0, 63, 64, 127, 128, 8191, 8192, 1_000_000, 2 ** 31 - 1])('starts with %d', (units) => {
    expect(start(instrument(module(LOOP), { ...options, fuel: units })).fuel.value).toBe(units);
  });
});

describe('memory', () => {
  const grow = body([0], [0x20, 0, 0x40, 0]);
  const exports = [[...text('memory'), 2, 0]];

  test.each([
    ['without a maximum', [0, 1], 4],
    ['with a higher one', [1, 1, 100], 4],
    ['with a lower one', [1, 1, 2], 2],
  ])('%s grows to the bound and no further', (_name, memory, pages) => {
    const { f } = start(instrument(module(grow, { memory: [memory], exports }), options));
    expect(f(pages - 1)).toBe(1);
    expect(f(1)).toBe(-1);
  });

  test('imported has to be bounded by the host', () => {
    const wasm = instrument(
      module(grow, { imports: [[...text('env'), ...text('memory'), 2, 0, 1]], memory: [] }),
      options,
    );
    const memory = (maximum?: number) => new WebAssembly.Memory({ initial: 1, ...(maximum && { maximum }) });
    expect(() => start(wasm, { env: { memory: memory() } })).toThrow(WebAssembly.LinkError);
    expect(() => start(wasm, { env: { memory: memory(5) } })).toThrow(WebAssembly.LinkError);
    const bounded = memory(4);
    expect(start(wasm, { env: { memory: bounded } }).f(4)).toBe(-1);
    expect(start(wasm, { env: { memory: bounded } }).f(3)).toBe(1);
  });

  test('that starts above the bound is refused', () => {
    expect(() => instrument(module(grow, { memory: [[0, 5]] }), options)).toThrow('needs 5 pages');
  });
});

describe('malformed or unsupported modules are refused', () => {
  test.each([
    ['nothing', new Uint8Array()],
    ['another file', Uint8Array.from(Buffer.from('not wasm'))],
    ['no code', Uint8Array.from([...HEADER, ...SIGNATURE])],
    ['a vector instruction', module(body([0], [0xfd, 0x0c, 0, 0x41, 0]))],
    ['shared memory', module(LOOP, { memory: [[3, 1, 1]] })],
    ['cut off', module(LOOP).subarray(0, -3)],
  ])('%s', (_name, wasm) => expect(() => instrument(wasm, options)).toThrow(RangeError));
});

describe('policies', () => {
  const source = `package p
members := {m | some r in input.relations; r.kind == "member"; m := r.id}
outcome := "allow" if { input.who in members; regex.match("^[a-z]+$", input.who) }
reason := concat(",", sort([m | some m in members]))
`;
  const inputs = [1, 10, 100].map((count) => ({
    who: 'ann',
    relations: Array.from({ length: count }, (_, i) => ({ kind: i % 2 ? 'owner' : 'member', id: i ? `u${i}` : 'ann' })),
  }));
  let plain: Uint8Array;
  beforeAll(() => {
    const request = { op: 'compile', source, builtins: [], maxDepth: limits.compileDepthMax };
    const outcome = startCompiler(loadCompilerModule()).request(request);
    if (outcome.kind !== 'answer' || !outcome.wasm) throw new Error(JSON.stringify(outcome));
    plain = outcome.wasm.slice();
  });
  const load = (wasm: Uint8Array) => {
    const policy = loadPolicySync(wasm, { initial: 5, maximum: limits.evaluateMemoryPages });
    return { policy, fuel: policy.wasmInstance.exports.fuel as WebAssembly.Global };
  };
  const bounds = { memoryPages: limits.evaluateMemoryPages, fuel: limits.evaluateFuel };

  test('answer as without, and burn the same each time', () => {
    const bare = load(plain).policy;
    const burned = [1, 2].map(() => {
      const { policy, fuel } = load(instrument(plain, bounds));
      return inputs.map((input) => {
        fuel.value = limits.evaluateFuel;
        expect(policy.evaluate(input)).toEqual(bare.evaluate(input));
        return limits.evaluateFuel - fuel.value;
      });
    });
    expect(burned[0]).toEqual(burned[1]);
    expect(burned[0]).toEqual(burned[0]!.toSorted((a, b) => a - b));
  });

  test('trap one unit short of what they need', () => {
    const wasm = instrument(plain, bounds);
    const first = load(wasm);
    first.fuel.value = limits.evaluateFuel;
    first.policy.evaluate(inputs[1]);
    const need = limits.evaluateFuel - first.fuel.value;
    for (const [units, traps] of [
      [need, false],
      [need - 1, true],
    ] as const) {
      const { policy, fuel } = load(wasm);
      fuel.value = units;
      if (traps) expect(() => policy.evaluate(inputs[1])).toThrow(WebAssembly.RuntimeError);
      else expect(policy.evaluate(inputs[1])).toHaveLength(1);
    }
  });

  test('have no instruction whose cost grows with its operands', () => {
    const reader = new WasmReader(plain);
    const bulk: number[] = [];
    for (const { id, from } of reader.sections()) {
      if (id !== 10) continue;
      reader.at = from;
      for (let functions = reader.u32(); functions > 0; functions--) {
        const end = reader.u32() + reader.at;
        for (let groups = reader.u32(); groups > 0; groups--) {
          reader.skipNumber();
          reader.byte();
        }
        while (reader.at < end) {
          const at = reader.at;
          if (reader.instruction() === 0xfc && plain[at + 1]! >= 8) bulk.push(at);
        }
      }
    }
    expect(bulk).toEqual([]);
  });
});

test('numbers are encoded as the format has them', () => {
  expect(encodeU32(0)).toEqual([0]);
  expect(encodeU32(127)).toEqual([127]);
  expect(encodeU32(128)).toEqual([0x80, 1]);
  expect(encodeU32(2 ** 32 - 1)).toEqual([0xff, 0xff, 0xff, 0xff, 0x0f]);
  expect(encodeS32(63)).toEqual([63]);
  expect(encodeS32(64)).toEqual([0xc0, 0]);
});
