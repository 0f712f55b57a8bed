/**
 * Measures the ledger: appending durably with 64 callers at once, and at half of that rate, against one bare durable single-row insert by `pg` in turns
 * of the same run, sealing, verifying a million sealed entries, and exporting ten million from a server process of its own
 * while its resident memory is watched. Postgres syncs, as it does in production.
 *
 *     bench/ledger.ts [--entries 10000000] [--only append|verify|export]
 *
 * What is verified was sealed by the real encrypter; what is exported has numbers, and hashes that are no chain, by an
 * insert-select, because an export does not look at them. Its memory is all that is resident of the server process, which
 * has compiled no policy, as `accord serve` is until one is written.
 */
import { randomUUID } from 'node:crypto';
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { mintClientToken } from '../server/keys/index.ts';
import { type RegisterEntry, sealWaiting, verifyLedger } from '../server/ledger/index.ts';
import { createInstallation, type ServerProcess, startProcess } from './installation.ts';
import { median, noise, percentile, table, target } from './report.ts';

const { values } = parseArgs({
  options: { entries: { type: 'string', default: '10000000' }, only: { type: 'string' } },
});
const EXPORTED = Number(values.entries);
const VERIFIED = Math.min(1_000_000, EXPORTED);
const APPENDERS = 64;
const ROUNDS = 10;
const ROUND_MS = 1000;
const VERIFY_SECONDS_MAX = 10;
const RESIDENT_MIB_MAX = 200;
const APPEND_OVER_BARE_MS_MAX = 5;

const installation = await createInstallation({ durable: true });
const { services } = installation;
const admin = new pg.Client({ connectionString: installation.adminUrl });
await admin.connect();
for (const tenant of ['append', 'verify', 'export']) await installation.tenant(tenant);

const entry = (n: number): RegisterEntry => {
  const id = `auth0|5f7c8ec7c33c6c00${String(n % 1_000_000).padStart(8, '0')}`;
  return {
    ...{ type: 'read', time: services.clock.now(), actor: { type: 'user', id }, userId: id, name: 'terms-of-use' },
    ...{ version: '1', document: { version: '1.2', language: 'en' }, outcome: 'given' },
    ...{ requestId: randomUUID(), clientId: 'web' },
  };
};

/** So many callers for a round, each with one append after another. @returns ms of each */
async function appendRound(): Promise<number[]> {
  const times: number[] = [];
  const until = performance.now() + ROUND_MS;
  const one = async (n: number) => {
    for (let i = n; performance.now() < until; i += APPENDERS) {
      const started = performance.now();
      await services.ledger.ledger.append('append', [entry(i)]);
      times.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: APPENDERS }, (_, n) => one(n)));
  return times;
}

/** So many appends a second, each begun at its instant whether or not the others are committed. @returns ms of each */
async function pacedRound(perSecond: number): Promise<number[]> {
  const times: number[] = [];
  const [started, appends]: [number, Promise<void>[]] = [performance.now(), []];
  const one = async (due: number) => {
    await services.ledger.ledger.append('append', [entry(due)]);
    times.push(performance.now() - started - due);
  };
  for (let elapsed = 0; elapsed < ROUND_MS; elapsed = performance.now() - started) {
    while (appends.length < (elapsed * perSecond) / 1000) appends.push(one((appends.length * 1000) / perSecond));
    await sleep(1);
  }
  await Promise.all(appends);
  return times;
}

