/**
 * What a benchmark measures on: a Postgres of its own, migrated, a tenant, tokens, and server processes in their
 * production configuration. The benchmark itself, Postgres and the load stay on core 1, servers on core 0.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { heapFlags } from '../bin/node24.mjs';
import { type Config, readConfig } from '../server/core/config.ts';
import { migrate } from '../server/core/db/migrate.ts';
import type { Writer } from '../server/core/ownership.ts';
import { startPostgres } from '../server/embedded/postgres.ts';
import { createServices, type Services } from '../server/services.ts';
import { putTenant, type TenantSpec } from '../server/tenants/index.ts';
import { putEntityType, putRelationshipType } from '../server/types/index.ts';

export const writer: Writer = { owner: { source: 'files', namespace: '', name: 'bench', uid: 'b' }, actor: 'bench' };
/** As bin/accord.mjs starts the program. */
const FLAGS = ['--disable-warning=ExperimentalWarning', ...heapFlags];
const BASE_URL = 'http://accord.bench';

export type Installation = {
  adminUrl: string;
  /** For a server process; ACCORD_LISTEN and ACCORD_ADMIN_LISTEN are the caller's. */
  environment: Record<string, string>;
  /** The rooms in this process, for setting up. */
  services: Services;
  config: Config;
  tenant(code: string, more?: Partial<TenantSpec>): Promise<void>;
  close(): Promise<void>;
};

/** Keeps this process and what it starts on core 1; without taskset or a second core, nothing. */
export function pinToCore1(): void {
  try {
    execFileSync('taskset', ['-acp', '1', String(process.pid)], { stdio: 'ignore' });
  } catch {
    console.log('(not pinned: no taskset or no second core)');
  }
}

/**
 * Lets what a process starts from here on go before all ordinary processes. Postgres has the client's core, and would wait
 * for the client's time slice otherwise (4 ms), which it would not on a machine of its own. Without the right, nothing.
 */
function goFirst(pid: string): void {
  try {
    execFileSync('chrt', ['--fifo', '--pid', '1', pid], { stdio: 'ignore' });
  } catch {
    console.log('(Postgres is not ahead of the client on their core: no chrt, or not allowed)');
  }
}

/**
 * @param durable whether Postgres syncs, as it does in production
 * @param first whether Postgres goes before the client on their core
 */
