/** Sources made to hang, overflow or fill the compiler: each ends with a result or an error, and harms nobody else. */
import { afterAll, describe, expect, test, vi } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import type { Observation } from '../../server/core/observe.ts';
import { createCompiler } from '../../server/rego/compile.ts';
import { CompilerWorker } from '../../server/rego/compile-thread.ts';
import { drawn, isLong } from '../helpers/long.ts';

const compiler = createCompiler();
afterAll(() => compiler.close());

const GOOD = 'package good\noutcome := "allow" if input.a == "b"';
const options = { builtins: [] };
const each = (count: number, make: (i: number) => string, separator = '\n') =>
  Array.from({ length: count }, (_, i) => make(i)).join(separator);
const nest = (open: string, inner: string, close: string, times: number) =>
  open.repeat(times) + inner + close.repeat(times);
/** As many repetitions as fit into a source of the largest size. */
const fill = (make: (i: number) => string, separator = '\n') => {
  let source = '';
  for (let i = 0; ; i++) {
    const more = make(i) + separator;
    if (source.length + more.length > limits.regoSourceBytesMax - 100) return source;
    source += more;
  }
};

const ELSE_CHAIN = `x := 0 if input.a == 0\n${fill((i) => `else := ${i} if input.a == ${i}`)}`;

const HOSTILE: Record<string, string> = {
  'unterminated string': `x := "${'a'.repeat(60_000)}`,
  'one long comment': `#${'a'.repeat(60_000)}`,
  'nul and control characters': 'x := "\u0000\u0001\u001b"\u0000',
  'arrays nested 30,000 deep': `x := ${nest('[', '', ']', 30_000)}`,
  'arrays nested below the parser limit': `x := ${nest('[', '1', ']', 480)}`,
  'objects nested': `x := ${nest('{"a":', '1', '}', 400)}`,
  'sets nested': `x := ${nest('{', '1', '}', 120)}`,
  'parentheses nested': `x := ${nest('(', '1', ')', 30_000)}`,
  'calls nested': `x := ${nest('count(', 'input', ')', 300)}`,
  'comprehensions nested': `x := ${nest('[y | y := ', '1', ']', 60)}`,
  'object comprehensions nested': `x := ${nest('{y: 1 | some y in ', '[1]', '}', 60)}`,
  'every nested': `x if { ${nest('every z in [1] { ', 'true', ' }', 60)} }`,
  'not nested': `x if ${'not '.repeat(10_000)}input.a`,
  'brackets of references nested': `x := ${nest('input[', '0', ']', 100)}`,
  'a long sum': `x := 1${' + 1'.repeat(16_000)}`,
  'a long reference': `x := input${'.a'.repeat(30_000)}`,
  'a long array': `x := [${fill(() => '1', ',')}1]`,
  'a long object': `x := {${fill((i) => `"k${i}":${i}`, ',')}"z":1}`,
  'a long set': `x := {${fill((i) => `${i}`, ',')}1}`,
  'thousands of rules': fill((i) => `r${i} if input.x == ${i}`),
  'thousands of rules of one name': fill((i) => `outcome := ${i} if input.x == ${i}`),
  'thousands of set rules': fill((i) => `obligations contains ${i} if input.x == ${i}`),
  'a long else chain': ELSE_CHAIN,
  'a long else chain of the answer': ELSE_CHAIN.replace('x :=', 'outcome :='),
  'a long body': `x if {\n${fill((i) => `input.a[_] == ${i}`)}}`,
  'variables in the worst order': `x if {\n${each(1500, (i) => `v${1500 - i} = v${1499 - i}`)}\nv0 = 1 }`,
  'variables that wait for another': `x if {\n${each(800, (i) => `v${i} = count(v${i + 1})`)}\nv800 = [] }`,
  'a chain of rules': `${fill((i) => `r${i} := r${i + 1}`)}r0 := 1`,
  'a ring of rules': `${each(2000, (i) => `r${i} := r${(i + 1) % 2000}`)}`,
  'rules that all refer to all': each(60, (i) => `r${i} if { ${each(60, (k) => `s${k}`, ';')} }\ns${i} if input.a`),
  'objects that double': `v0 := {"x": 1}\n${each(40, (i) => `v${i + 1} := {"a": v${i}, "b": v${i}}`)}`,
  'arrays that double': `v0 := [1]\n${each(40, (i) => `v${i + 1} := [v${i}, v${i}]`)}`,
  'types that multiply': `x if {\n${each(40, (i) => `y${i} := [input.a, 1, "a", true][_]`)}\nz := [${each(40, (i) => `y${i}`, ',')}] }`,
  'many withs': `x if input.a${each(2000, (i) => ` with input.k${i} as ${i}`, '')}`,
  'many imports': fill((i) => `import input.a.b${i}`),
  'many parameters': `f(${each(4000, (i) => `a${i}`, ',')}) := 1`,
  'a huge number': `x := 1${'0'.repeat(60_000)}`,
  'a huge exponent': 'x := 1e999999999 * 1e999999999',
  'huge regular expressions': `x if regex.match("${'(a{1,50}){1,50}'.repeat(20)}", input.s)`,
  'a template of many parts': `x := $"${'{input.a}'.repeat(5000)}"`,
  'annotations of much YAML': `# METADATA\n# custom:\n#  a: &a [1,1,1,1,1,1,1,1,1]\n${each(12, (i) => `#  b${i}: &b${i} [${i ? `*b${i - 1},`.repeat(9) : '*a,*a,*a,'}1]`)}\nx := 1`,
  'annotations nested': `# METADATA\n# custom: ${nest('[', '', ']', 20_000)}\nx := 1`,
  'v0 with a long else chain': `x = 0 { input.a == 0 }\n${fill((i) => `else = ${i} { input.a == ${i} }`)}`,
};

