/** The state of a Wasm instance as its exports, and modules whose state would be more than that. */
import { expect, test } from 'vitest';
import { exposeState } from '../../server/rego/expose-state.ts';
import { encodeU32 } from '../../server/rego/wasm-reader.ts';

const section = (id: number, body: number[]) => [id, ...encodeU32(body.length), ...body];
const I32 = 0x7f;
const I64 = 0x7e;

/** f() runs `code`; global 0 is constant, 1 and 2 can change. */
function module(code: number[]): Uint8Array {
  const body = [0, ...code, 0x0b];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 0, 0]),
    ...section(3, [1, 0]),
    ...section(4, [1, 0x70, 0, 1]),
    ...section(6, [3, I32, 0, 0x41, 7, 0x0b, I32, 1, 0x41, 5, 0x0b, I64, 1, 0x42, 9, 0x0b]),
    ...section(7, [1, 1, 'f'.charCodeAt(0), 0, 0]),
    ...section(10, [1, ...encodeU32(body.length), ...body]),
  ]);
}

test('every global that can change is exported, and can be put back', () => {
  const increment = [0x23, 1, 0x41, 1, 0x6a, 0x24, 1];
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(exposeState(module(increment))));
  expect(Object.keys(exports)).toEqual(['f', 'state 1', 'state 2']);
  const counter = exports['state 1'] as WebAssembly.Global;
  (exports.f as () => void)();
  expect(counter.value).toBe(6);
  counter.value = 5;
  (exports.f as () => void)();
  expect(counter.value).toBe(6);
});

test.each([
  ['table.set', [0x41, 0, 0xd0, 0x70, 0x26, 0]],
  ['table.grow', [0xd0, 0x70, 0x41, 1, 0xfc, 15, 0, 0x1a]],
  ['table.fill', [0x41, 0, 0xd0, 0x70, 0x41, 1, 0xfc, 17, 0]],
  ['table.copy', [0x41, 0, 0x41, 0, 0x41, 1, 0xfc, 14, 0, 0]],
])('%s is refused', (_, code) => {
  expect(() => new WebAssembly.Module(module(code))).not.toThrow();
  expect(() => exposeState(module(code))).toThrow(/cannot be put back/);
});
