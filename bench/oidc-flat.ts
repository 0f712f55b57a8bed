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

export async function flat({ services, config, adminUrl }: Installation, count: number): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  const { database } = services.keys;
  const encrypter = createEncrypter(config.ACCORD_MASTER_KEY as string);
  const records = new Records(
    { database, encrypter, clock: systemClock },
    { tenant: 'bench', errors, client: () => undefined, request: () => undefined },
  );
  const [codes, tokens, sessions] = ['AuthorizationCode', 'RefreshToken', 'Session'].map((model) =>
    records.adapter(model),
  ) as [Adapter, Adapter, Adapter];
  const sweep = sweeping({ database, clock: systemClock });
  const session = (n: number, round: number) =>
    sessions.upsert(
      `session-${n}`,
      { kind: 'Session', uid: `uid-${n}`, accountId: `a-${n}`, loginTs: 1, round } as never,
      86_400,
    );
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
    for (let n = 0; n < 250; n++) await session(n, round);
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
