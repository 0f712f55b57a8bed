/**
 * A session of `accord start` in processes of its own: when it is ready, what it says while it runs, how it ends by signals
 * to whom, and that a debug log holds none of the secrets that were used.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { closeAtEnd } from '../helpers/closing.ts';
import { postmasterPid, removeShared } from '../helpers/cluster-files.ts';
import { freePort } from '../helpers/free-port.ts';
import { until, untilPasses } from '../helpers/wait.ts';
import { issuerYaml, policyYaml, tenantYaml } from '../operator/manifests.ts';
import { accord, environment, hasEnded, root } from './accord.ts';
import { copyPrepared } from './prepared.ts';

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

type Session = Awaited<ReturnType<typeof begin>>;

const makeFolder = async () => await mkdtemp(join(tmpdir(), 'accord-session-'));
const removeFolder = (folder: string) => rm(folder, { recursive: true, force: true, maxRetries: 10 });

/**
 * @param command what starts it, with the arguments of `accord start` after it; in a process group of its own
 * @param folder where a session was before. Absent: a new one
 */
async function begin(
  command: readonly string[],
  manifests: Record<string, string>,
  variables: Record<string, string> = {},
  folder?: string,
) {
  const directory = folder ?? (await makeFolder());
  const data = join(directory, 'data');
  if (folder === undefined) {
    undo.push(() => removeFolder(directory));
    await copyPrepared('empty', data);
  }
  const write = async (name: string, text: string) => writeFile(join(directory, 'manifests', name), text);
  await mkdir(join(directory, 'manifests'), { recursive: true });
  for (const [name, text] of Object.entries(manifests)) await write(name, text);
  const ports = [await freePort(), await freePort()];
  const [listen, admin] = ports.map((port) => `127.0.0.1:${port}`) as [string, string];
  const places = ['--manifests', join(directory, 'manifests'), '--data', data];
  const args = [...places, '--listen', listen, '--admin-listen', admin];
  const [file, ...first] = command as [string, ...string[]];
  const child = spawn(file, [...first, ...args], {
    ...{ cwd: root, env: { ...environment(), ...variables }, detached: true },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = { text: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      printed.text += chunk;
    });
  }
  const ended = new Promise<number | string | null>((resolve) =>
    child.on('exit', (code, signal) => resolve(code ?? signal)),
  );
  undo.push(async () => {
    const pid = await pidOf(data);
    if (pid !== undefined && isAlive(pid)) process.kill(pid, 'SIGKILL');
    if (!hasEnded(child)) process.kill(-(child.pid as number), 'SIGKILL');
  });
  const says = (what: string | RegExp) => untilPasses(`${what}`, () => expect(printed.text).toMatch(what));
  return { directory, data, write, child, printed, ended, says, base: `http://${listen}`, admin: `http://${admin}` };
}

