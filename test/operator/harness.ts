/** A directory of manifests, a database, the real rooms, and operators and servers on them, for the operator's tests. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach } from 'vitest';
import {
  FileSource,
  LockLeadership,
  type Operator,
  type OperatorOptions,
  type OperatorServices,
  type Source,
  type StatusChange,
  startOperator,
} from '../../operator/index.ts';
import { type Clock, systemClock } from '../../server/core/clock.ts';
import { createEncrypter } from '../../server/core/encrypter.ts';
import { Artifacts, Engine } from '../../server/policies/index.ts';
import { createCompiler } from '../../server/rego/index.ts';
import { allEventTypes } from '../../server/room/catalogue.ts';
import { snapshotPartsOf, tenantRowsOf } from '../../server/room/room.ts';
import { rooms as allRooms } from '../../server/rooms.ts';
import { Snapshots } from '../../server/snapshot/index.ts';
import { loadEntityTypes } from '../../server/types/store.ts';
import { tenantWriter } from '../../server/writes/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database.ts';
import { until as untilAnswered } from '../helpers/wait.ts';
import { roomsOf, type TestServices } from './rooms.ts';

/** Call at the top of a file. @param dates what the dates of consent documents are compared with */
export async function createWorld(dates: Clock = systemClock) {
  const test = await createTestDatabase();
  const { database, observations } = test;
  const observe = (observation: (typeof observations)[number]) => void observations.push(observation);
  const compiler = createCompiler({ workers: 1, observe });
  const artifacts = new Artifacts({ database, compiler, observe });
  const engine = new Engine({
    fetch: (tenant, digest) => artifacts.fetch(tenant, digest),
    clock: systemClock,
    observe,
  });
  const encrypter = createEncrypter(randomBytes(32).toString('base64url'));
  const writing = { database, clock: systemClock, pseudonymizer: encrypter };
  const services: TestServices = {
    tenants: {
      ...{ database, clock: systemClock, encrypter, write: tenantWriter(writing) },
      rows: tenantRowsOf(allRooms),
    },
    policies: { ...writing, artifacts, engine },
    issuers: { ...writing, encrypter, baseUrl: 'http://127.0.0.1:8080' },
    clients: { ...writing, encrypter },
    subscriptions: {
      ...writing,
      encrypter,
      baseUrl: 'http://127.0.0.1:8080',
      types: allEventTypes(allRooms),
      allow: [],
      entityTypes: () => ({
        names: async (tx, tenant) => (await loadEntityTypes(tx, tenant)).map(({ name }) => name),
      }),
    },
    members: { ...writing, baseUrl: 'http://127.0.0.1:8080' },
    mail: writing,
    types: writing,
    definitions: { database, clock: dates },
  };
  const rooms = roomsOf(services, operatorServices(services));
  const closers: (() => Promise<void>)[] = [];
  /** Those that are at work. */
  const operators = new Set<Operator>();
  afterEach(async ({ task }) => {
    // biome-ignore lint/suspicious/noConsole: what a test that hangs waits for
    if (task.result?.state === 'fail') for (const one of operators) console.log('waiting:', one.waiting());
    operators.clear();
    for (const close of closers.splice(0).reverse()) await close();
  });
  closeAtEnd(async () => {
    await engine.close();
    await compiler.close();
  });

  async function directory(): Promise<string> {
    const path = await mkdtemp(join(tmpdir(), 'accord-manifests-'));
    closers.push(() => rm(path, { recursive: true, force: true }));
    return path;
  }

  function operate(manifests: string, options: Partial<OperatorOptions> = {}) {
    const source = new FileSource({
      directory: manifests,
      statusDirectory: `${manifests}/.status`,
      clock: systemClock,
      observe,
      debounceMs: 10,
      rescanMs: 1000,
      vanishMs: 60,
    });
    return operateOn(source, options);
  }

  function operateOn<Of extends Source>(source: Of, options: Partial<OperatorOptions> = {}) {
    const changes: StatusChange[] = [];
    const operator = startOperator({
      ...{ source, database, clock: systemClock, observe, maxStalenessMs: 5000 },
      services: operatorServices(services),
      lead: new LockLeadership({ database, source: source.name, observe, retryMs: 20 }).lead,
      onStatus: (change) => changes.push(change),
      ...options,
    });
    operators.add(operator);
    const close = () => {
      operators.delete(operator);
      return operator.close();
    };
    const running = { operator, source, changes, close: once(close) };
    closers.push(running.close);
    return running;
  }

  async function serve(): Promise<Snapshots> {
    const options = { database, baseUrl: 'http://127.0.0.1:8080', server: randomUUID(), maxStalenessMs: 5000 };
    const snapshots = new Snapshots({ ...options, parts: snapshotPartsOf(allRooms), clock: systemClock, observe });
    await snapshots.start();
    closers.push(() => snapshots.close());
    return snapshots;
  }

  /** Ends every connection to the database, as a restart of Postgres does. */
  const cutConnections = () =>
    admin(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );

  const admin = (text: string) => asAdmin(test.adminUrl, text);

  /** As if nothing had ever been there. */
  const empty = () => admin('truncate accord.tenant, accord.resource cascade');

  return { ...test, services, rooms, encrypter, directory, operate, operateOn, serve, cutConnections, empty };
}

/** What an operator is given of rooms that were created by hand, by their names. */
export function operatorServices(services: TestServices): OperatorServices {
  const use: OperatorServices['use'] = (room) => services[room.name as keyof TestServices] as never;
  return { rooms: allRooms.filter(({ name }) => name in services), use };
}

function once(call: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => (done ??= call());
}

/** Writes as careful editors do: beside the file, then over it. */
export async function save(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}~`, text);
  await rename(`${path}~`, path);
}

/** Asks until it is so. An error says what was asked, which is the question itself. */
export const until = <T>(ask: () => T | Promise<T>): Promise<NonNullable<T>> => untilAnswered(String(ask), ask);

export function conditionOf(operatorRun: { changes: StatusChange[] }, key: string, type = 'Ready') {
  const change = operatorRun.changes.findLast((one) => one.target.key === key);
  return change?.status?.conditions?.find((condition) => condition.type === type);
}

export type { Operator, TestDatabase };
