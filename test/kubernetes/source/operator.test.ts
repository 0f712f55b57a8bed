/** The operator on a cluster: rows and status say what the resources say, also when the way to the API server is bad. */
import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { KubernetesSource, type KubernetesSourceOptions } from '../../../operator/kubernetes/source.ts';
import type { Source } from '../../../operator/source.ts';
import { systemClock } from '../../../server/core/clock.ts';
import { limits } from '../../../server/core/limits.ts';
import { asAdmin } from '../../helpers/admin.ts';
import { useCluster } from '../../helpers/cluster.ts';
import { randomFaults, seeded, startFaultProxy } from '../../helpers/fault-proxy.ts';
import { isLong } from '../../helpers/long.ts';
import { seed } from '../../helpers/seed.ts';
import { until } from '../../helpers/wait.ts';
import { createWorld } from '../../operator/harness.ts';
import { closing, merge, open, policyPath } from './harness.ts';

const cluster = await useCluster();
let aheadMs = 0;
const dates = { now: () => Date.now() + aheadMs, monotonic: () => performance.now() };
const world = await createWorld(dates);
const tenants = '/apis/accord.dev/v1alpha1/tenants';

async function operate(kubeconfig: string, options: Partial<KubernetesSourceOptions> = {}, more = {}) {
  const observe = () => {};
  const source: Source = new KubernetesSource({ api: await open(kubeconfig), clock: systemClock, observe, ...options });
  return world.operateOn(source, more);
}

const tenant = (name: string) => ({
  apiVersion: 'accord.dev/v1alpha1',
  kind: 'Tenant',
  metadata: { name },
  spec: { displayName: `The ${name} company`, audiences: [`${name}-api`] },
});

const regoOf = (answer: string) => `package p\n\ndefault outcome := "${answer}"\n`;

const policyOf = (owner: string, name: string, rego: string) => ({
  apiVersion: 'accord.dev/v1alpha1',
  kind: 'Policy',
  metadata: { name },
  spec: { tenantRef: { name: owner }, name: `doc:${name}`, rego },
});

async function readyOf(path: string): Promise<string | undefined> {
  const { status, body } = await cluster.request('GET', path);
  if (status !== 200) return undefined;
  const { conditions = [], observedGeneration } = body.status ?? {};
  const condition = conditions.find(({ type }: { type: string }) => type === 'Ready');
  return (
    condition &&
    `${condition.status} ${condition.reason} ${observedGeneration === body.metadata.generation ? 'now' : 'before'}`
  );
}

/** The rows of a tenant's policies, by name. */
async function rowsOf(name: string): Promise<Record<string, string>> {
  const rows = await asAdmin<{ name: string; rego: string }>(
    world.adminUrl,
    'select name, rego from accord.policy where tenant = $1',
    [name],
  );
  return Object.fromEntries(rows.map(({ name, rego }) => [name, rego]));
}