describe('hostile sources end, and the next compile is good', () => {
  test.each(Object.entries(HOSTILE))('%s', async (_name, rules) => {
    const source = `package h\n${rules}`;
    expect(Buffer.byteLength(source)).toBeLessThanOrEqual(limits.regoSourceBytesMax);
    for (const explain of [false, true]) {
      const result = await compiler.compile('evil', source, { ...options, explain });
      if (!result.ok)
        expect(result.errors[0]).toMatchObject({ row: expect.any(Number), message: expect.stringMatching(/./) });
      const formatted = explain || (await compiler.format('evil', source));
      expect(formatted).toBeTruthy();
      // The same takes all of the fuel once more: two seconds of CPU.
      if (!result.ok && result.errors[0]?.code === 'too_complex' && !isLong) break;
    }
    expect(await compiler.compile('good', GOOD, options)).toMatchObject({ ok: true, package: 'data.good' });
  });

  test('what ran out is named', async () => {
    const result = await compiler.compile('evil', `package h\n${ELSE_CHAIN}`, options);
    expect(result).toEqual({
      ok: false,
      errors: [
        {
          code: 'too_complex',
          message: expect.stringMatching(/^policy is too complex to compile: it takes more than/),
          row: 1,
          col: 1,
        },
      ],
    });
  });
});

describe('queue', () => {
  test('serves tenants in turn, so that many hostile sources of one delay another by one', async () => {
    const done: string[] = [];
    const bad = Array.from({ length: drawn(3, 5) }, (_, i) =>
      compiler.compile('evil', `package h\n${ELSE_CHAIN}#${i}`, options).then(() => done.push('evil')),
    );
    const good = ['ann', 'ben'].map((tenant) => compiler.compile(tenant, GOOD, options).then(() => done.push(tenant)));
    await Promise.all([...bad, ...good]);
    expect(done.slice(0, 4).sort()).toEqual(['ann', 'ben', 'evil', 'evil']);
  });

  test('takes so many of one tenant and no more, and still serves another', async () => {
    const own = createCompiler();
    const codes: string[] = [];
    const refuse = (error: { code: string }) => void codes.push(error.code);
    const waiting = Array.from({ length: limits.compileQueuePerTenantMax + 2 }, () =>
      own.compile('evil', GOOD, options).catch(refuse),
    );
    const other = own.compile('good', GOOD, options);
    await expect(Promise.race([...waiting.slice(-1)])).resolves.toBeUndefined();
    expect(codes).toEqual(['compile_queue_full']); // one is being compiled, the bound wait, one is too many
    await expect(other).resolves.toMatchObject({ ok: true });
    await own.close();
    await Promise.all(waiting);
    expect(new Set(codes)).toEqual(new Set(['compile_queue_full', 'compiler_closed']));
    await expect(own.compile('good', GOOD, options)).rejects.toMatchObject({ code: 'compiler_closed' });
  });
});

