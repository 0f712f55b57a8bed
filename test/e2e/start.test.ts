/**
 * `accord start` as a person uses it: the command itself in a process of its own, on a data directory and manifests of its
 * own, asked over HTTP. Tests follow one another on one installation.
 */
import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { cp, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../helpers/free-port.ts';
import { until } from '../helpers/wait.ts';
import { accord, Running, root } from './accord.ts';

const manifests = 26; // in examples/
let directory: string;
let ports: [number, number];
let running: Running | undefined;

const base = () => `http://127.0.0.1:${ports[0]}`;
const manifest = (name: string) => join(directory, 'manifests', name);

async function start(): Promise<Running> {
  const folders = ['--manifests', join(directory, 'manifests'), '--data', join(directory, 'data')];
  const listeners = ['--listen', `127.0.0.1:${ports[0]}`, '--admin-listen', `127.0.0.1:${ports[1]}`];
  running = new Running(['start', ...folders, ...listeners]);
  await running.says('Ctrl-C stops everything.');
  return running;
}

const tokens = new Map<string, Promise<string>>();

/** A token is good until it expires, whatever is started again meanwhile: each is asked for once. */
function token(...args: string[]): Promise<string> {
  const known = tokens.get(args.join(' '));
  if (known !== undefined) return known;
  const made = accord(['token', '--tenant', 'carshare', '--data', join(directory, 'data'), ...args]);
  const printed = made.then(({ stdout }) => stdout.trim());
  tokens.set(args.join(' '), printed);
  return printed;
}

/** The request that the start printed, with a token of our own. */
async function unlock(bearer: string) {
  const printed = JSON.parse(/-d '(.*)'/.exec(running?.output ?? '')?.[1] ?? '{}') as object;
  const response = await fetch(`${base()}/authz/carshare`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify(printed),
  });
  return { status: response.status, body: (await response.json()) as { outcome: string; reason?: string } };
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'accord-e2e-'));
  await cp(join(root, 'examples'), join(directory, 'manifests'), { recursive: true });
  ports = [await freePort(), await freePort()];
});
afterAll(async () => {
  await running?.stop();
  await rm(directory, { recursive: true, force: true });
});

