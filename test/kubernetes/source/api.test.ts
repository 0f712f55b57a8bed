import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ApiError, KubernetesApi } from '../../../operator/kubernetes/api.ts';
import { limits } from '../../../server/core/limits.ts';
import { useCluster } from '../../helpers/cluster.ts';
import { startFaultProxy } from '../../helpers/fault-proxy.ts';
import { until } from '../../helpers/wait.ts';
import { closing, follow, open, put } from './harness.ts';

const cluster = await useCluster();
const version = { method: 'GET', path: '/version' } as const;
const folder = dirname(cluster.kubeconfig);

// biome-ignore lint/suspicious/noExplicitAny: a kubeconfig, whose shape the test knows
async function edited(edit: (config: any) => void): Promise<string> {
  const config = parse(await readFile(cluster.kubeconfig, 'utf8'));
  edit(config);
  const path = join(folder, `edited-${randomBytes(5).toString('hex')}.kubeconfig`);
  await writeFile(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

const failure = (promise: Promise<unknown>): Promise<ApiError> =>
  promise.then(
    () => expect.unreachable(),
    (error) => error,
  );

describe('a kubeconfig', () => {
  test('that is not there, is no YAML or names nothing is refused with a sentence and without its secrets', async () => {
    const load = (kubeconfig: string) => KubernetesApi.load({ kubeconfig });
    await expect(load('/no/such/file')).rejects.toThrow(/^The kubeconfig \/no\/such\/file cannot be used: ENOENT/);
    const broken = join(folder, 'broken.kubeconfig');
    await writeFile(broken, 'users:\n- name: x\n  user: {token: s3cret-token\n');
    const error = await failure(load(broken));
    expect(error.message).toContain(`The kubeconfig ${broken} cannot be used: `);
    expect(error.message).not.toContain('s3cret');
    const none = await edited((config) => delete config['current-context']);
    await expect(load(none)).rejects.toThrow('it has no current-context');
    const wrong = await edited((config) => {
      config['current-context'] = 'other';
    });
    await expect(load(wrong)).rejects.toThrow('it has no context other');
    const lost = await edited((config) => {
      config.clusters = [];
    });
    await expect(load(lost)).rejects.toThrow('it has no cluster');
    const nobody = await edited((config) => {
      config.users = [];
    });
    await expect(load(nobody)).rejects.toThrow('it has no user');
    const odd = await edited((config) => {
      config.clusters[0].cluster.server = 'nowhere';
    });
    await expect(load(odd)).rejects.toThrow(/the server of cluster .* is not a URL/);
  });

  test('says in which namespace we are', async () => {
    const kubeconfig = await edited((config) => {
      config.contexts[0].context.namespace = 'here';
    });
    expect((await open(kubeconfig)).namespace).toBe('here');
    expect((await open(cluster.kubeconfig)).namespace).toBe('default');
    expect((await open(cluster.kubeconfig)).server).toBe(cluster.url);
  });
});

describe('an answer that is none', () => {
  test('says which server, as whom and why', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as { port: number };
    await new Promise((resolve) => closed.close(resolve));
    const url = `https://127.0.0.1:${port}`;
    const away = await edited((config) => {
      config.clusters[0].cluster.server = url;
    });
    const refused = await failure((await open(away)).request(version));
    expect(refused).toMatchObject({ status: 0, reason: 'ECONNREFUSED' });
    expect(refused.message).toContain(`The API server ${url} (context `);
    expect(refused.message).toContain('refuses connections: GET /version');

    const foreign = await edited((config) => {
      const { cluster: one } = config.clusters[0];
      delete one['certificate-authority-data'];
      delete one['certificate-authority'];
    });
    const distrusted = await failure((await open(foreign)).request(version));
    expect(distrusted.message).toMatch(/cannot be trusted, or does not trust our certificate/);

    const stranger = await edited((config) => {
      config.users[0].user = { token: 'bm8gc3VjaCB0b2tlbg' };
    });
    const unknown = await failure((await open(stranger)).request(version));
    expect(unknown).toMatchObject({ status: 401 });
    expect(unknown.message).toMatch(/does not accept the credentials of user \S+ of context \S+ \(401\); a token/);
    expect(unknown.message).not.toContain('bm8gc3VjaCB0b2tlbg');

    const account = await open(await cluster.serviceAccountKubeconfig('nothing', []));
    const forbidden = await failure(account.request({ method: 'GET', path: '/api/v1/namespaces' }));
    expect(forbidden).toMatchObject({ status: 403, reason: 'Forbidden' });
    expect(forbidden.message).toMatch(
      /does not allow user \S+ of context \S+ to GET \/api\/v1\/namespaces \(403\): .*cannot list resource/,
    );
    const admin = await open(cluster.kubeconfig);
    const absent = await failure(admin.request({ method: 'GET', path: '/api/v1/namespaces/no-such' }));
    expect(absent).toMatchObject({ status: 404, reason: 'NotFound' });
    expect(await admin.request(version)).toMatchObject({ gitVersion: expect.stringMatching(/^v1\./) });
  });

  test('comes in time, whatever the server does, and a stream is opened in time too', async () => {
    const proxy = await startFaultProxy(cluster);
    closing(() => proxy.close());
    const api = await open(proxy.kubeconfig);
    proxy.decide = () => ({ kind: 'half-open', frames: 0 });
    expect(await failure(api.request({ ...version, timeoutMs: 100 }))).toMatchObject({
      status: 0,
      reason: 'TimeoutError',
    });
    const abort = new AbortController();
    const asked = failure(api.request({ ...version, signal: abort.signal }));
    abort.abort();
    expect(await asked).toMatchObject({ status: 0, reason: 'AbortError' });
    expect(await failure(api.stream({ path: '/version', signal: AbortSignal.timeout(100) }))).toBeInstanceOf(ApiError);
    proxy.decide = () => ({ kind: 'status', status: 429, retryAfter: 1 });
    const busy = await failure(api.request({ ...version, timeoutMs: 1500 }));
    expect(busy).toMatchObject({ status: 429, retryAfterMs: 1000 });
    expect(proxy.asked.filter(({ path }) => path === '/version').length).toBeGreaterThan(2);
  });
});

test('a 429 is asked again after what it says, kubernetesTriesMax times; a 503 only where asking twice does no harm', async () => {
  const proxy = await startFaultProxy(cluster);
  closing(() => proxy.close());
  const api = await open(proxy.kubeconfig);
  proxy.decide = () => ({ kind: 'status', status: 429, retryAfter: 0 });
  expect(await failure(api.request(version))).toMatchObject({ status: 429 });
  expect(proxy.asked).toHaveLength(limits.kubernetesTriesMax);
  proxy.decide = () => (proxy.asked.length % 2 === 1 ? { kind: 'status', status: 503, retryAfter: 1 } : undefined);
  expect(await api.request(version)).toMatchObject({ major: '1' });
  const path = '/api/v1/namespaces/default/configmaps';
  proxy.decide = () => ({ kind: 'status', status: 503, retryAfter: 0 });
  const before = proxy.asked.length;
  expect(await failure(api.request({ method: 'POST', path, body: {} }))).toMatchObject({ status: 503 });
  expect(proxy.asked).toHaveLength(before + 1);
});

test('an answer longer than kubernetesAnswerBytesMax is not read, and a list asks for smaller pages', async () => {
  const namespace = await cluster.namespace();
  const rego = `package p\n# ${'x'.repeat(60_000)}\ndefault outcome := "allow"\n`;
  // 20 pages of the limit would be 1 GiB; a body of a test's own size is put before the reader instead.
  await Promise.all(Array.from({ length: 4 }, (_, i) => put(cluster, namespace, `big-${i}`, { rego })));
  const proxy = await startFaultProxy(cluster);
  closing(() => proxy.close());
  const filler = Buffer.alloc(limits.kubernetesAnswerBytesMax, ' ');
  proxy.decide = ({ path, query, isWatch }) =>
    path.endsWith('/policies') && !isWatch && Number(query.get('limit')) > 100
      ? { kind: 'pad', bytes: filler }
      : undefined;
  const one = await follow(proxy.kubeconfig);
  await until('all policies', () => one.source.complete('Policy'));
  expect([...one.source.keys('Policy')].filter((key) => key.includes('/big-'))).toHaveLength(4);
  const limitsAsked = proxy.asked
    .filter(({ path, isWatch }) => path.endsWith('/policies') && !isWatch)
    .map(({ query }) => query.get('limit'));
  expect(limitsAsked.slice(0, 4)).toEqual(['500', '250', '125', '62']);
});

test('credentials that change are taken up: a token that was refused is read again at once', async () => {
  const good = await cluster.serviceAccountKubeconfig('rotated', []);
  const { user } = parse(await readFile(good, 'utf8')).users[0];
  const kubeconfig = await edited((config) => {
    config.users[0].user = { token: 'old' };
  });
  const api = await open(kubeconfig);
  expect(await failure(api.request(version))).toMatchObject({ status: 401 });
  const config = parse(await readFile(kubeconfig, 'utf8'));
  config.users[0].user = user;
  await writeFile(kubeconfig, JSON.stringify(config));
  // Several at once are refused and all of them succeed.
  await Promise.all([1, 2, 3].map(() => api.request(version)));
});

test('the connections stay until a certificate changes, and then a stream ends and a request does not', async () => {
  const proxy = await startFaultProxy(cluster);
  closing(() => proxy.close());
  const [kubeconfig, authority] = ['kubeconfig', 'crt'].map((name) =>
    join(folder, `${randomBytes(5).toString('hex')}.${name}`),
  ) as [string, string];
  const config = JSON.parse(await readFile(proxy.kubeconfig, 'utf8'));
  config.clusters[0].cluster['certificate-authority'] = authority;
  await writeFile(kubeconfig, JSON.stringify(config));
  await writeFile(authority, 'one');
  let now = 0;
  const api = await KubernetesApi.load({ kubeconfig, clock: { now: () => now, monotonic: () => now } });
  closing(() => api.close());
  const watch = await api.stream({ path: '/api/v1/namespaces', query: { watch: true } });
  const ended = (async () => {
    for await (const _ of watch);
  })();
  let isOver = false;
  const seen = failure(ended).finally(() => {
    isOver = true;
  });
  for (let i = 0; i < 3; i++) {
    await api.request(version);
    now += 6000;
  }
  expect(isOver).toBe(false);
  const { made } = proxy.connections;
  expect(made).toBeLessThanOrEqual(1 + limits.kubernetesRequestConnectionsMax);
  await writeFile(authority, 'two');
  proxy.decide = ({ path }) => (path === '/version' ? { kind: 'delay', ms: 100 } : undefined);
  now += 6000;
  await Promise.all([api.request(version), api.request(version)]);
  expect(await seen).toMatchObject({ status: 0 });
  await until('the old connections to be gone', () => proxy.connections.open === 2);
  expect(proxy.connections.made).toBe(made + 2);
});

test('of a refusal no more than kubernetesRefusalBytesMax is read', async () => {
  const proxy = await startFaultProxy(cluster);
  closing(() => proxy.close());
  const api = await open(proxy.kubeconfig);
  const request = { method: 'GET', path: '/api/v1/namespaces/no-such' } as const;
  const pad = (bytes: number) => () => ({ kind: 'pad', bytes: Buffer.alloc(bytes, ' ') }) as const;
  proxy.decide = pad(0);
  const { message } = await failure(api.request(request));
  expect(message).toContain('not found');
  const length = Buffer.byteLength(JSON.stringify((await cluster.request('GET', request.path)).body));
  proxy.decide = pad(limits.kubernetesRefusalBytesMax - length - 1);
  expect((await failure(api.request(request))).message).toBe(message);
  proxy.decide = pad(limits.kubernetesRefusalBytesMax);
  const cut = await failure(api.request(request));
  expect(cut).toMatchObject({ status: 404 });
  expect(cut.message).not.toContain('not found');
});

test('a plugin gives the credentials, and is asked again when they are refused', async () => {
  const { user } = parse(await readFile(await cluster.serviceAccountKubeconfig('plugin', []), 'utf8')).users[0];
  const state = join(folder, `plugin-${randomBytes(5).toString('hex')}`);
  const script = `n=$(cat ${state} 2>/dev/null || echo 0); echo $((n+1)) > ${state}
t=none; [ "$n" -gt 0 ] && t=${user.token}
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"'$t'"}}'`;
  const kubeconfig = await edited((config) => {
    config.users[0].user = {
      exec: { apiVersion: 'client.authentication.k8s.io/v1', command: '/bin/sh', args: ['-c', script] },
    };
  });
  const api = await open(kubeconfig);
  expect(await api.request(version)).toMatchObject({ major: '1' });
  expect(await api.request(version)).toMatchObject({ major: '1' });
  expect((await readFile(state, 'utf8')).trim()).toBe('2');
});
