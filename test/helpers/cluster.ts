/**
 * A Kubernetes API for tests: a real etcd and kube-apiserver of their own (started once a run, cluster-global.ts), or the
 * cluster that KUBECONFIG names. Requests go by the admin's credentials over one pool of connections.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Agent, request } from 'undici';
import { afterAll, inject } from 'vitest';
import { parse } from 'yaml';
import { type ApiServerOptions, startApiServer } from '../kubernetes/apiserver.ts';
import { type Connection, kubeconfigText, readConnection } from '../kubernetes/kubeconfig.ts';
import { findProgram, searchPath } from '../kubernetes/programs.ts';
import { Supervised } from '../kubernetes/supervised.ts';
import { until } from './wait.ts';

const definitions = new URL('../../crds/', import.meta.url);
const group = '/apis/accord.dev/v1alpha1';

/** What the tests make on an existing cluster is deleted by it. */
export const ours = { 'made-by': 'accord-tests' };

/** @property body the parsed JSON, or text where it is none */
// biome-ignore lint/suspicious/noExplicitAny: an object of the API, whose shape the test knows
export type Reply = { status: number; body: any };
export type Verb = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
/** A rule of a ClusterRole. */
export type Rule = { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] };

export class Cluster {
  /** Path of the admin's. */
  readonly kubeconfig: string;
  /** Base URL of the API. */
  readonly url: string;
  readonly #connection: Connection;
  readonly #agent: Agent;

  private constructor(kubeconfig: string, connection: Connection) {
    this.kubeconfig = kubeconfig;
    this.url = connection.url;
    this.#connection = connection;
    const { authority, user } = connection;
    const own = 'token' in user ? {} : { cert: user.certificate, key: user.key };
    this.#agent = new Agent({ connect: authority === undefined ? own : { ca: authority, ...own }, connections: 8 });
  }

  static async connect(kubeconfig: string): Promise<Cluster> {
    const view = ['config', 'view', '--raw', '--minify', '--flatten', '-o', 'json'];
    return new Cluster(kubeconfig, readConnection(await kubectl(kubeconfig, view)));
  }

  /**
   * One request as the admin. It does not throw for a status.
   * @param path with the query: /apis/accord.dev/v1alpha1/tenants?dryRun=All
   * @param body sent as it is when a string, otherwise as JSON
   */
  async request(method: Verb, path: string, body?: unknown, contentType = 'application/json'): Promise<Reply> {
    const { user } = this.#connection;
    const authorization = 'token' in user ? { authorization: `Bearer ${user.token}` } : {};
    const reply = await request(`${this.url}${path}`, {
      method,
      dispatcher: this.#agent,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': contentType }),
        ...authorization,
      },
      body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await reply.body.text();
    const json = String(reply.headers['content-type']).startsWith('application/json');
    return { status: reply.statusCode, body: json ? JSON.parse(text) : text };
  }

  /** The same, for what must succeed. @returns the body. @throws with the API server's message */
  // biome-ignore lint/suspicious/noExplicitAny: an object of the API, whose shape the test knows
  async call(method: Verb, path: string, body?: unknown, contentType?: string): Promise<any> {
    const reply = await this.request(method, path, body, contentType);
    if (reply.status < 300) return reply.body;
    throw new Error(`${method} ${path} was answered ${reply.status}: ${reply.body.message ?? reply.body}`);
  }

  /** Runs kubectl as the admin. @returns what it printed. @throws with its errors when it fails */
  kubectl(args: readonly string[], input = ''): Promise<string> {
    return kubectl(this.kubeconfig, args, input);
  }

  /** A new namespace with a name of its own. */
  async namespace(labels: Record<string, string> = {}): Promise<string> {
    const name = `t-${randomBytes(5).toString('hex')}`;
    await this.call('POST', '/api/v1/namespaces', { metadata: { name, labels: { ...labels, ...ours } } });
    return name;
  }

  /** A ServiceAccount that may do what the rules say, in all namespaces. @returns the path of its kubeconfig */
  async serviceAccountKubeconfig(name: string, rules: readonly Rule[], expirationSeconds = 3600): Promise<string> {
    const metadata = { name: `${name}-${randomBytes(5).toString('hex')}`, labels: ours };
    const roles = '/apis/rbac.authorization.k8s.io/v1';
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await this.call('POST', accounts, { metadata });
    await this.call('POST', `${roles}/clusterroles`, { metadata, rules });
    await this.call('POST', `${roles}/clusterrolebindings`, {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', name: metadata.name, namespace: 'default' }],
    });
    const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds } };
    const { status } = await this.call('POST', `${accounts}/${metadata.name}/token`, asked);
    const path = join(dirname(this.kubeconfig), `${metadata.name}.kubeconfig`);
    const text = kubeconfigText(this.url, this.#connection.authority, { token: status.token });
    await writeFile(path, text, { mode: 0o600 });
    return path;
  }

