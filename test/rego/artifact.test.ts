/** How compiled policies are stored: nothing lost, small, and damage noticed. */
import { afterAll, describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { packArtifact, unpackArtifact } from '../../server/rego/artifact.ts';
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