/** The same fields in one row of a table with the same key, by one connection without a transaction around it. */
async function bareRound(): Promise<number[]> {
  const times: number[] = [];
  const until = performance.now() + ROUND_MS;
  for (let i = 0; performance.now() < until; i++) {
    const { actor, userId, name, outcome, requestId } = entry(i);
    const started = performance.now();
    await admin.query({
      name: 'bare',
      text: `insert into accord_bare (tenant, time, type, actor_type, actor_id, user_id, name, outcome, request_id, digest, salt)
        values ($1, now(), $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      values: ['append', 'read', actor.type, actor.id, userId, name, outcome, requestId, bytes32, bytes16],
    });
    times.push(performance.now() - started);
  }
  return times;
}
const [bytes32, bytes16] = [Buffer.alloc(32), Buffer.alloc(16)];

async function measureAppending(): Promise<void> {
  await admin.query(`create table accord_bare (tenant text collate "C", time timestamptz(3), id uuid default uuidv7(), type text,
    actor_type text, actor_id text, user_id text, name text, outcome text, request_id text, digest bytea, salt bytea,
    primary key (tenant, time, id))`);
  await appendRound();
  await bareRound();
  const [ours, paced, bare, rates]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    const times = await appendRound();
    rates.push((times.length / ROUND_MS) * 1000);
    ours.push(...times);
    paced.push(...(await pacedRound(times.length / 2)));
    bare.push(...(await bareRound()));
  }
  const row = (name: string, times: number[], rate: number) => [
    ...[name, rate.toFixed(0), median(times).toFixed(2), percentile(times, 0.99).toFixed(2)],
  ];
  table(
    ['', 'entries/s', 'median ms', 'p99 ms'],
    [
      row(`append, ${APPENDERS} callers`, ours, median(rates)),
      row('append, at half of that', paced, median(rates) / 2),
      row('bare insert, one connection', bare, 1000 / median(bare)),
    ],
  );
  const over = percentile(paced, 0.99) - percentile(bare, 0.99);
  const bound = `<= ${APPEND_OVER_BARE_MS_MAX} ms over p99 of a bare insert`;
  target('append at half load, p99', bound, `${over.toFixed(2)} ms over`, over <= APPEND_OVER_BARE_MS_MAX);
  target('appended', '>= 2000 entries/s', `${median(rates).toFixed(0)} entries/s`, median(rates) >= 2000);
  console.log(noise(rates));
}

/** An entry as SQL, of the number `n`. */
const userOf = "'auth0|5f7c8ec7c33c6c00' || lpad((n % 1000000)::text, 8, '0')";
const salt = "substr(sha256(('s' || n)::bytea), 1, 16)";
const personal = `'["user","' || (${userOf}) || '","' || (${userOf}) || '"]'`;
const names = `tenant, time, type, name, version, document_version, document_language, outcome, request_id, client_id,
  personal_digest, salt, actor_type, actor_id, user_id`;
const fields = (
  tenant: string,
) => `'${tenant}', now() - interval '1 ms' * n, 'read', 'terms-of-use', '1', '1.2', 'en', 'given',
  md5(n::text), 'web', sha256(convert_to(encode(${salt}, 'hex') || ${personal}, 'UTF8')), ${salt}, 'user', ${userOf}, ${userOf}`;

type Timed = { seconds: number; cpuSeconds: number };

/** Its time, and the CPU time of this process without Postgres'. */
async function timed(work: () => Promise<unknown>): Promise<Timed> {
  const [started, before] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return { seconds: (performance.now() - started) / 1000, cpuSeconds: (user + system) / 1e6 };
}

async function measureVerifying(): Promise<void> {
  await admin.query(`insert into accord.ledger_inbox (${names})
    select ${fields('verify')} from generate_series(1, ${VERIFIED}) n`);
  await admin.query('vacuum analyze accord.ledger_inbox');
  const sealing = await timed(() => sealWaiting(services.ledger));
  await admin.query('vacuum analyze accord.ledger_entry');
  const verifying: Timed[] = [];
  for (let round = 0; round < 5; round++) {
    verifying.push(
      await timed(async () => {
        const { valid, entries } = await verifyLedger(services, 'verify');
        if (!valid || entries !== VERIFIED) throw new Error(`verified ${entries}, valid: ${valid}`);
      }),
    );
  }
  const rounds = verifying.map(({ seconds }) => seconds);
  const row = (name: string, seconds: number, cpuSeconds: number) => [
    ...[name, seconds.toFixed(2), (VERIFIED / seconds).toFixed(0), ((cpuSeconds / VERIFIED) * 1e6).toFixed(2)],
  ];
  table(
    [`${VERIFIED} entries`, 's', 'entries/s', 'our CPU us/entry'],
    [
      row('seal', sealing.seconds, sealing.cpuSeconds),
      row('verify', median(rounds), median(verifying.map(({ cpuSeconds }) => cpuSeconds))),
    ],
  );
  const max = (VERIFY_SECONDS_MAX * VERIFIED) / 1_000_000;
  target(`verify ${VERIFIED} entries`, `<= ${max} s`, `${median(rounds).toFixed(2)} s`, median(rounds) <= max);
  console.log(noise(rounds));
}

async function seedExport(): Promise<void> {
  const step = 500_000;
  for (let at = 0; at < EXPORTED; at += step) {
    await admin.query(`insert into accord.ledger_entry (id, ${names}, sequence, hash)
      select uuidv7(), ${fields('export')}, n, sha256(n::text::bytea)
      from generate_series(${at + 1}, ${Math.min(EXPORTED, at + step)}) n`);
  }
  await admin.query('vacuum analyze accord.ledger_entry');
}

/** Takes an export as fast as it comes. @returns lines */
async function download(port: number, token: string): Promise<number> {
  const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    const url = `http://127.0.0.1:${port}/export/consents/export?format=ndjson`;
    get(url, { headers: { authorization: `Bearer ${token}` } }, resolve).once('error', reject);
  });
  if (response.statusCode !== 200) throw new Error(`the export was answered ${response.statusCode}`);
  let lines = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++;
  }
  return lines;
}

