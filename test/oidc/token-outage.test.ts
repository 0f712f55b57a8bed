/**
 * Postgres is stopped while tokens are requested, a cluster of its own: every answer is a token with the whole claim, a token
 * without it, or an OAuth error.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import * as oc from 'openid-client';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { Database } from '../../server/core/db/database.ts';
import { migrate } from '../../server/core/db/migrate.ts';
import { limits } from '../../server/core/limits.ts';
import { type EmbeddedPostgres, startPostgres } from '../../server/embedded/postgres.ts';
import { asAdmin } from '../helpers/admin.ts';
import { postmasterPid } from '../helpers/cluster-files.ts';
import { drawn } from '../helpers/long.ts';
import { until, untilPasses } from '../helpers/wait.ts';
import { createAccount, logIn, webSpec } from './logging-in.ts';
import { audience, basic, createOidcServer } from './relying-party.ts';

const CLIENTS = 8;
const directory = await mkdtemp(join(tmpdir(), 'accord-tokens-'));
let postgres: EmbeddedPostgres = await startPostgres(directory);
afterAll(async () => {
  await postgres.stop();
  await rm(directory, { recursive: true, force: true });
});
await asAdmin(postgres.adminUrl('postgres'), 'create database accord');
await migrate(postgres.adminUrl('accord'), { runtimeRole: postgres.role });
const url = postgres.url('accord');
const database = new Database({ url, poolMax: 1, applicationName: 'test', observe: () => {} });
const on = { database, url, adminUrl: postgres.adminUrl('accord'), observations: [] };
const server = await createOidcServer({}, { on });
afterAll(() => database.close());

const claim = 'https://claims.test/relationships';
const tenant = await server.tenant({ claims: { namespace: 'claims.test', relationships: true, consents: false } });
const scopes = ['openid', 'offline_access', 'relationships'] as const;
const secret = (await server.register(tenant, 'web', { ...webSpec, scopes: [...scopes] })) as string;
const config = await server.discover(tenant, 'web', oc.ClientSecretBasic(secret));
const emails = Array.from({ length: CLIENTS }, (_, n) => `user-${n}@example.org`);
const admin = async (sql: string) => {
  const client = new pg.Client({ connectionString: postgres.adminUrl('accord') });
  await client.connect();
  return client.query(sql).finally(() => client.end());
};
for (const email of emails) {
  const id = await createAccount(server, tenant, email);
  await admin(`insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id)
    select '${tenant}', 'user', '${id}', 'drives', 'car', 'c' || n from generate_series(1, ${limits.claimRelationshipsMax}) n`);
}
const parameters = { scope: 'openid relationships', audience };
const refreshTokens = async () => {
  const logged = await Promise.all(emails.map((email) => logIn(server, config, { email, parameters })));
  const got = await Promise.all(logged.map(({ grant }) => grant()));
  return got.map(({ refresh_token: token }) => token as string);
};

type Answer = { kind: 'whole' | 'bare' | 'part' | 'error' | 'other'; text: string };

/** As many clients as there are people, each of which refreshes its token again and again. */
function load(tokens: readonly string[]) {
  const answers: Answer[] = [];
  let isOver = false;
  const client = async (first: string) => {
    for (let token = first; !isOver; ) {
      const form = { grant_type: 'refresh_token', refresh_token: token };
      const { status, body, text } = await server.post(tenant, '/oidc/token', form, basic('web', secret));
      const { kind, next } = judge(status, body);
      answers.push({ kind, text });
      if (next !== undefined) token = next;
      else if (body.error === 'invalid_grant')
        return; // its answer was lost: the token is used
      else await sleep(20); // as clients do: without it they would leave Postgres no CPU to start with
    }
  };
  const clients = Promise.all(tokens.map(client));
  return {
    answers,
    of: (kind: Answer['kind'], since = 0) => answers.slice(since).filter((one) => one.kind === kind),
    async stop() {
      isOver = true;
      await clients;
    },
  };
}

function judge(status: number, body: Record<string, unknown>): { kind: Answer['kind']; next?: string } {
  if (status !== 200) {
    const isError = typeof body.error === 'string' && body.access_token === undefined;
    return { kind: isError ? 'error' : 'other' };
  }
  const found = decodeJwt(body.access_token as string)[claim] as unknown[] | undefined;
  const next = body.refresh_token as string;
  if (found === undefined) return { kind: 'bare', next };
  return { kind: found.length === limits.claimRelationshipsMax ? 'whole' : 'part', next };
}

const backends = async (like: string) => {
  const { rows } = await admin(
    `select pid from pg_stat_activity where application_name like '${like}' and pid <> pg_backend_pid()`,
  );
  return rows.map(({ pid }) => pid as number);
};
/** Stops processes until the work is done. One may have ended meanwhile. */
async function whileStopped(pids: readonly number[], work: () => Promise<unknown>): Promise<void> {
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    for (const pid of pids)
      try {
        process.kill(pid, name);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
  };
  try {
    signal('SIGSTOP');
    await work();
  } finally {
    signal('SIGCONT');
  }
}

test('the processes that read claims stand still: tokens come without claims, in time, and none fails', async () => {
  const running = load(await refreshTokens());
  await until('whole tokens', () => running.of('whole').length > CLIENTS);
  const stopped = await backends('%-claims');
  expect(stopped.length).toBeGreaterThan(0);
  const since = running.answers.length;
  await whileStopped(stopped, () =>
    until('tokens without claims', () => running.of('bare', since).length > 2 * CLIENTS),
  );
  const after = running.answers.length;
  await until('whole tokens again', () => running.of('whole', after).length > CLIENTS);
  await running.stop();
  expect(running.answers.filter(({ kind }) => kind !== 'whole' && kind !== 'bare')).toEqual([]);
});

test('all of Postgres stands still for a while: whole, bare or an error, never a part', async () => {
  const running = load(await refreshTokens());
  const postmaster = await postmasterPid(directory);
  const stillMs = 2 * limits.claimsMsMax;
  for (let round = 0; round < drawn(2, 5); round++) {
    const since = running.answers.length;
    await until('whole tokens', () => running.of('whole', since).length > CLIENTS);
    const all = [postmaster, ...(await backends('%'))];
    await whileStopped(all, () => sleep(stillMs)); // nothing ends an outage but time
  }
  await running.stop();
  expect(running.answers.filter(({ kind }) => kind === 'part' || kind === 'other')).toEqual([]);
});

test('Postgres is stopped and started: whole, bare or an error, never a part; then all is as before', async () => {
  const running = load(await refreshTokens());
  await until('whole tokens', () => running.of('whole').length > CLIENTS);
  await postgres.stop();
  const since = running.answers.length;
  await until('an error', () => running.of('error', since).length > 0);
  postgres = await startPostgres(directory);
  await running.stop();
  expect(running.answers.filter(({ kind }) => kind === 'part' || kind === 'other')).toEqual([]);
  await untilPasses('whole tokens only', async () => {
    const again = load(await refreshTokens());
    await until('answers', () => again.answers.length >= CLIENTS);
    await again.stop();
    expect(again.of('whole').length).toBe(again.answers.length);
  });
});
