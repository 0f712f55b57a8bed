/** The check of files that share a process: one that changes what the next finds fails, and what closes in time is nothing. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const root = join(import.meta.dirname, '..');

/** What a file does in its only test, and what is said of it; nothing is said of those that clean up. */
const files: Record<string, [does: string, said?: string]> = {
  variable: ['process.env.LEFT = "1"', 'environment variables: + LEFT'],
  gone: ['delete process.env.LEFT_THERE', 'environment variables: - LEFT_THERE'],
  folder: ['process.chdir("/")', 'the working directory: - '],
  listener: ['process.on("SIGUSR2", () => {})', '+ SIGUSR2'],
  prototype: ['Array.prototype.left = 1', '+ Array.prototype.left'],
  global: ['globalThis.left = 1', 'globals: + left'],
  replaced: [
    'const { map } = Array.prototype; Array.prototype.map = function (...all) { return map.apply(this, all); }',
    'another Array.prototype.map',
  ],
  replacedGlobal: ['globalThis.fetch = () => {}', 'another fetch'],
  replacedClock: ['Date.now = () => 0', 'another Date.now'],
  loaded: ['void [Blob, crypto, performance, WritableStream]'],
  timer: ['setInterval(() => {}, 60_000)', '+ Timeout'],
  server: ['createServer().listen(0)', '+ TCPServerWrap'],
  variableAndBack: ['process.env.LEFT = "1"; onTestFinished(() => { delete process.env.LEFT; })'],
  // Closed in time.
  closesSoon: ['const server = createServer().listen(0); setTimeout(() => server.close(), 100)'],
};

const sourceOf = (does: string) =>
  `import { createServer } from 'node:net'; import { onTestFinished, test } from 'vitest'; test('does', () => { ${does} });`;

test('each thing that is left behind fails its file by name', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'left-'));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, [does]] of Object.entries(files)) await writeFile(join(folder, `${name}.test.mjs`), sourceOf(does));
  const setup = join(root, 'test/helpers/left-behind.ts');
  await writeFile(
    join(folder, 'vitest.config.mjs'),
    `const files = ${JSON.stringify(Object.keys(files).filter((name) => files[name]?.[1] !== undefined))};
    const leaving = files.map((name) => name + '.test.mjs');
    const setupFiles = ['${setup}'];
    export default { test: { pool: 'forks', projects: [
      { test: { name: 'leaving', setupFiles, include: leaving, provide: { settleMsMax: 100 } } },
      { test: { name: 'clean', setupFiles, exclude: [...leaving, '**/node_modules/**'] } },
    ] } };`,
  );
  const report = join(folder, 'report.json');
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const ran = promisify(execFile)(
    process.execPath,
    [vitest, 'run', '--root', folder, '--reporter=json', `--outputFile=${report}`, '--maxWorkers=2'],
    { env: { ...process.env, LEFT_THERE: '1', NO_COLOR: '1' } },
  );
  await expect(ran).rejects.toMatchObject({ code: 1 });
  const { testResults } = JSON.parse(await readFile(report, 'utf8')) as {
    testResults: { name: string; message: string }[];
  };
  const said = new Map(testResults.map(({ name, message }) => [name, message]));
  for (const [name, [, expected = '']] of Object.entries(files)) {
    const message = said.get(join(folder, `${name}.test.mjs`));
    if (expected === '') expect(message, name).toBe('');
    else expect(message, name).toContain(expected);
  }
});