describe('the operator on a cluster', () => {
  test('brings a tenant and its policy to the database and says so; a deletion waits for it', async () => {
    await world.serve();
    const owner = await cluster.namespace();
    await operate(cluster.kubeconfig);
    const path = policyPath(owner, 'read');
    await cluster.call('POST', tenants, tenant(owner));
    await cluster.call('POST', policyPath(owner), policyOf(owner, 'read', regoOf('allow')));
    await until('Programmed', async () => (await readyOf(path)) === 'True Programmed now');
    expect(await readyOf(`${tenants}/${owner}`)).toBe('True Programmed now');
    expect(await rowsOf(owner)).toEqual({ 'doc:read': regoOf('allow') });
    await cluster.call('PATCH', path, { spec: { rego: 'package p\nbroken(' } }, merge);
    await until('CompileError', async () => (await readyOf(path)) === 'False CompileError now');
    expect(await rowsOf(owner)).toEqual({ 'doc:read': regoOf('allow') });
    await cluster.call('DELETE', path);
    await until('the end of the policy', async () => (await cluster.request('GET', path)).status === 404);
    expect(await rowsOf(owner)).toEqual({});
    await cluster.call('DELETE', `${tenants}/${owner}`);
    await until(
      'the end of the Tenant',
      async () => (await cluster.request('GET', `${tenants}/${owner}`)).status === 404,
    );
  });

  test('says of a consent definition what is active and locked, also when only time has changed it; deleted, it is archived', async () => {
    const snapshots = await world.serve();
    const owner = await cluster.namespace();
    const { operator } = await operate(cluster.kubeconfig);
    const path = `/apis/accord.dev/v1alpha1/namespaces/${owner}/consentdefinitions`;
    const later = new Date(dates.now() + 60_000).toISOString();
    const documents = (effectiveDate?: string) => [
      { version: 'a', language: 'en', ...(effectiveDate && { effectiveDate }) },
    ];
    const version = (name: string, date?: string) => ({
      version: name,
      optInConfig: { type: 'direct' },
      documents: documents(date),
    });
    const spec = { tenantRef: { name: owner }, name: 'news', versions: [version('1'), version('2', later)] };
    await cluster.call('POST', tenants, tenant(owner));
    const kind = { apiVersion: 'accord.dev/v1alpha1', kind: 'ConsentDefinition' };
    await cluster.call('POST', path, { ...kind, metadata: { name: 'news' }, spec });
    await until('Programmed', async () => (await readyOf(`${path}/news`)) === 'True Programmed now');
    const { body } = await cluster.request('GET', `${path}/news`);
    expect(body.status).toMatchObject({
      active: [{ language: 'en', version: '1', document: 'a' }],
      locked: [{ version: '1', endOfLife: false, documents: 1 }],
    });
    expect(snapshots.get(owner)?.definitions.get('news')?.versions).toHaveLength(2);
    aheadMs = 60_000;
    operator.resync();
    const active = async () => (await cluster.request('GET', `${path}/news`)).body.status.active[0].version;
    await until('version 2', async () => (await active()) === '2');
    await cluster.call('DELETE', `${path}/news`);
    await until('the end of the definition', async () => (await cluster.request('GET', `${path}/news`)).status === 404);
    await until('servers without it', async () => snapshots.get(owner)?.definitions.size === 0);
  });

  test('tells by a condition and an event that no test covers the allow of a policy, and again when one does', async () => {
    await world.serve();
    const owner = await cluster.namespace();
    await operate(cluster.kubeconfig);
    const rego = 'package p\n\ndefault outcome := "deny"\noutcome := "allow" if input.x == 1\n';
    const denies = { name: 'denies', input: { x: 2 }, expect: { outcome: 'deny' } };
    const allows = { name: 'allows', input: { x: 1 }, expect: { outcome: 'allow' } };
    const policy = policyOf(owner, 'read', rego);
    const path = policyPath(owner, 'read');
    const tested = async () => {
      const { conditions = [] } = (await cluster.call('GET', path)).status ?? {};
      const found = conditions.find(({ type }: { type: string }) => type === 'AllowTested');
      return found && `${found.status} ${found.reason}`;
    };
    const events = async () => {
      const { items } = await cluster.call('GET', `/api/v1/namespaces/${owner}/events`);
      type Event = {
        type: string;
        reason: string;
        involvedObject: { kind: string; name: string };
      };
      return (items as Event[])
        .filter(({ reason }) => reason.startsWith('Allow'))
        .map(({ type, reason, involvedObject: { kind, name } }) => `${type} ${reason} ${kind}/${name}`);
    };
    await cluster.call('POST', tenants, tenant(owner));
    await cluster.call('POST', policyPath(owner), { ...policy, spec: { ...policy.spec, tests: [denies] } });
    await until('AllowNotTested', async () => (await tested()) === 'False AllowNotTested');
    expect(await readyOf(path)).toMatch(/^True/);
    await until('the first event', async () => (await events()).length === 1);
    expect(await events()).toEqual(['Warning AllowNotTested Policy/read']);
    await cluster.call('PATCH', path, { spec: { tests: [denies, allows] } }, merge);
    await until('AllowTested', async () => (await tested()) === 'True AllowTested');
    await until('the second event', async () => (await events()).length === 2);
    // Their times are whole seconds, and their names are random: a list has no order.
    expect((await events()).sort()).toEqual(['Normal AllowTested Policy/read', 'Warning AllowNotTested Policy/read']);
  });

  test('says in the status of a consent definition what was removed of a text', async () => {
    await world.serve();
    const owner = await cluster.namespace();
    await operate(cluster.kubeconfig);
    const path = `/apis/accord.dev/v1alpha1/namespaces/${owner}/consentdefinitions`;
    const content = { title: 'News', mediaType: 'text/html', body: '<p onclick="a()">x</p>' };
    const versions = [
      { version: '1', optInConfig: { type: 'direct' }, documents: [{ version: 'a', language: 'en', content }] },
    ];
    await cluster.call('POST', tenants, tenant(owner));
    await cluster.call('POST', path, {
      ...{ apiVersion: 'accord.dev/v1alpha1', kind: 'ConsentDefinition', metadata: { name: 'news' } },
      spec: { tenantRef: { name: owner }, name: 'news', versions },
    });
    await until('Programmed', async () => (await readyOf(`${path}/news`)) === 'True Programmed now');
    const { status } = await cluster.call('GET', `${path}/news`);
    const digest = `sha256:${hash('sha256', '<p>x</p>')}`;
    expect(status.sanitized).toEqual([{ version: '1', document: 'a', language: 'en', digest, removed: ['onclick'] }]);
  });

  test('writes nothing to the API server when everything is looked at again, nor when it starts again', async () => {
    await world.serve();
    const owner = await cluster.namespace();
    const proxy = await startFaultProxy(cluster);
    closing(() => proxy.close());
    const first = await operate(proxy.kubeconfig);
    await cluster.call('POST', tenants, tenant(owner));
    await cluster.call('POST', policyPath(owner), policyOf(owner, 'read', regoOf('allow')));
    await until('Programmed', async () => (await readyOf(policyPath(owner, 'read'))) === 'True Programmed now');
    await until('the operator to be idle', () => first.operator.idle());
    const writes = () =>
      proxy.asked.filter(({ method, path }) => method !== 'GET' && path.includes('accord.dev')).length;
    const before = writes();
    first.operator.resync();
    await until('the operator to be idle', () => first.operator.idle());
    await first.close();
    const second = await operate(proxy.kubeconfig);
    await second.operator.settled();
    await until('the operator to be idle', () => second.operator.idle());
    expect(writes()).toBe(before);
    await second.close();
    await operate(cluster.kubeconfig);
    await cluster.call('DELETE', policyPath(owner, 'read'));
    await cluster.call('DELETE', `${tenants}/${owner}`);
    await until(
      'the end of the Tenant',
      async () => (await cluster.request('GET', `${tenants}/${owner}`)).status === 404,
    );
  });
});