const message = (source: string) => ({ op: 'compile', source, builtins: [], maxDepth: limits.compileDepthMax });

test('a thread that takes more CPU time than it may is replaced', async () => {
  const seen: Observation[] = [];
  const worker = new CompilerWorker((observation) => seen.push(observation));
  await worker.run(message(GOOD)); // loaded: what follows is the request's own time
  expect(await worker.run(message(`package h\n${ELSE_CHAIN}`), { cpuMs: 1, waitMs: 60_000 })).toEqual({
    kind: 'exhausted',
    reason: 'it takes more than 1 ms of CPU time',
  });
  expect(seen).toEqual([{ kind: 'compiler_replaced', reason: 'timeout' }]);
  expect(await worker.run(message(GOOD))).toMatchObject({ kind: 'answer', answer: { ok: true } });
  await worker.close();
});

describe('a thread that does not get the CPU', () => {
  // It says that it has begun, waits for as long as the message says, and answers.
  const idle = new URL(
    `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', ({ id, message }) => {
      parentPort.postMessage({ id, started: true });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, message.ms);
      parentPort.postMessage({ id, outcome: { kind: 'answer', answer: {}, fuel: 0 } });
    });`)}`,
  );

  test('may take longer by the clock than a request may compute', async () => {
    const worker = new CompilerWorker(undefined, undefined, idle);
    const answer = await worker.run({ ms: 500 }, { cpuMs: 100, waitMs: 60_000 });
    expect(answer).toMatchObject({ kind: 'answer' });
    await worker.close();
  });

  test('is given up after compileWaitMsMax, which is no refusal', async () => {
    expect(limits.compileWaitMsMax).toBeGreaterThan(limits.compileCpuMsMax);
    const seen: Observation[] = [];
    const worker = new CompilerWorker((observation) => seen.push(observation), undefined, idle);
    const waiting = worker.run({ ms: 600_000 }, { cpuMs: 100, waitMs: 200 });
    await expect(waiting).rejects.toMatchObject({ code: 'compiler_starved' });
    expect(seen).toEqual([{ kind: 'compiler_replaced', reason: 'no CPU time' }]);
    expect(await worker.run({ ms: 1 })).toMatchObject({ kind: 'answer' });
    await worker.close();
  });
});

describe('a thread that nobody asks', () => {
  test('ends after limits.compilerIdleMs', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const ended = Promise.withResolvers<Observation>();
    const seen: Observation[] = [];
    const worker = new CompilerWorker((observation) => {
      seen.push(observation);
      ended.resolve(observation);
    });
    try {
      worker.prepare();
      await worker.run(message(GOOD));
      vi.advanceTimersByTime(limits.compilerIdleMs - 1);
      await worker.run(message(GOOD)); // counts from here on
      vi.advanceTimersByTime(limits.compilerIdleMs - 1);
      await new Promise(setImmediate);
      expect(seen).toEqual([]);
      vi.advanceTimersByTime(1);
      expect(await ended.promise).toEqual({ kind: 'compiler_ended', idleMs: limits.compilerIdleMs });
    } finally {
      vi.useRealTimers();
      await worker.close();
    }
  });

  test('is started again by the next request, and not ended under one', async () => {
    let ended = 0;
    let told = () => {};
    const worker = new CompilerWorker(() => {
      ended++;
      told();
    }, 1);
    for (const round of [1, 2]) {
      const end = new Promise<void>((resolve) => {
        told = resolve;
      });
      expect(await worker.run(message(GOOD))).toMatchObject({ kind: 'answer', answer: { ok: true } });
      await end;
      expect(ended).toBe(round);
    }
    await worker.close();
  });
});
