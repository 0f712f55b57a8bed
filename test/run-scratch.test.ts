/** A run that is killed leaves neither processes nor files behind. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { until } from './helpers/wait.ts';

/** Begins a run whose test started a process of its own, and says where its files are. */
async function begin(ending: string) {
  const program = `
    const { spawn } = await import('node:child_process');
    const { writeFileSync } = await import('node:fs');
    const { createRunScratch } = await import(${JSON.stringify(join(import.meta.dirname, 'helpers/run-scratch.ts'))});
    const run = createRunScratch();
    writeFileSync(run.env.TMPDIR + '/left', '');
    const sleeping = spawn('sleep', ['600'], { detached: true, stdio: 'ignore', env: { ...process.env, ...run.env } });
    sleeping.unref();
    console.log(JSON.stringify({ pid: sleeping.pid, directory: run.directory }));
    ${ending}`;
  const { TEST_RUN: _, ...env } = process.env;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, ...(JSON.parse(String(line)) as { pid: number; directory: string }) };
}

const runs = (pid: number) => existsSync(`/proc/${pid}`);

test.each(['SIGKILL', 'SIGINT'] as const)('by %s', async (signal) => {
  const { child, pid, directory } = await begin('setInterval(() => {}, 1000);');
  expect(readdirSync(join(directory, 'tmp'))).toEqual(['left']);
  expect(runs(pid)).toBe(true);
  child.kill(signal);
  await until('the end of the process', () => !runs(pid));
  await until('the end of the folder', () => !existsSync(directory));
});

test('and one that ends by itself names what still runs', async () => {
  const { child, pid, directory } = await begin(`
    const left = await run.leftRunning(0);
    process.exitCode = left.length === 1 && left[0].endsWith(' sleep 600') ? 42 : 1;`);
  expect(await once(child, 'exit')).toEqual([42, null]);
  await until('the end of the process', () => !runs(pid));
  await until('the end of the folder', () => !existsSync(directory));
});
