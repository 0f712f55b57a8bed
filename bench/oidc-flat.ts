/** Whether the tables stay as small as what lives, after so many tokens that expire: codes, refresh tokens, and those that follow them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Adapter, errors } from 'oidc-provider';
import pg from 'pg';
import { systemClock } from '../server/core/clock.ts';
import { createEncrypter } from '../server/core/encrypter.ts';
import { Records } from '../server/oidc/records.ts';
import { sweeping } from '../server/oidc/sweeping.ts';
import type { Installation } from './installation.ts';
import { table, target } from './report.ts';

/** A code, a refresh token and its successor. */
const TOKENS_EACH = 3;
const SESSIONS = 250;

export async function flat({ services, config, adminUrl }: Installation, count: number): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  const { database } = services.keys;
  const encrypter = createEncrypter(config.ACCORD_MASTER_KEY as string);
  const { rows: accounts } = await admin.query<{ id: string }>(
    `insert into accord.account (tenant, id, email, email_verified, created_at, updated_at)
      select 'bench', gen_random_uuid(), 'flat-' || n || '@example.org', true, now(), now() from generate_series(1, $1::int) n
      returning id`,
    [SESSIONS],
  );
  let loggedIn: { id: string; epoch: number } | undefined;
  const records = new Records(
    { database, encrypter, clock: systemClock },
    { tenant: 'bench', errors, client: () => undefined, request: () => undefined, loggedIn: () => loggedIn },
  );
  const [codes, tokens, sessions] = ['AuthorizationCode', 'RefreshToken', 'Session'].map((model) =>
    records.adapter(model),
  ) as [Adapter, Adapter, Adapter];
  const sweep = sweeping({ database, clock: systemClock });
  const session = (id: string, round: number) => {
    loggedIn = { id, epoch: 1 };
    const payload = { kind: 'Session', uid: id, accountId: id, loginTs: 1, round };
    return sessions.upsert(`session-${id}`, payload as never, 86_400);
  };
  const payload = { accountId: 'a', clientId: 'web', scope: 'openid', x: 'x'.repeat(300) };
  const one = async (n: number) => {
    const of = { ...payload, grantId: `g${n}` } as never;
    await codes.upsert(`code-${n}`, of, 1);
    await codes.consume(`code-${n}`);
    await tokens.upsert(`token-${n}`, of, 1);
    await tokens.consume(`token-${n}`);
    await tokens.upsert(`token-${n}-next`, of, 1);
  };
  const after: Size[] = [];
  const rounds = 10;
  let next = 0;
  for (let round = 1; round <= rounds; round++) {
    const issue = async () => {
      while (next < (count * round) / rounds) {
        next += TOKENS_EACH;
        await one(next);
      }
    };
    await Promise.all(Array.from({ length: 8 }, issue));
    for (const { id } of accounts) await session(id, round);
    await sleep(1500);
    await sweep.run(new AbortController().signal);
    await admin.query('vacuum accord.oidc_record'); // as autovacuum does, which looks once a minute
    after.push(await sizeOf(admin));
  }
  console.log(`\nafter each of ${rounds} rounds of ${count / rounds} tokens:`);
  table(
    ['', ...after.map((_, i) => String(i + 1))],
    [
      ['rows of the table of records', ...after.map(({ rows }) => rows)],
      ['its size with its indexes, MiB', ...after.map(({ table: mib }) => mib.toFixed(1))],
      ['all tables of the service, MiB', ...after.map(({ all }) => all.toFixed(1))],
    ],
  );
  const grown = (after.at(-1) as Size).all / (after[2] as Size).all;
  target(
    `all tables after ${count} tokens`,
    '≤ 1.25 times that after the third round',
    grown.toFixed(2),
    grown <= 1.25,
  );
  await admin.end();
}

type Size = { rows: number; table: number; all: number };

async function sizeOf(admin: pg.Client): Promise<Size> {
  const { rows } = await admin.query(
    `select (select count(*)::int from accord.oidc_record) as rows, pg_total_relation_size('accord.oidc_record') / 1048576.0 as table,
      (select sum(pg_total_relation_size(oid)) from pg_class
        where relnamespace = 'accord'::regnamespace and relkind = 'r') / 1048576.0 as all`,
  );
  const [{ rows: count, table, all }] = rows;
  return { rows: count, table: Number(table), all: Number(all) };
}