export async function createInstallation(options: { durable: boolean; first?: boolean }): Promise<Installation> {
  const directory = await mkdtemp(join(tmpdir(), 'accord-bench-'));
  const postgres = await startPostgres(directory, options);
  if (options.first) {
    const [pid] = (await readFile(join(directory, 'data', 'postmaster.pid'), 'utf8')).split('\n');
    goFirst(pid as string);
  }
  const client = new pg.Client({ connectionString: postgres.adminUrl('postgres') });
  await client.connect();
  await client.query('create database accord');
  await client.end();
  await migrate(postgres.adminUrl('accord'), { runtimeRole: postgres.role });
  const environment = {
    ACCORD_DATABASE_URL: postgres.url('accord'),
    ACCORD_MASTER_KEY: randomBytes(32).toString('base64url'),
    ACCORD_BASE_URL: BASE_URL,
    ACCORD_LOG_LEVEL: 'info',
    ACCORD_RATE_LIMIT: '1000000',
  };
  const config = readConfig({ ...environment, ACCORD_LOG_LEVEL: 'error' });
  const services = await createServices(config, { applicationName: 'bench' });
  await services.snapshots.start();
  return {
    ...{ adminUrl: postgres.adminUrl('accord'), environment, services, config },
    async tenant(code, more = {}) {
      await putTenant(services.tenants, writer, code, { ...tenantSpec, ...more });
      await services.snapshots.refresh(code);
    },
    async close() {
      await services.snapshots.close();
      await services.close();
      const alive = setInterval(() => {}, 1000); // the embedded Postgres alone does not keep a process alive
      await postgres.stop();
      clearInterval(alive);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

type RelationshipTypeSpec = Parameters<typeof putRelationshipType>[4];

/** Makes types without attributes. @returns what makes the tenant's relationship types */
export async function putTypes(
  { services: { types } }: Installation,
  tenant: string,
  names: Record<'actor' | 'resource', readonly string[]>,
) {
  for (const kind of ['actor', 'resource'] as const)
    for (const name of names[kind]) await putEntityType(types, writer, tenant, { kind, name, spec: {} });
  return (from: string, name: string, to: string, spec: RelationshipTypeSpec = {}) =>
    putRelationshipType(types, writer, tenant, { from, name, to }, spec);
}

/** Of a relationship type: one that it is inherited through. */
export const through = (relationship: string, from: string): RelationshipTypeSpec => ({
  inheritedThrough: [{ relationship, from }],
});

/** Fills the table of relationships as the database's superuser, without the service. */
export async function fillRelationships({ adminUrl }: Installation, tenant: string) {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  return {
    admin,
    /** @param select SQL of (from_type, from_id, name, to_type, to_id), which may hold `from` and what follows it */
    insert: (select: string) =>
      admin.query(`insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id)
        select '${tenant}', ${select}`),
    analyze: () => admin.query('vacuum analyze accord.relationship'),
  };
}

/** The id of user n as identity providers make them: its text, and the SQL that makes it. */
export const userId = (n: number) => `auth0|${String(n).padStart(24, '0')}`;
export const userIdSql = (n: number | string) => `'auth0|' || lpad((${n})::text, 24, '0')`;

const tenantSpec: TenantSpec = {
  displayName: 'Bench',
  audiences: ['https://api.bench'],
  supportDesk: { enabled: false },
  tokenMapping: { actorIdClaimPath: 'sub', defaultActorType: 'user' },
  tokens: { signingAlgorithm: 'ES256', accessTokenTTL: 'PT1H' },
  decisionLog: { mode: 'off' },
  configAuthority: 'PerObject',
  deletionPolicy: 'Retain',
  managementPolicy: 'Enforce',
  adoptionPolicy: 'Refuse',
};

/** CPU time of the process, and of its main thread alone: V8's helpers collect garbage and compile beside it. */
export type Usage = { cpuUs: number; mainUs: number; rssMiB: number; programs: number };
/** What server-process.ts serves. */
export type Mode = 'accord' | 'accord-without-portal' | 'bare' | 'bare+policy' | 'bare-oidc' | 'bare-sql';
export type ServerProcess = {
  port: number;
  /** From the start of the process until it listened, ms. */
  startedMs: number;
  usage(): Promise<Usage>;
  profile(): Promise<void>;
  rest(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts bench/server-process.ts. @param core 0 to pin it there */
export async function startProcess(
  mode: Mode,
  environment: Record<string, string>,
  core?: number,
): Promise<ServerProcess> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const file = join(tmpdir(), `accord-bench-${port}.log`);
  const log = openSync(file, 'w');
  const args = [join(import.meta.dirname, 'server-process.ts'), mode];
  const pinned = core === undefined ? [] : ['taskset', '-c', String(core)];
  const [program, ...rest] = [...pinned, process.execPath, ...FLAGS, ...args];
  const started = performance.now();
  const child = spawn(program as string, rest, {
    env: {
      PATH: process.env.PATH,
      BENCH_PROFILE: process.env.BENCH_PROFILE,
      ...environment,
      ACCORD_LISTEN: `127.0.0.1:${port}`,
      ACCORD_ADMIN_LISTEN: `127.0.0.1:${adminPort}`,
    },
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  await answer(child).catch(async (error: Error) => {
    throw new Error(`${error.message}: ${await readFile(file, 'utf8')}`);
  });
  const startedMs = performance.now() - started;
  return {
    ...{ port, startedMs },
    usage: () => answer<Usage>(child, 'usage'),
    /** Where BENCH_PROFILE names a file, profiles from now to the end. */
    async profile() {
      if (process.env.BENCH_PROFILE) await answer(child, 'profile');
    },
    /** Waits until the process rests: compilers of Wasm and JavaScript work on behind the first answers. */
    async rest() {
      for (let i = 0, last = Number.NaN; i < 40; i++) {
        const { cpuUs } = await answer<Usage>(child, 'usage');
        if (cpuUs - last < 5000) return;
        last = cpuUs;
        await sleep(250);
      }
    },
    async stop() {
      await stopped(child);
      await rm(file, { force: true });
    },
  };
}

/** The next message of a process, after asking where `ask` is given. @throws Error when the process ends instead */
export function answer<T>(child: ChildProcess, ask?: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const died = (code: number | null) => reject(new Error(`the process ended (${code})`));
    child.once('exit', died);
    child.once('message', (message) => {
      child.off('exit', died);
      resolve(message as T);
    });
    if (ask !== undefined) child.send(ask);
  });
}

/** Tells a process to stop, and waits until it is gone. */
export async function stopped(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.send('stop');
  await gone;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