  /** Applies the CustomResourceDefinitions and waits until the API server serves them; again is no work. */
  async installDefinitions(): Promise<void> {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    for (const file of (await readdir(definitions)).filter((name) => name.endsWith('.yaml'))) {
      const text = await readFile(new URL(file, definitions), 'utf8');
      const { metadata, spec } = parse(text) as {
        metadata: { name: string };
        spec: { group: string; names: { plural: string }; versions: { name: string }[] };
      };
      await this.call(
        'PATCH',
        `${path}/${metadata.name}?fieldManager=tests&force=true`,
        text,
        'application/apply-patch+yaml',
      );
      // Established comes before that: at first a list is answered 404, then 429.
      const objects = `/apis/${spec.group}/${spec.versions[0]?.name}/${spec.names.plural}?limit=1`;
      await until(
        `the API server to serve ${metadata.name}`,
        async () => (await this.request('GET', objects)).status === 200,
      );
    }
  }

  /**
   * Deletes all manifests, and waits for no operator. Each operator that starts looks at every manifest: what a file of
   * tests has left would cost all that come after it.
   */
  async removeManifests(): Promise<void> {
    const { resources } = await this.call('GET', group);
    const kinds = resources.filter(({ name }: { name: string }) => !name.includes('/'));
    for (const { name: plural, namespaced } of kinds) {
      type Item = { metadata: { name: string; namespace?: string; finalizers?: string[] } };
      const { items } = (await this.call('GET', `${group}/${plural}`)) as { items: Item[] };
      const collection = ({ metadata }: Item) =>
        namespaced ? `${group}/namespaces/${metadata.namespace}/${plural}` : `${group}/${plural}`;
      for (const path of new Set(items.map(collection))) await this.request('DELETE', path);
      const held = items.filter(({ metadata }) => metadata.finalizers !== undefined);
      const release = (item: Item) => {
        const none = { metadata: { finalizers: null } };
        return this.request('PATCH', `${collection(item)}/${item.metadata.name}`, none, 'application/merge-patch+json');
      };
      await Promise.all(held.map(release));
    }
  }

  async close(): Promise<void> {
    await this.#agent.close();
  }
}

/** kubectl keeps its caches beside the kubeconfig, not in the home of who runs the tests. */
async function kubectl(kubeconfig: string, args: readonly string[], input = ''): Promise<string> {
  const program = findProgram('kubectl') ?? 'kubectl';
  const own = { KUBECONFIG: kubeconfig, KUBECACHEDIR: join(dirname(kubeconfig), 'kubectl-cache'), PATH: searchPath() };
  const running = promisify(execFile)(program, args, { env: { ...process.env, ...own }, maxBuffer: 64 << 20 });
  running.child.stdin?.end(input);
  return (await running).stdout;
}

export type StartedCluster = { cluster: Cluster; stop(): Promise<void> };

/** Starts an API server of one's own. With `controllers` namespaces can be deleted and dependants are collected. */
export async function startCluster(options: ApiServerOptions = {}): Promise<StartedCluster> {
  const server = await startApiServer(options);
  const cluster = await Cluster.connect(server.kubeconfig);
  return {
    cluster,
    async stop() {
      await cluster.close();
      await server.processes.stop();
    },
  };
}

/** A cluster of somebody else's; `stop` leaves it as it was found. @throws when it has objects of Accord */
export async function existingCluster(kubeconfig: string): Promise<StartedCluster> {
  const nothing = new Supervised();
  const copy = join(nothing.folder, 'admin.kubeconfig');
  const text = await kubectl(kubeconfig, ['config', 'view', '--raw', '--minify', '--flatten']);
  await writeFile(copy, text, { mode: 0o600 });
  const cluster = await Cluster.connect(copy);
  const stop = async () => {
    await cluster.close();
    await nothing.stop();
  };
  const found = await cluster.kubectl(['get', 'crds', '-o', 'name']);
  if (/\.accord\.dev$/m.test(found)) {
    await stop();
    throw new Error(
      `${cluster.url} has custom resources of Accord, which the tests would change: take another cluster`,
    );
  }
  return {
    cluster,
    async stop() {
      const made = 'namespaces,serviceaccounts,clusterroles,clusterrolebindings';
      await cluster.kubectl(['delete', made, '-n', 'default', '-l', 'made-by=accord-tests', '--wait=false']);
      await cluster.kubectl(['delete', '-f', fileURLToPath(definitions), '--ignore-not-found', '--wait=false']);
      await stop();
    },
  };
}

/** The run's cluster, with the CustomResourceDefinitions installed. Call at the top of a file. */
export async function useCluster(): Promise<Cluster> {
  const kubeconfig = inject('kubeconfig');
  if (kubeconfig === undefined) return absent;
  const cluster = await Cluster.connect(kubeconfig);
  afterAll(async () => {
    await cluster.removeManifests();
    await cluster.close();
  });
  await cluster.installDefinitions();
  return cluster;
}

/** A new folder, which goes with the run however that ends. */
export async function scratchFolder(): Promise<string> {
  const folder = await mkdtemp(join(inject('scratch') as string, 'd-'));
  await chmod(folder, 0o711); // a Postgres in it runs as another user
  return folder;
}

/** What a file has at hand where all of its tests are skipped: whatever asks it outside of them is in the wrong place. */
const absent = new Proxy({ kubeconfig: '', url: '' } as Cluster, {
  get(target, field) {
    if (field === 'then') return undefined; // it is awaited
    if (field in target) return Reflect.get(target, field);
    throw new Error(
      `there is no Kubernetes API server, and cluster.${String(field)} stands outside of tests and hooks`,
    );
  },
});
