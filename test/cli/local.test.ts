import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { writeRuntime } from '../../cli/local.ts';

const directory = await mkdtemp(join(tmpdir(), 'accord-local-'));
afterAll(() => rm(directory, { recursive: true, force: true }));

test('runtime.json is put in the place of a link, which is not followed, and is for its owner only', async () => {
  const elsewhere = join(directory, 'elsewhere');
  const file = join(directory, 'runtime.json');
  await writeFile(elsewhere, 'precious');
  await symlink(elsewhere, file);
  const runtime = { baseUrl: 'http://127.0.0.1:8080', logInLinks: true };
  await writeRuntime(directory, runtime);
  expect(await readFile(elsewhere, 'utf8')).toBe('precious');
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(runtime);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await readdir(directory)).sort()).toEqual(['elsewhere', 'runtime.json']);
});