describe('accord start', () => {
  let backend: string;

  test('makes everything, says where, and answers the request that it prints', async () => {
    await start();
    expect(running?.output).toContain(`Reconciled ${manifests} manifests`);
    expect(running?.output.match(/ Ready$/gm)).toHaveLength(manifests);
    expect(running?.output).toMatch(new RegExp(`^ +data +${join(directory, 'data')}$`, 'm'));
    expect(running?.output).not.toContain('eyJ'); // no token where it is not a terminal
    backend = await token('--client', 'me', '--scope', 'authz:evaluate');
    expect(await unlock(backend)).toEqual({ status: 200, body: { outcome: 'allow' } });
  });

  test('ends with how the first security admin logs in at the portal, which works once', async () => {
    const data = join(directory, 'data');
    const last = `as ann@carshare.example, security-admin of carshare:\n\n  npx accord log-in --data ${data}\n`;
    await running?.says(last);
    const others = 'First log-ins of others at the portal; each link works once:\n\n';
    await running?.says(`${others}  support-desk@localhost, support of carshare: see `);
    const output = running?.output ?? '';
    // Whoever started it is told first how to get in, and is not among the others.
    expect(output.indexOf(last)).toBeLessThan(output.indexOf(others));
    expect(output.slice(output.indexOf(others))).not.toContain('ann@');
    expect(output).not.toContain('log-in/link#');
    const { stdout } = await accord(['log-in', '--data', data]);
    const { origin, pathname, hash } = new URL(stdout.trim());
    const post = () =>
      fetch(`${base()}${pathname}`, {
        method: 'POST',
        headers: { 'sec-fetch-site': 'same-origin' },
        body: new URLSearchParams({ code: hash.slice(1) }),
      });
    const done = await post();
    expect([origin, done.status]).toEqual([base(), 200]);
    const cookie = `${done.headers.get('set-cookie')}`.split(';', 1)[0] as string;
    const session = await fetch(`${base()}/portal/session`, { headers: { cookie, 'x-accord-portal': '1' } });
    expect(await session.json()).toMatchObject({ email: 'ann@carshare.example', tenants: [{ code: 'carshare' }] });
    expect((await post()).status).toBe(410);
  });

  test('is looked at by accord doctor, which says where mail is kept', async () => {
    const data = join(directory, 'data');
    const { stdout } = (await accord(['doctor', '--data', data]).catch((error) => error)) as { stdout: string };
    expect(stdout).toContain(
      `configuration: the ACCORD_ variables are valid; the installation is the accord start of ${data}`,
    );
    expect(stdout).toMatch(new RegExp(`^ok +mail: no mail server is used: .*${join(data, 'outbox')}`, 'm'));
  });

  test('gives a token by the request that it prints, and its issuer describes itself', async () => {
    const command = /^curl -s \S+\/token [\s\S]*?\)"$/m.exec(running?.output ?? '')?.[0] as string;
    const { stdout } = await promisify(execFile)('bash', ['-c', command]);
    const { access_token: own } = JSON.parse(stdout) as { access_token: string };
    expect(await unlock(own)).toEqual({ status: 200, body: { outcome: 'allow' } });
    const issuer = `${base()}/carshare/oidc`;
    expect(running?.output).toContain(`${issuer}/.well-known/openid-configuration`);
    const metadata = await fetch(`${issuer}/.well-known/openid-configuration`);
    expect(await metadata.json()).toMatchObject({ issuer, token_endpoint: `${issuer}/token` });
  });

  test('has the relationships of examples/seed, and a deleted one does not come back', async () => {
    const admin = await token('--client', 'me', '--scope', 'pg:tenant:admin');
    const call = (method: string, path: string, body?: object) =>
      fetch(`${base()}${path}`, {
        method,
        headers: { authorization: `Bearer ${admin}`, ...(body ? { 'content-type': 'application/json' } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
    type Told = { outcome: string; explain: { facts: { inherited: object[] }; missingPaths?: object[] } };
    const ask = async (id: string, query = '') => {
      const body = { subject: { type: 'user', id }, action: 'car:use', resource: { type: 'car', id: 'car-7' } };
      return (await (await call('POST', `/authz/carshare${query}`, body)).json()) as Told;
    };
    const use = async (id: string) => (await ask(id)).outcome;
    expect([await use('bob'), await use('carol'), await use('mallory')]).toEqual(['allow', 'allow', 'deny']);
    // Explained, bob lives in the household that keeps the car; mallory would have to.
    const [household, car] = [
      { type: 'household', id: 'elm-street-3' },
      { type: 'car', id: 'car-7' },
    ];
    const path = (id: string, of: object) => {
      const from = { type: 'user', id };
      const keeps = { from: household, relationshipType: 'keeps', to: car };
      const through = [{ from, relationshipType: 'lives_in', to: household, ...of }, keeps];
      return [{ relationship: { from, relationshipType: 'may_use', to: car }, through }];
    };
    expect((await ask('bob', '?explain=true')).explain.facts.inherited).toEqual(path('bob', {}));
    const { missingPaths } = (await ask('mallory', '?explain=true')).explain;
    expect(missingPaths).toEqual(path('mallory', { missing: true }));
    const lives = '/carshare/actors/user/bob/relationships/lives_in/household/elm-street-3';
    expect((await call('DELETE', lives)).status).toBe(204);
    expect(await use('bob')).toBe('deny');
  });

  test('was asked the questions of examples/seed, once', async () => {
    const editor = await token('--role', 'config-editor');
    const asked = async () => {
      const headers = { authorization: `Bearer ${editor}` };
      const page = await fetch(`${base()}/tenants/carshare/decisions?limit=100`, { headers });
      const { decisions } = (await page.json()) as { decisions: { requestId: string; answer: { outcome: string } }[] };
      return decisions.filter(({ requestId }) => requestId === 'seed').map(({ answer }) => answer.outcome);
    };
    await expect.poll(async () => (await asked()).length).toBe(11);
    expect((await asked()).filter((outcome) => outcome === 'deny')).toHaveLength(4);
  });

  test('has the consents of examples/seed: required, given, valid and grace; a revoked one does not come back', async () => {
    const ask = async (user: string, path: string, method = 'GET', language = 'en') => {
      const authorization = `Bearer ${await token('--user', user)}`;
      const query = path === 'active' ? `?name=trip-data&language=${language}` : '';
      const response = await fetch(`${base()}/carshare/consents/${path}${query}`, {
        method,
        headers: { authorization },
      });
      return response.status === 204 ? undefined : ((await response.json()) as Record<string, unknown>);
    };
    const statuses = [];
    for (const user of ['alice', 'bob', 'carol', 'dave']) statuses.push((await ask(user, 'active'))?.status);
    expect(statuses).toEqual(['given', 'valid', 'grace', 'required']);
    expect(await ask('erik', 'active', 'GET', 'nl')).toMatchObject({ version: '2', status: 'grace' });
    const mine = (await ask('bob', 'me'))?.consents as { id: string }[];
    await ask('bob', `${mine[0]?.id}`, 'DELETE');
    expect((await ask('bob', 'active'))?.status).toBe('required');
  });

  test('serves the text of a document of examples/, as its digest says', async () => {
    const authorization = `Bearer ${await token('--user', 'dave')}`;
    const active = `${base()}/carshare/consents/active?name=trip-data&language=en-GB`;
    const answer = (await (await fetch(active, { headers: { authorization } })).json()) as {
      document: { language: string };
      content: { url: string; digest: string };
    };
    expect(answer.document.language).toBe('en');
    const served = await fetch(answer.content.url);
    expect(served.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const bytes = Buffer.from(await served.arrayBuffer());
    expect(`sha256:${hash('sha256', bytes, 'hex')}`).toBe(answer.content.digest);
    const plain = await (await fetch(answer.content.url, { headers: { accept: 'text/plain' } })).text();
    expect(plain).toContain('\n * We delete the records of a trip after 30 days.\n');
  });

  test('serves its own description, keys and state', async () => {
    const read = async (url: string) => (await fetch(url)).json() as Promise<Record<string, unknown>>;
    expect(await read(`${base()}/openapi.json`)).toMatchObject({ openapi: '3.1.0' });
    expect((await fetch(`${base()}/docs`)).status).toBe(200);
    expect((await read(`${base()}/carshare/oidc/jwks`)).keys).toHaveLength(2);
    const admin = `http://127.0.0.1:${ports[1]}`;
    expect(await read(`${admin}/ready`)).toEqual({ status: 'ready' });
    expect(await (await fetch(`${admin}/metrics`)).text()).toMatch(/accord_decisions_total\{outcome="allow"\} 12/);
    const served = JSON.stringify(await read(`${admin}/snapshot`));
    expect(served).toContain('car:unlock');
    expect(served).not.toMatch(/"d":|private/);
  });

  test('an edited manifest decides otherwise, and the status says what is served', async () => {
    const file = manifest('carshare/policies/car-unlock.yaml');
    const text = await readFile(file, 'utf8');
    const without = text.replace('    outcome := "allow" if owner\n', '    # outcome := "allow" if owner\n');
    await writeFile(`${file}.tmp`, without);
    await rename(`${file}.tmp`, file);
    await until('the answer deny', async () => (await unlock(backend)).body.outcome === 'deny');
    await writeFile(file, text);
    await until('the answer allow', async () => (await unlock(backend)).body.outcome === 'allow');
  });

  test('a broken manifest leaves the last good one serving and says where it is broken', async () => {
    const file = manifest('carshare/policies/car-unlock.yaml');
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace('outcome := "allow" if owner', 'outcome := "allow" if owner('));
    await running?.says(/car-unlock\s+CompileError/);
    const status = await readFile(join(directory, 'data/status/policy_carshare_car-unlock.yaml'), 'utf8');
    expect(status).toMatch(/car-unlock\.yaml:\d+/);
    expect((await unlock(backend)).body.outcome).toBe('allow');
    await writeFile(file, text);
    await running?.says(/car-unlock\s+Ready/);
  });

  test('GET /tenants/{tenant}/resources shows the same', async () => {
    const response = await fetch(`${base()}/tenants/carshare/resources`, {
      headers: { authorization: `Bearer ${await token('--role', 'config-viewer')}` },
    });
    const { resources } = (await response.json()) as {
      resources: { name: string; status: { conditions: { type: string; status: string }[] } }[];
    };
    expect(resources.map((resource) => resource.name).sort()).toEqual([
      'app',
      'backend',
      'booking-refund',
      'car',
      'car-drive',
      'car-invitation-revoke',
      'car-invite',
      'car-locate',
      'car-read',
      'car-share-end',
      'car-start',
      'car-trips',
      'car-unlock',
      'car-use',
      'carshare',
      'events',
      'household',
      'household-keeps-car',
      'newsletter',
      'relationship-invitation-en',
      'trip-data',
      'user',
      'user-lives-in-household',
      'user-may-use-car',
      'user-relationships-list',
      'web',
    ]);
    for (const { status } of resources) {
      expect(status.conditions.find((condition) => condition.type === 'Ready')?.status).toBe('True');
    }
  });

  test('a second start on the same data is refused while the first runs', async () => {
    await expect(accord(['start', '--data', join(directory, 'data')])).rejects.toThrow(
      /accord is running on .* already \(process \d+\)/,
    );
  });

  test('Ctrl-C ends all of it, and the next start finds everything as it was', async () => {
    const served = async () => {
      const bearer = await token('--role', 'config-viewer');
      const response = await fetch(`${base()}/tenants/carshare/policies/car:unlock`, {
        headers: { authorization: `Bearer ${bearer}` },
      });
      return (await response.json()) as { revision: number };
    };
    const before = await served();
    expect(await running?.stop()).toBe(0);
    await expect(fetch(base())).rejects.toThrow();
    await expect(stat(join(directory, 'data/pg/data/postmaster.pid'))).rejects.toThrow();
    await start();
    expect(await served()).toEqual(before);
  });

  test('a manifest deleted while it was down is gone after the next start', async () => {
    await running?.stop();
    await rename(manifest('carshare/policies/car-read.yaml'), manifest('car-read.away'));
    await start();
    expect(running?.output).toContain(`Reconciled ${manifests - 1} manifests`);
    const response = await fetch(`${base()}/authz/carshare`, {
      method: 'POST',
      headers: { authorization: `Bearer ${backend}`, 'content-type': 'application/json' },
      body: JSON.stringify({ subject: { id: 'a' }, action: 'car:read' }),
    });
    expect(await response.json()).toEqual({ outcome: 'deny', reason: 'policy_not_found' });
    await rename(manifest('car-read.away'), manifest('carshare/policies/car-read.yaml'));
    await running?.says(/car-read\s+Ready/);
  });

  test('after kill -9 it recovers by itself', async () => {
    const pid = Number((await readFile(join(directory, 'data/accord.pid'), 'utf8')).trim());
    const gone = running?.gone();
    process.kill(pid, 'SIGKILL');
    await gone;
    await start();
    expect(await unlock(backend)).toEqual({ status: 200, body: { outcome: 'allow' } });
  });
});
