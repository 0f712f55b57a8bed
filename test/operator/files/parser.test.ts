/** Reading large files in a thread: the same answer, the process goes on meanwhile, and what takes too long is given up. */
import { afterEach, expect, test } from 'vitest';
import { parseFile } from '../../../operator/files/parse-file.ts';
import { Parser } from '../../../operator/files/parser.ts';
import { limits } from '../../../server/core/limits.ts';
import { drawn } from '../../helpers/long.ts';
import { policyYaml, tenantYaml } from '../manifests.ts';

const parsers: Parser[] = [];
afterEach(async () => {
  for (const parser of parsers.splice(0)) await parser.close();
});

function parserWith(bounds: ConstructorParameters<typeof Parser>[0] = {}): Parser {
  const parser = new Parser(bounds);
  parsers.push(parser);
  return parser;
}

/** A file of this many characters. */
function fileOf(chars: number): string {
  const text = `${tenantYaml('aa')}---\n${policyYaml('aa', 'read')}---\n${policyYaml('aa', 'bad', { more: 'regoo: 1' })}`;
  return `${text}${'#'.repeat(chars - text.length - 1)}\n`;
}

test.each([
  limits.manifestParsedHereCharsMax, // here
  limits.manifestParsedHereCharsMax + 1, // in the thread
])(
  'a file of %i characters (manifestParsedHereCharsMax) reads as it does in one piece, places and all',
  async (chars) => {
    const text = fileOf(chars);
    const parsed = await parserWith().parse('a.yaml', text);
    expect(JSON.stringify(parsed)).toBe(JSON.stringify(parseFile('a.yaml', text)));
    const [, policy] = parsed.objects;
    expect(policy?.locate?.({ pointer: '/spec/rego', detail: '', line: 3 })).toBe('a.yaml:17');
    expect(parsed.objects[2]?.checked).toMatchObject({ ok: false });
  },
);

test('fifteen large files of one scan leave no listeners behind', async () => {
  const warnings: string[] = [];
  const warned = (warning: Error) => void warnings.push(warning.name);
  process.on('warning', warned);
  const parser = parserWith();
  const text = fileOf(limits.manifestParsedHereCharsMax + 1);
  for (let n = 0; n < 15; n++) expect((await parser.parse(`${n}.yaml`, text)).objects).toHaveLength(3);
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', warned);
  expect(warnings).toEqual([]);
});

test('the process goes on while a large file is read', async () => {
  let [turns, done] = [0, false];
  const turn = () => {
    turns++;
    if (!done) setImmediate(turn);
  };
  const parsing = parserWith().parse('a.yaml', '- a\n'.repeat(32 * 1024));
  turn();
  const { problems } = await parsing;
  done = true;
  expect(problems[0]?.message).toMatch(/must be an object/);
  // Read here, it would have had one.
  expect(turns).toBeGreaterThan(2);
});

test('a file that takes more than its CPU time (manifestParseMsMax) is refused, and the next one is read', async () => {
  const parser = parserWith({ cpuMsMax: 300 });
  const [slow, next] = await Promise.all([
    parser.parse('slow.yaml', '- a\n'.repeat(256 * 1024)),
    parser.parse('next.yaml', `${tenantYaml('aa')}${'#'.repeat(limits.manifestParsedHereCharsMax)}\n`),
  ]);
  expect(slow).toEqual({
    objects: [],
    problems: [{ place: 'slow.yaml', message: 'The file cannot be read: it takes more than 300 ms of CPU time.' }],
    whole: false,
  });
  expect(next.objects.map(({ key }) => key)).toEqual(['Tenant//aa']);
});

test('a file that takes more than its memory (manifestParsePages) is refused, and the next one is read', async () => {
  const text = '- a\n'.repeat(256 * 1024);
  const small = parserWith({ memoryPages: limits.manifestParsePages / 16 });
  expect(await small.parse('large.yaml', text)).toMatchObject({
    problems: [{ place: 'large.yaml', message: expect.stringMatching(/^The file cannot be read: .*memory/) }],
    whole: false,
  });
  expect((await small.parse('next.yaml', fileOf(limits.manifestParsedHereCharsMax + 1))).objects).toHaveLength(3);
  // The largest file that there may be is read, which takes 15 s of CPU: mostly, a quarter of it in half of the memory.
  const largest = '- a\n'.repeat(limits.manifestFileBytesMax / 4 / drawn(4, 1));
  const enough = parserWith({ memoryPages: limits.manifestParsePages / drawn(2, 1) });
  expect((await enough.parse('large.yaml', largest)).problems[0]?.message).toMatch(/must be an object/);
});

test('the thread ends when it is not needed, and one that is closed reads nothing', async () => {
  const parser = parserWith();
  const text = fileOf(limits.manifestParsedHereCharsMax + 1);
  expect((await parser.parse('a.yaml', text)).objects).toHaveLength(3);
  await parser.rest();
  expect((await parser.parse('a.yaml', text)).objects).toHaveLength(3);
  const closing = parser.parse('a.yaml', text);
  await parser.close();
  expect((await closing).whole).toBe(false);
});
