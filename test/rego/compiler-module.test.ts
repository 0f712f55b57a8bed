/** One instance of the compiler, used again and again: each request finds it as the first one did. */
import { beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { type CompilerInstance, loadCompilerModule, startCompiler } from '../../server/rego/compiler-module.ts';

const compile = (source: string) => ({
  op: 'compile',
  source,
  builtins: [],
  plan: true,
  maxDepth: limits.compileDepthMax,
});
const SMALL = compile('package a\noutcome := "allow" if input.subject.id == "ann"');
const SECRET = 'the-tenant-that-came-before';
/** More than the memory that is ready, less than what is allowed. */
const LARGE = compile(`package a\nx := [${'1,'.repeat(12_000)}1]`);

const answerOf = (instance: CompilerInstance, message: object) => {
  const outcome = instance.request(message);
  return outcome.kind === 'answer' ? { ...outcome, wasm: outcome.wasm?.slice() } : outcome;
};

describe('an instance of the compiler', () => {
  let module: WebAssembly.Module;
  beforeAll(() => {
    module = loadCompilerModule();
  });

  test('gives the same answer for the same fuel, whatever it compiled before', () => {
    const instance = startCompiler(module);
    const first = answerOf(instance, SMALL);
    expect(first).toMatchObject({ kind: 'answer', answer: { ok: true } });
    const others = [compile('package b\noutcome := if'), compile(`package ${'c.'.repeat(20)}d\nx := "${SECRET}"`)];
    for (const other of others) {
      answerOf(instance, other);
      expect(answerOf(instance, SMALL)).toEqual(first);
    }
    expect(answerOf(startCompiler(module), SMALL)).toEqual(first);
  });

  test('holds nothing of an earlier request when it is put back', () => {
    const memories: WebAssembly.Memory[] = [];
    const { Instance } = WebAssembly;
    WebAssembly.Instance = class extends Instance {
      constructor(from: WebAssembly.Module, imports?: WebAssembly.Imports) {
        super(from, imports);
        memories.push(this.exports.memory as WebAssembly.Memory);
      }
    };
    const instance = startCompiler(module);
    WebAssembly.Instance = Instance;
    const holdsSecret = () => Buffer.from(memories[0]?.buffer as ArrayBuffer).includes(SECRET);
    answerOf(instance, compile(`package a\noutcome := "allow" if input.x == "${SECRET}"`));
    expect(holdsSecret()).toBe(true);
    expect(instance.reset()).toBe(true);
    expect(holdsSecret()).toBe(false);
  });

  test(`is thrown away when it took more than ${limits.compileMemoryReadyPages} pages, or trapped`, () => {
    const grown = startCompiler(module);
    expect(answerOf(grown, LARGE)).toMatchObject({ kind: 'answer', answer: { ok: true } });
    expect(grown.reset()).toBe(false);
    expect(() => grown.request(SMALL)).toThrow(/cannot be used again/);
    const trapped = startCompiler(module);
    const reversed = Array.from({ length: 1500 }, (_, i) => `v${1500 - i} = v${1499 - i}`).join('\n');
    expect(answerOf(trapped, compile(`package a\nx if {\n${reversed}\nv0 = 1 }`)).kind).toBe('exhausted');
    expect(trapped.reset()).toBe(false);
  });
});
