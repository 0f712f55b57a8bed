/**
 * Data directories of `accord start` that are there before a test begins. A first start makes a database and compiles
 * policies, which is most of what it takes; start.test.ts and the first guide walk it. Other tests start on a copy.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rmdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { openLocal } from '../../cli/local.ts';
import { buildPortal } from '../../cli/portal-build.ts';
import { freePort } from '../helpers/free-port.ts';
import { until } from '../helpers/wait.ts';
import { Running, root } from './accord.ts';

/** Each is one step: whoever waits for one that another process makes waits for one step at a time. */
const steps = {
  /** In a new clone, the portal that a start would build in the background, again and again where it ends meanwhile. */
  async portal(to: string): Promise<void> {
    await buildPortal().ended;
    await mkdir(to);
  },
  /** A migrated database without tenants. */
  async empty(to: string): Promise<void> {
    await prepare('portal');
    const { postgres } = await openLocal(to, { progress: () => {} });
    await postgres.stop();
  },
  /** examples/ was reconciled. */
  async examples(to: string): Promise<void> {
    await copyPrepared('empty', to);
    const listeners = ['--listen', `127.0.0.1:${await freePort()}`, '--admin-listen', `127.0.0.1:${await freePort()}`];
    const session = new Running(['start', '--manifests', join(root, 'examples'), '--data', to, ...listeners]);
    try {
      await session.says('Ctrl-C stops everything.');
    } finally {
      await session.stop();
    }
  },
};

export type Prepared = Exclude<keyof typeof steps, 'portal'>;

/** Each is made once in a run, by the process that needs it first. @returns where it is */
async function prepare(step: keyof typeof steps): Promise<string> {
  if (process.env.TEST_RUN === undefined) throw new Error('what is prepared is kept until the run ends: use npm test');
  const made = join(tmpdir(), `prepared-${step}`);
  const isThere = (path: string) => stat(path).then(Boolean, () => false);
  const making = `${made}.making`;
  const isFirst =
    !(await isThere(made)) &&
    (await mkdir(making).then(
      () => true,
      () => false,
    ));
  if (isFirst) {
    try {
      const draft = join(await mkdtemp(join(tmpdir(), 'preparing-')), 'data');
      await steps[step](draft);
      await rename(draft, made);
    } finally {
      await rmdir(making);
    }
  }
  await until(`what another process prepares: ${step}`, async () => (await isThere(made)) || !(await isThere(making)));
  if (!(await isThere(made))) throw new Error(`another process failed to prepare: ${step}`);
  return made;
}

/** @param data where the copy is made; not there yet */
export async function copyPrepared(what: Prepared, data: string): Promise<void> {
  const made = await prepare(what);
  await mkdir(dirname(data), { recursive: true });
  // Postgres of a run by root is another user's.
  await promisify(execFile)('cp', ['-a', made, data]);
}
