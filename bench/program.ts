/** Running the real `accord start` from outside, as a person does: a data directory, a directory of manifests, a port. */
import { spawn } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './installation.ts';
import { openConnections, prepare } from './load.ts';

const root = join(import.meta.dirname, '..');
const accord = join(root, 'bin', 'accord.mjs');

export type Directory = { manifests: string; data: string; remove(): Promise<void> };

/** A copy of examples/, and a data directory that is not there yet. */
export async function createDirectory(): Promise<Directory> {
  const directory = await mkdtemp(join(tmpdir(), 'accord-bench-'));
  const manifests = join(directory, 'manifests');
  await cp(join(root, 'examples'), manifests, { recursive: true });
  return { manifests, data: join(directory, 'data'), remove: () => rm(directory, { recursive: true, force: true }) };
}

/** `startedMs`: from the start of the process until it printed that all manifests are reconciled and served. */
export type Program = { port: number; startedMs: number; stop(): Promise<void> };

export async function startProgram({ manifests, data }: Directory): Promise<Program> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const listeners = ['--listen', `127.0.0.1:${port}`, '--admin-listen', `127.0.0.1:${adminPort}`];
  const started = performance.now();
  const child = spawn(process.execPath, [accord, 'start', '--manifests', manifests, '--data', data, ...listeners], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      printed += chunk;
      if (printed.includes('Ctrl-C stops everything')) resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', (code) => reject(new Error(`accord start ended (${code}): ${printed}`)));
  });
  const startedMs = performance.now() - started;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  return {
    ...{ port, startedMs },
    async stop() {
      child.kill('SIGTERM');
      await gone;
    },
  };
}

/** A token by `accord token`, as the program's printed request gets it. */
export async function mintToken({ data }: Directory, tenant: string): Promise<string> {
  const args = ['token', '--tenant', tenant, '--client', 'bench', '--scope', 'authz:evaluate', '--data', data];
  const child = spawn(process.execPath, [accord, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let token = '';
  child.stdout.on('data', (chunk) => {
    token += chunk;
  });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`accord token ended (${code})`);
  return token.trim();
}

/** Asks for a decision of carshare, by a policy of examples/. @returns ms of the request */
export async function askDecision({ port }: Program, directory: Directory): Promise<number> {
  const token = await mintToken(directory, 'carshare');
  const [connection] = await openConnections(port, 1);
  const asked = performance.now();
  const body = { action: 'car:read', subject: { id: 'nobody', type: 'user' }, resource: { id: 'none', type: 'car' } };
  const answered = await connection?.ask(prepare('/authz/carshare', token, body));
  const ms = performance.now() - asked;
  connection?.close();
  if (answered?.status !== 200 || answered.body.includes('policy_not_found')) throw new Error(answered?.body);
  return ms;
}