/** @returns what gives the most resident memory, MiB, in the first and in the second half of the time until then */
function watchMemory(server: ServerProcess): { halves(): Promise<[number, number]> } {
  const seen: number[] = [];
  let done = false;
  const watching = (async () => {
    while (!done) {
      seen.push((await server.usage()).rssMiB);
      await sleep(100);
    }
  })();
  return {
    async halves() {
      done = true;
      await watching;
      const half = Math.ceil(seen.length / 2);
      return [Math.max(...seen.slice(0, half)), Math.max(...seen.slice(half - 1))];
    },
  };
}

async function measureExport(): Promise<void> {
  await seedExport();
  const { token } = await mintClientToken(services.keys, 'export', { clientId: 'bench', scopes: ['consents:read'] });
  const server = await startProcess('accord', installation.environment);
  try {
    await server.rest();
    const atRest = (await server.usage()).rssMiB;
    const watched = watchMemory(server);
    let lines = 0;
    const { seconds } = await timed(async () => {
      lines = await download(server.port, token);
    });
    const halves = await watched.halves();
    if (lines < EXPORTED) throw new Error(`${lines} of ${EXPORTED} entries came`); // there is one more, which says so
    const most = Math.max(...halves);
    table(
      [`export of ${lines} entries`, 's', 'entries/s', 'MiB at rest', 'first half', 'second half'],
      [
        [
          'ndjson',
          seconds.toFixed(1),
          (lines / seconds).toFixed(0),
          ...[atRest, ...halves].map((mib) => mib.toFixed(0)),
        ],
      ],
    );
    const ok = most <= RESIDENT_MIB_MAX;
    target('export, all that is resident', `<= ${RESIDENT_MIB_MAX} MiB`, `${most.toFixed(0)} MiB`, ok);
  } finally {
    await server.stop();
  }
}

try {
  const parts = { append: measureAppending, verify: measureVerifying, export: measureExport };
  for (const [name, measure] of Object.entries(parts)) {
    if (values.only === undefined || values.only === name) await measure();
  }
} finally {
  await admin.end();
  await installation.close();
}