describe('random faults between the operator and the API server', () => {
  const seeds = process.env.ACCORD_SEED ? [seed] : isLong ? [3, seed] : [3];
  test.each(seeds)('end with a database that says what the resources say (seed %i, ACCORD_SEED)', async (seed) => {
    await world.serve();
    const random = seeded(seed);
    const proxy = await startFaultProxy(cluster);
    closing(() => proxy.close());
    proxy.decide = randomFaults(random, 0.2);
    const owner = await cluster.namespace();
    const one = await operate(proxy.kubeconfig, { idleMs: 500, random: seeded(seed + 1) });
    await cluster.call('POST', tenants, tenant(owner));
    // No more than massDeletionRowsMax: past that many, the deletions of a minute are held.
    const names = Array.from({ length: limits.massDeletionRowsMax }, (_, i) => `p${i}`);
    for (let step = 0; step < 80; step++) {
      const name = names[Math.floor(random() * names.length)] as string;
      const path = policyPath(owner, name);
      const rego = random() < 0.1 ? 'package p\nbroken(' : regoOf(random() < 0.5 ? 'allow' : 'deny');
      const { status, body } = await cluster.request('GET', path);
      if (status === 404) await cluster.call('POST', policyPath(owner), policyOf(owner, name, rego));
      else if (random() < 0.15 && !body.metadata.deletionTimestamp) await cluster.request('DELETE', path);
      else await cluster.request('PATCH', path, { spec: { rego } }, merge);
    }
    proxy.decide = undefined;
    const done = async () => {
      const { items } = await cluster.call('GET', policyPath(owner));
      const states = await Promise.all(
        items.map(({ metadata }: { metadata: { name: string } }) => readyOf(policyPath(owner, metadata.name))),
      );
      return (
        states.every((state) => state === 'True Programmed now' || state === 'False CompileError now') &&
        one.operator.idle() &&
        items
      );
    };
    const items = await until('every status', done);
    const rows = await rowsOf(owner);
    type Item = { spec: { name: string; rego: string } };
    const broken = (items as Item[]).filter(({ spec }) => spec.rego.includes('broken('));
    const good = (items as Item[]).filter(({ spec }) => !spec.rego.includes('broken('));
    for (const { spec } of good) expect(rows[spec.name]).toBe(spec.rego);
    // A broken one keeps its last good version, if it had one; a deleted one has no row.
    for (const name of Object.keys(rows)) {
      expect([...good, ...broken].map(({ spec }) => spec.name)).toContain(name);
      expect(rows[name]).not.toContain('broken(');
    }
    await cluster.call('DELETE', policyPath(owner));
    await cluster.call('DELETE', `${tenants}/${owner}`);
    await until(
      'the end of the Tenant',
      async () => (await cluster.request('GET', `${tenants}/${owner}`)).status === 404,
    );
    expect(await rowsOf(owner)).toEqual({});
  });
});
