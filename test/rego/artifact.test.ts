/** How compiled policies are stored: nothing lost, small, and damage noticed. */
import { afterAll, describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import {
  packArtifact,
  packCode,
  packPlan,
  unpackArtifact,
  unpackCode,
  unpackPlan,
} from '../../server/rego/artifact.ts';
import { createCompiler } from '../../server/rego/compile.ts';

const compiler = createCompiler();
afterAll(() => compiler.close());

async function compiled(source: string): Promise<{ wasm: Uint8Array }> {
  const result = await compiler.compile('t', source, { builtins: [] });
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return result;
}

describe('artifact', () => {
  test('gives the module back from a small part of its size', async () => {
    for (const rule of ['input.a == "b"', 'regex.match("^a", input.a)']) {
      const { wasm } = await compiled(`package a\noutcome := "allow" if ${rule}`);
      const packed = packArtifact(wasm);
      expect(Buffer.compare(unpackArtifact(packed), wasm)).toBe(0);
      expect(packed.length).toBeLessThan(4096); // more means that the dictionary is of another OPA
    }
  });

  test('holds a module at the limit and not one past it', () => {
    const largest = new Uint8Array(limits.policyWasmBytesMax);
    expect(unpackArtifact(packArtifact(largest)).length).toBe(largest.length);
    expect(() => unpackArtifact(packArtifact(new Uint8Array(largest.length + 1)))).toThrow();
  });

  test('refuses another format and damage', async () => {
    const packed = packArtifact((await compiled('package a\noutcome := "allow"')).wasm);
    expect(() => unpackArtifact(Buffer.concat([Buffer.of(9), packed.subarray(1)]))).toThrow('unknown format 9');
    packed[packed.length - 8]! ^= 1;
    expect(() => unpackArtifact(packed)).toThrow();
    expect(() => unpackArtifact(Buffer.alloc(0))).toThrow('unknown format');
  });
});

describe('code', () => {
  test('comes back with its plan, without one, and without one of another format', async () => {
    const { wasm } = await compiled('package a\noutcome := "allow"');
    const code = { wasm: Buffer.from(wasm), plan: 'p' };
    expect(unpackCode(packCode(code))).toEqual(code);
    expect(unpackCode(packCode({ wasm: code.wasm }))).toEqual({ wasm: code.wasm });
    const packed = packCode(code);
    (packed.plan as Buffer)[0] = 99;
    expect(unpackCode(packed)).toEqual({ wasm: code.wasm });
  });
});

describe('plan', () => {
  test('comes back, and one of another format does not', () => {
    const plan = `{"strings":["é"]}${'x'.repeat(5000)}`;
    expect(unpackPlan(packPlan(plan))).toBe(plan);
    expect(packPlan(plan).length).toBeLessThan(100);
    const later = packPlan(plan);
    later[0] = 99;
    expect(unpackPlan(later)).toBeUndefined();
    const damaged = packPlan(plan);
    damaged[8] = 255 - (damaged[8] as number);
    expect(() => unpackPlan(damaged.subarray(0, 20))).toThrow();
  });

  test('at the limit is kept and one past it is not', () => {
    const largest = 'x'.repeat(limits.policyPlanBytesMax);
    expect(unpackPlan(packPlan(largest))).toBe(largest);
    expect(() => unpackPlan(packPlan(`${largest}x`))).toThrow();
  });
});