/** The process that has the data directory. */
async function pidOf(data: string): Promise<number | undefined> {
  const text = await readFile(join(data, 'accord.pid'), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : Number(text);
}

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

async function pidsOf({ child, data }: Session): Promise<number[]> {
  return [child.pid as number, (await pidOf(data)) as number, await postmasterPid(join(data, 'pg'))];
}

const accordStart = ['node', 'bin/accord.mjs', 'start'];
const one = { 'a.yaml': tenantYaml('aa') };
const ready = 'Ctrl-C stops everything.';

describe('signals', () => {
  // One installation, on which the second test starts without anything to reconcile.
  let folder: string;
  beforeAll(async () => {
    folder = await makeFolder();
    await copyPrepared('empty', join(folder, 'data'));
  });
  closeAtEnd(() => removeFolder(folder));
  const toOne = (signal: NodeJS.Signals) => (child: ChildProcess) => void child.kill(signal);
  // As a terminal does: to everybody in the group.
  const toAll = (signal: NodeJS.Signals) => (child: ChildProcess) => void process.kill(-(child.pid as number), signal);

  test.each([
    ['SIGINT to accord alone', accordStart, toOne('SIGINT')],
    ['Ctrl-C in a terminal', accordStart, toAll('SIGINT')],
    ['SIGINT to npm start alone', ['npm', 'start', '--'], toOne('SIGINT')],
    ['SIGTERM to npm start alone', ['npm', 'start', '--'], toOne('SIGTERM')],
  ])('%s ends everything in order', async (name, command, send) => {
    const session = await begin(command, one, {}, folder);
    await session.says(ready);
    const pids = await pidsOf(session);
    send(session.child);
    const code = await session.ended;
    await untilPasses('the end of all processes', () => expect(pids.filter(isAlive)).toEqual([]));
    // The claim on the data directory is given back last: nothing was cut off.
    expect((await readdir(session.data)).filter((file) => /^accord\./.test(file))).toEqual([]);
    if (command === accordStart) expect(code).toBe(0);
    else expect([0, 1, 130, 143, 'SIGINT', 'SIGTERM'], name).toContain(code);
  });

  test('a second signal, later, ends it at once with 128 and its number', async () => {
    const session = await begin(accordStart, one, { ACCORD_DRAIN: '300' }, folder);
    await session.says(ready);
    const pids = await pidsOf(session);
    session.child.kill('SIGTERM');
    await until(
      'a server that tells that it stops',
      async () => (await fetch(`${session.admin}/ready`)).status === 503,
    );
    // What comes within half a second is taken for the same signal (cli/stop.ts).
    await sleep(600);
    expect(isAlive(pids[1] as number)).toBe(true);
    session.child.kill('SIGINT');
    expect(await session.ended).toBe(130);
    await untilPasses('the end of all processes', () => expect(pids.filter(isAlive)).toEqual([]));
  });
});

test('Postgres that is killed is started again; one that is killed again and again ends it, with the reason', async () => {
  const session = await begin(accordStart, one, { ACCORD_DRAIN: '0' });
  await session.says(ready);
  const kill = async (last?: number) => {
    const pid = await until('another Postgres', async () => {
      const [, , postmaster] = await pidsOf(session);
      return postmaster === last ? undefined : postmaster;
    });
    process.kill(pid, 'SIGKILL');
    return pid;
  };
  let last = await kill();
  await session.says(/^accord: postgres ended \(SIGKILL\).*\naccord: Postgres is started again with its data$/m);
  // A manifest is written to Postgres, and read from it by the server.
  await session.write('b.yaml', tenantYaml('bb'));
  await until('a tenant that is served', async () => {
    return (await (await fetch(`${session.admin}/snapshot`)).text()).includes('"tenant":"bb"');
  });
  for (let kills = 2; kills <= 6; kills++) last = await kill(last);
  await session.says(
    /^accord: server and operator stop, because Postgres ended again and again: postgres ended \(SIGKILL\)/m,
  );
  expect(await session.ended).toBe(1);
  await removeShared(join(session.data, 'pg'));
});

test('is ready when what was found at the start is served, and not before', async () => {
  const policies = Array.from({ length: 20 }, (_, i) => policyYaml('aa', `p${i}`, { answer: `answer-${i}` }));
  const session = await begin(accordStart, { 'a.yaml': tenantYaml('aa'), 'p.yaml': policies.join('---\n') });
  const seen: number[] = [];
  await until('a session that is ready', async () => {
    const { status } = await fetch(`${session.admin}/ready`);
    if (seen.at(-1) !== status) seen.push(status);
    return status === 200;
  });
  const { tenants } = (await (await fetch(`${session.admin}/snapshot`)).json()) as {
    tenants: { tenant: string; policies: unknown[] }[];
  };
  // Beside that of the portal, which each server makes.
  const made = tenants.filter(({ tenant }) => tenant !== 'portal');
  expect([made.length, made[0]?.policies.length]).toEqual([1, 20]);
  expect(seen).toEqual([503, 200]);
});

test('says at once what is wrong with a new file, and what to do about a mass deletion that is held', async () => {
  const policies = Array.from({ length: 12 }, (_, i) => policyYaml('aa', `p${i}`));
  const session = await begin(accordStart, { 'a.yaml': tenantYaml('aa'), 'p.yaml': policies.join('---\n') });
  await session.says(ready);
  await session.write('broken.yaml', 'kind: [oops\n');
  await session.says(/^broken\.yaml:\d+:\d+: /m);
  await session.write('kind.yaml', 'apiVersion: accord.dev/v1alpha1\nkind: Plicy\nmetadata: {name: x}\n');
  await session.says(/^kind\.yaml:2:1: \/kind must be one of/m);
  await session.write('twice.yaml', policyYaml('aa', 'p0'));
  await session.says(/^twice\.yaml:1: Policy default\/p0 is already in p\.yaml:1, which comes first/m);
  for (const name of ['broken.yaml', 'kind.yaml', 'twice.yaml']) await rm(join(session.directory, 'manifests', name));
  await session.says(/^Every manifest can be read again\.$/m);
  await rm(join(session.directory, 'manifests/p.yaml'));
  await session.says(
    /^Tenant {2}aa {2}DeletionHeld {2}12 of 13 manifests .* annotate the Tenant with accord\.dev\/confirm-deletion: "12"/m,
  );
});

test('a debug log holds none of the secrets that a session uses', async () => {
  const canary = 'canary-5ecret';
  const manifests = {
    'a.yaml': tenantYaml('aa', `supportDesk: {email: desk@example.com}\n  securityAdmins: [admin@example.com]`),
    'i.yaml': issuerYaml('aa', 'idp', `jwksUri: "http://127.0.0.1:1/${canary}-path"`).replace(
      'https://idp',
      'http://127.0.0.1:1/idp',
    ),
    'p.yaml': policyYaml('aa', 'read', { source: 'package p\n\noutcome := input.subject.id\n' }),
  };
  const session = await begin(accordStart, manifests, { ACCORD_LOG_LEVEL: 'debug' });
  await session.says(ready);
  const token = async (...args: string[]) =>
    (await accord(['token', '--tenant', 'aa', '--data', session.data, ...args])).stdout.trim();
  const tokens = {
    client: await token('--client', 'me', '--scope', 'authz:evaluate', '--scope', 'pg:tenant:admin'),
    user: await token('--user', 'alice'),
    member: await token('--role', 'security-admin'),
  };
  const call = (path: string, bearer: string, body?: unknown, method = 'POST') =>
    fetch(`${session.base}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${bearer}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).then((response) => response.text());
  const question = { subject: { id: `${canary}-subject` }, action: 'read' };
  const traffic = async () => {
    for (const bearer of [...Object.values(tokens), `${canary}-token`, `${tokens.client}x`]) {
      await call('/authz/aa', bearer, question);
      await call('/tenants/aa/policies', bearer, undefined, 'GET');
    }
    await call('/portal/invitations/redeem', tokens.user, { token: `${canary}-invitation` });
    await call('/tenants/aa/policies/x', tokens.member, { rego: `package x\n\nsecret := "${canary}-rego" +` }, 'PUT');
    await call(`/authz/aa?token=${canary}-query`, tokens.client, question);
    // A foreign token makes it fetch keys, which fails.
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = { iss: 'http://127.0.0.1:1/idp.example.com/', aud: 'aa-api', sub: 'x', exp: Date.now() };
    await call('/authz/aa', `${part({ alg: 'RS256', kid: 'k' })}.${part(claims)}.${canary}`, question);
  };
  await traffic();
  const passwords = JSON.parse(await readFile(join(session.data, 'pg/passwords.json'), 'utf8')) as {
    admin: string;
    app: string;
  };
  // A lost database is where errors carry connections, statements and their parameters.
  const client = new pg.Client({
    ...{
      host: join(session.data, 'pg'),
      port: 5432,
      database: 'postgres',
      user: 'postgres',
      password: passwords.admin,
    },
  });
  await client.connect();
  for (let i = 0; i < 5; i++) {
    await Promise.all([
      client.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = $1',
        ['client backend'],
      ),
      traffic(),
      call('/tenants/aa/policies/y', tokens.member, { rego: 'package y\n\noutcome := "allow"' }, 'PUT'),
    ]);
  }
  await client.end();
  await session.says(/"database_lost"|terminating connection/);
  session.child.kill('SIGTERM');
  await session.ended;
  const links = await readdir(join(session.data, 'invitations'));
  const invited = await Promise.all(links.map((file) => readFile(join(session.data, 'invitations', file), 'utf8')));
  const urls = invited.flatMap((text) => (JSON.parse(text) as { url: string }[]).map(({ url }) => url));
  expect(urls.length).toBeGreaterThan(0);
  const secrets = [
    ...Object.values(tokens),
    // A JWT without its last part still says all that it says.
    ...Object.values(tokens).map((jwt) => jwt.split('.')[2] as string),
    ...urls,
    ...urls.map((url) => url.split(/[#=]/).at(-1) as string),
    (await readFile(join(session.data, 'master.key'), 'utf8')).trim(),
    ...Object.values(passwords),
    ...['token', 'invitation', 'rego', 'subject', 'query'].map((what) => `${canary}-${what}`),
  ];
  expect(session.printed.text.split('\n').length).toBeGreaterThan(20);
  expect(secrets.filter((secret) => secret.length < 8)).toEqual([]);
  expect(secrets.filter((secret) => session.printed.text.includes(secret))).toEqual([]);
});
