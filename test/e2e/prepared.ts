/**
 * Data directories of `accord start` that are there before a test begins. A first start makes a database and compiles
 * policies, which is most of what it takes; start.test.ts and the first guide walk it. Other tests start on a copy.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { openLocal } from '../../cli/local.ts';
import { buildPortal } from '../../cli/portal-build.ts';
import { freePort } from '../helpers/free-port.ts';
import { until } from '../helpers/wait.ts';
import { Running, root } from './accord.ts';

const make = {
  /** A migrated database without tenants. In a new clone the portal is built, too: starts that end meanwhile would begin again. */
  async empty(data: string): Promise<void> {
    await buildPortal().ended;
    const { postgres } = await openLocal(data, { progress: () => {} });
    await postgres.stop();
  },
  /** examples/ was reconciled. */
  async examples(data: string): Promise<void> {
    await copyPrepared('empty', data);
    const listeners = ['--listen', `127.0.0.1:${await freePort()}`, '--admin-listen', `127.0.0.1:${await freePort()}`];
    const session = new Running(['start', '--manifests', join(root, 'examples'), '--data', data, ...listeners]);
    await session.says('Ctrl-C stops everything.');
    await session.stop();
  },
};

export type Prepared = keyof typeof make;

/**
 * Each is made once in a run, by the process that needs it first.
 * @param data where the copy is made; not there yet
 */
export async function copyPrepared(kind: Prepared, data: string): Promise<void> {
  const made = join(tmpdir(), `accord-prepared-${process.env.TEST_RUN}-${kind}`);
  const isThere = () => stat(made).then(Boolean, () => false);
  const isFirst = await mkdir(`${made}.lock`).then(
    () => true,
    () => false,
  );
  if (isFirst) {
    const draft = join(await mkdtemp(join(tmpdir(), 'accord-preparing-')), 'data');
    await make[kind](draft);
    await rename(draft, made);
  }
  await until(`a prepared ${kind} installation, which another process makes`, isThere);
  await mkdir(dirname(data), { recursive: true });
  // Postgres of a run by root is another user's.
  await promisify(execFile)('cp', ['-a', made, data]);
}
