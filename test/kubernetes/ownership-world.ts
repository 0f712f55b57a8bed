/** What the model of ownership.test.ts is compared with: resources on an API server, an operator, a server and its rows. */
import { LockLeadership, type Operator, startOperator } from '../../operator/index.ts';
import { KubernetesSource } from '../../operator/kubernetes/source.ts';
import { systemClock } from '../../server/core/clock.ts';
import type { Owner } from '../../server/core/ownership.ts';
import type { FoundResource } from '../../server/room/resource-kind.ts';
import type { Cluster, Reply } from '../helpers/cluster.ts';
import type { TestServer } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';
import { before, type Kind, registered, written } from './ownership-kinds.ts';
import {
  type Allowed,
  type Authority,
  type IfMatch,
  type Manifest,
  type Name,
  nameOf,
  placeOf,
  type Reason,
  type Row,
  type Slot,
  type State,
  slots,
  type Wish,
} from './ownership-model.ts';
import { merge, open } from './source/harness.ts';

const base = '/apis/accord.dev/v1alpha1';
const tenantsPath = `${base}/tenants`;

/** A difference that goes by itself. */
export const atWork = 'the operator is at work';

export class World {
  readonly #cluster: Cluster;
  readonly #server: TestServer;
  readonly #kubeconfig: string;
  /** The tenant's code is the name of its own namespace. */
  readonly #namespaces: { own: string; other: string };
  #token = '';
  #running: { operator: Operator; close: () => Promise<void> } | undefined;

  private constructor(
    cluster: Cluster,
    server: TestServer,
    kubeconfig: string,
    namespaces: { own: string; other: string },
  ) {
    this.#cluster = cluster;
    this.#server = server;
    this.#kubeconfig = kubeconfig;
    this.#namespaces = namespaces;
  }

  /** Whether an object (kind/namespace/name, or kind/name of a Tenant) is of this world. */
  has(resource: string): boolean {
    const { own, other } = this.#namespaces;
    return resource.split('/').some((step) => step === own || step === other);
  }

