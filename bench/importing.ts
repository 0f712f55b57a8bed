/**
 * Measures importing relationships on a Postgres that syncs, with the numbering of their events in the same process: seconds, and
 * the CPU of this process and of Postgres for each line, against COPY of the same rows into a bare table with the two indexes that
 * reading from both ends needs. What else an import writes (other indexes, counters, events) is in the ratio. With
 * `--other DIRECTORY`, another checkout is measured in turns with this one, each round by a process and on a Postgres of its own.
 */
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { inTurns, type Load, postgresCpu, postmasterOf } from './checkouts.ts';

const { values } = parseArgs({
  options: {
    ...{ other: { type: 'string' }, measure: { type: 'string' } },
    ...{ rows: { type: 'string', default: '200000' }, rounds: { type: 'string', default: '5' } },
  },
});
const ROWS = Number(values.rows);
const SUBJECTS = Math.max(1, Math.floor(ROWS / 20));
const kinds = [
  'seconds',
  'CPU of Postgres, us a line',
  'CPU of the server, us a line',
  'bytes of WAL a line',
  'bare COPY, CPU of Postgres, us a line',
  'CPU of Postgres: import / bare COPY',
] as const;
type Measured = Record<(typeof kinds)[number], number>;

const userOf = (n: number) => `auth0|5f7c8ec7c33c6c00${String(n).padStart(8, '0')}`;
const carOf = (n: number) => `0195b3c2-8d5e-7c1a-9f00-${String(n).padStart(12, '0')}`;

async function* lines(): AsyncGenerator<Buffer> {
  for (let at = 0; at < ROWS; at += 1000) {
    const some = Array.from({ length: Math.min(1000, ROWS - at) }, (_, i) => {
      const [from, to] = [userOf((at + i) % SUBJECTS), carOf(((at + i) * 7919) % ROWS)];
      return `{"from":{"type":"user","id":"${from}"},"relationshipType":"drives","to":{"type":"car","id":"${to}"}}\n`;
    });
    yield Buffer.from(some.join(''));
  }
}

/** The installation of a checkout, whose modules are loaded. */
async function prepared(load: Load) {
  const { createInstallation, writer } = await load('bench/installation.ts');
  // A checkout from before entities had that name has putThingType.
  const { putRelationshipType, putThingType, putEntityType = putThingType } = await load('server/types/index.ts');
  const installation = await createInstallation({ durable: true });
  const { types } = installation.services;
  await installation.tenant('bench');
  await putEntityType(types, writer, 'bench', { kind: 'actor', name: 'user', spec: {} });
  await putEntityType(types, writer, 'bench', { kind: 'resource', name: 'car', spec: {} });
  await putRelationshipType(types, writer, 'bench', { from: 'user', name: 'drives', to: 'car' }, {});
  const admin = new pg.Client({ connectionString: installation.adminUrl });
  await admin.connect();
  return { installation, admin };
}

/** What work costs: `seconds` by the clock, and of CPU of both; `wal`: bytes. */
async function costOf(admin: pg.Client, work: () => Promise<unknown>) {
  const postmaster = await postmasterOf(admin);
  const wal = async () => Number((await admin.query(`select pg_current_wal_insert_lsn() - '0/0' as at`)).rows[0].at);
  await admin.query('checkpoint');
  const before = { wal: await wal(), postgres: postgresCpu(postmaster), server: process.cpuUsage() };
  const started = performance.now();
  await work();
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(before.server);
  const postgres = postgresCpu(postmaster) - before.postgres;
  return { seconds, server: (user + system) / 1e6, postgres, wal: (await wal()) - before.wal };
}

async function copyBare(admin: pg.Client) {
  const text = 'text collate "C" not null';
  const columns = ['tenant', 'from_type', 'from_id', 'name', 'to_type', 'to_id'];
  await admin.query(`create table bare (${columns.map((name) => `${name} ${text}`).join()}, expires_at timestamptz(3),
    created_at timestamptz not null default now(), primary key (${columns.join()}))`);
  await admin.query('create index on bare (tenant, to_type, to_id, name, from_type, from_id)');
  const file = join(tmpdir(), `accord-bench-${process.pid}.rows`);
  await admin.query(`copy (select ${columns.join()} from accord.relationship order by ctid) to '${file}'`);
  const cost = await costOf(admin, () => admin.query(`copy bare (${columns.join()}) from '${file}'`));
  await rm(file);
  return cost;
}

async function measure(load: Load): Promise<Measured> {
  const { importRelationships } = await load('server/relationships/index.ts');
  const { installation, admin } = await prepared(load);
  const { services } = installation;
  // The members beside `by` are those of checkouts before server/writes.
  const author = { tenant: 'bench', by: { actor: 'bench' }, actor: 'bench', requestId: 'r' };
  const ours = await costOf(admin, async () => {
    await importRelationships(services.relationships, author, { id: 'one', firstLine: 1 }, Readable.from(lines()));
    await services.events?.mover.move();
  });
  const bare = await copyBare(admin);
  await admin.end();
  await installation.close();
  const usALine = (seconds: number) => (seconds * 1e6) / ROWS;
  return {
    seconds: ours.seconds,
    'CPU of Postgres, us a line': usALine(ours.postgres),
    'CPU of the server, us a line': usALine(ours.server),
    'bytes of WAL a line': ours.wal / ROWS,
    'bare COPY, CPU of Postgres, us a line': usALine(bare.postgres),
    'CPU of Postgres: import / bare COPY': ours.postgres / bare.postgres,
  };
}

await inTurns(
  {
    ...{ file: import.meta.filename, args: ['--rows', values.rows], other: values.other, measure: values.measure },
    ...{ rounds: Number(values.rounds), kinds, bounded: ['CPU of Postgres, us a line'] },
  },
  measure,
);
