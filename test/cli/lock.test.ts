import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { InUse, lockDirectory } from '../../cli/lock.ts';

const directory = await mkdtemp(join(tmpdir(), 'accord-lock-'));
afterAll(() => rm(directory, { recursive: true, force: true }));
const claims = async () => (await readdir(directory)).filter((name) => name.endsWith('.lock'));
const run = promisify(execFile);

/** The number of a process that was and is no more. */
async function goneProcess(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid as number;
}

test('one has it, the next is told who, and after it is given back another has it', async () => {
  const release = await lockDirectory(directory);
  expect(await readFile(join(directory, 'accord.pid'), 'utf8')).toBe(`${process.pid}\n`);
  const refused = await lockDirectory(directory).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(InUse);
  expect(String(refused)).toContain(`(process ${process.pid})`);
  await release();
  expect(await readdir(directory)).toEqual([]);
  await (await lockDirectory(directory))();
});

test('the claim of a process that is gone, or of an earlier one with our number, does not count and is removed', async () => {
  for (const pid of [await goneProcess(), process.pid]) {
    await writeFile(join(directory, `accord.${pid}.${randomUUID()}.lock`), '');
  }
  const release = await lockDirectory(directory);
  expect(await claims()).toHaveLength(1);
  await release();
});

test('of two processes that want it again and again, never both have it', async () => {
  const rounds = 60;
  const script = join(import.meta.dirname, 'accord-locker.ts');
  const args = [script, directory, String(rounds), String(await goneProcess())];
  const outcomes = await Promise.all([run(process.execPath, args), run(process.execPath, args)]);
  for (const { stdout } of outcomes) expect(JSON.parse(stdout)).toEqual({ taken: rounds, overlaps: 0 });
  const left = await claims();
  expect(left.length).toBeLessThanOrEqual(1); // of the last round's gone process
});