  /** A tenant in a namespace of its own, with an operator at work. @param kubeconfig the operator's */
  static async make(cluster: Cluster, server: TestServer, kubeconfig: string): Promise<World> {
    const made = [await cluster.namespace({ kind: 'x' }), await cluster.namespace({ kind: 'x' })].sort();
    const [own, other] = made as [string, string];
    const label = { metadata: { labels: { role: 'other' } } };
    await cluster.call('PATCH', `/api/v1/namespaces/${other}`, label, merge);
    const world = new World(cluster, server, kubeconfig, { own, other });
    await cluster.call('POST', tenantsPath, {
      apiVersion: 'accord.dev/v1alpha1',
      kind: 'Tenant',
      metadata: { name: own },
      spec: { displayName: own, audiences: ['https://api.test'] },
    });
    await world.start();
    await until('the Tenant to be Ready', async () => (await world.#tenant()).status?.conditions?.some(isReady));
    world.#token = await server.member(own, 'security-admin');
    for (const [path, payload] of before) {
      const headers = { authorization: `Bearer ${world.#token}` };
      const made = await server.app.inject({ method: 'PUT', url: `/tenants/${own}${path}`, headers, payload });
      if (made.statusCode !== 200) throw new Error(made.body);
    }
    return world;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  async start(): Promise<void> {
    const { services } = this.#server;
    const { database, observe } = services;
    const api = await open(this.#kubeconfig);
    const source = new KubernetesSource({ api, clock: systemClock, observe });
    const operator = startOperator({
      ...{ source, services, database, clock: systemClock, observe, maxStalenessMs: 15_000 },
      lead: new LockLeadership({ database, source: source.name, observe, retryMs: 20 }).lead,
    });
    const close = async () => {
      await operator.close();
      await api.close();
    };
    this.#running = { operator, close };
    await operator.settled();
  }

  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await running?.close();
  }

  waiting() {
    return this.#running?.operator.waiting() ?? [];
  }

  /** As its timer does: it is not told what the API did. */
  resync(): void {
    this.#running?.operator.resync();
  }

  /** Makes the manifest of a slot, or changes it. @returns its metadata */
  async apply(slot: Slot, wish: Wish, exists: boolean): Promise<{ uid: string; creationTimestamp: string }> {
    const { kind, object, claims } = placeOf(slot);
    const { managementPolicy, adoptionPolicy, content, broken } = wish;
    const own = written[kind].spec(claims, content, broken);
    const spec = { tenantRef: { name: this.#namespaces.own }, managementPolicy, adoptionPolicy, ...own };
    if (exists) return (await this.#cluster.call('PATCH', this.#path(slot), { spec }, merge)).metadata;
    const manifest = { apiVersion: 'accord.dev/v1alpha1', kind, metadata: { name: object }, spec };
    return (await this.#cluster.call('POST', this.#path(slot, false), manifest)).metadata;
  }

  delete(slot: Slot): Promise<Reply> {
    return this.#cluster.request('DELETE', this.#path(slot));
  }

  /** As somebody who cannot wait. */
  strip(slot: Slot): Promise<Reply> {
    return this.#cluster.request('PATCH', this.#path(slot), { metadata: { finalizers: null } }, merge);
  }

  async changeTenant({ authority, allowed }: { authority?: Authority; allowed?: Allowed }): Promise<void> {
    const { own, other } = this.#namespaces;
    const nothing = { names: null, selector: null };
    const allowances = {
      absent: null,
      both: { ...nothing, names: [own, other] },
      selected: { ...nothing, selector: { matchLabels: { role: 'other' } } },
    };
    const spec = {
      ...(authority && { configAuthority: authority }),
      ...(allowed && { allowedNamespaces: allowances[allowed] }),
    };
    await this.#cluster.call('PATCH', `${tenantsPath}/${own}`, { spec }, merge);
  }

  /** Asks the Config API. @returns what the model's Answer is compared with */
  async ask(method: 'PUT' | 'DELETE', name: Name, ifMatch: IfMatch, content = 0) {
    const [kind] = name.split(' ') as [Kind];
    const tags = { absent: undefined, any: '*', stale: '"999999"' };
    const tag = ifMatch === 'current' ? ((await this.#get(name)).headers.etag ?? '"1"') : tags[ifMatch];
    const payload = method === 'PUT' ? { payload: written[kind].body(content) } : {};
    const reply = await this.#inject(method, name, tag === undefined ? {} : { 'if-match': String(tag) }, payload);
    // A subscription that was made shows its secret.
    const status = reply.statusCode === 201 ? 200 : reply.statusCode;
    return { status, code: status === 200 || status === 404 ? undefined : reply.json().code };
  }

  /**
   * The first thing that is not as the model says it; undefined: there is none, and nothing is under way.
   * @param among the objects that are looked at, with all manifests that claim them
   */
  async difference(
    state: State,
    reasons: ReadonlyMap<Slot, Reason>,
    among: Iterable<Name>,
  ): Promise<string | undefined> {
    if (this.#running && !this.#running.operator.idle()) return atWork;
    const { metadata, status } = await this.#tenant();
    if (status?.observedGeneration !== metadata.generation) return 'the Tenant is not looked at';
    const looked = [...among];
    const claiming = Object.keys(slots).filter((slot) => looked.includes(nameOf(slot)));
    const found =
      (await first(claiming, (slot) => this.#manifestDifference(slot, state.manifests.get(slot), reasons.get(slot)))) ??
      (await first(looked, (name) => this.#rowDifference(name, state.rows.get(name)))) ??
      (await first(looked, (name) => this.#shownDifference(name, state.rows.get(name))));
    return found ?? (this.#running && !this.#running.operator.idle() ? atWork : undefined);
  }

  async #manifestDifference(slot: Slot, expected: Manifest | undefined, reason: Reason | undefined) {
    const { status, body } = await this.#cluster.request('GET', this.#path(slot));
    if (status === 404) return expected && `manifest ${slot} is not there`;
    if (expected === undefined) return `manifest ${slot} is still there`;
    const { uid, generation, deletionTimestamp } = body.metadata;
    if (uid !== expected.uid || deletionTimestamp) return `manifest ${slot} is another one, or is terminating`;
    if (body.status?.observedGeneration !== generation) return `manifest ${slot} is not looked at`;
    const accepted = body.status.conditions.find(({ type }: { type: string }) => type === 'Accepted');
    if (accepted.reason !== reason) return `manifest ${slot} is told ${accepted.reason} and not ${reason}`;
    if (accepted.status !== (reason === 'Valid' ? 'True' : 'False')) return `manifest ${slot}: ${accepted.status}`;
    return undefined;
  }

  async #rowDifference(name: Name, expected: Row | undefined) {
    const row = await this.#row(name);
    if (row === undefined) return expected && `${name} has no row`;
    if (expected === undefined) return `${name} has a row, of ${JSON.stringify(row.owner)}`;
    const owner = this.#ownerOf(expected.owner);
    if (JSON.stringify(sorted(row.owner)) === JSON.stringify(sorted(owner))) return undefined;
    return `${name} is owned by ${JSON.stringify(row.owner)} and not by ${JSON.stringify(owner)}`;
  }

  async #shownDifference(name: Name, expected: Row | undefined) {
    const [kind] = name.split(' ') as [Kind];
    const reply = await this.#get(name);
    if (reply.statusCode !== (expected ? 200 : 404)) return `GET of ${name} is answered ${reply.statusCode}`;
    if (expected === undefined) return undefined;
    const { source, namespace, name: object } = this.#ownerOf(expected.owner);
    const managedBy = source === 'api' ? 'api' : `${source} ${namespace}/${object}`;
    const body = reply.json();
    if (body.managedBy !== managedBy) return `${name} is shown as managed by ${body.managedBy} and not ${managedBy}`;
    const [content, wanted] = [written[kind].shown(body), written[kind].content(expected.content)];
    return content === wanted ? undefined : `${name} is shown with ${content} and not ${wanted}`;
  }

  #ownerOf(owner: 'api' | { slot: Slot; uid: string }): Owner {
    if (owner === 'api') return { source: 'api' };
    const { namespace, object } = placeOf(owner.slot);
    return { source: 'kubernetes', namespace: this.#namespaces[namespace], name: object, uid: owner.uid };
  }

  /** What is stored, as the operator finds it. */
  #row(name: Name): Promise<FoundResource | undefined> {
    const [kind, object] = name.split(' ') as [Kind, string];
    const { room, kind: registration } = registered.get(kind) as NonNullable<ReturnType<typeof registered.get>>;
    return registration.find(this.#server.services.use(room), { tenant: this.#namespaces.own, name: object });
  }

  #path(slot: Slot, named = true): string {
    const { kind, namespace, object } = placeOf(slot);
    const plural = registered.get(kind)?.kind.definition.plural;
    const path = `${base}/namespaces/${this.#namespaces[namespace]}/${plural}`;
    return named ? `${path}/${object}` : path;
  }

  async #tenant() {
    return this.#cluster.call('GET', `${tenantsPath}/${this.#namespaces.own}`);
  }

  #get(name: Name) {
    return this.#inject('GET', name, {}, {});
  }

  #inject(method: 'GET' | 'PUT' | 'DELETE', name: Name, more: Record<string, string>, payload: { payload?: object }) {
    const [kind, object] = name.split(' ') as [Kind, string];
    const url = `/tenants/${this.#namespaces.own}/${written[kind].route}/${written[kind].isPath ? object : encodeURIComponent(object)}`;
    const headers = { authorization: `Bearer ${this.#token}`, ...more };
    return this.#server.app.inject({ method, url, headers, ...payload });
  }

  /** Deletes the Tenant, which takes its manifests to be gone. */
  async end(): Promise<void> {
    const path = `${tenantsPath}/${this.#namespaces.own}`;
    await this.#cluster.call('DELETE', path);
    await until('the Tenant to be gone', async () => (await this.#cluster.request('GET', path)).status === 404);
    await this.stop();
  }
}

/** Asks of all of them at once. @returns the first answer that there is */
async function first<T>(of: readonly T[], ask: (one: T) => Promise<string | undefined>): Promise<string | undefined> {
  return (await Promise.all(of.map(ask))).find((answer) => answer !== undefined);
}

function isReady({ type, status }: { type: string; status: string }): boolean {
  return type === 'Ready' && status === 'True';
}

function sorted(owner: Owner) {
  return Object.entries(owner).sort();
}
