/**
 * Tests of the chart on a real node, as a part of ../node.test.ts: installed with --wait, it decides; an upgrade under load loses no request; what is killed comes
 * back; and it goes in both orders with nothing left Terminating. Postgres is a stand-in for the official image, which cannot be pulled here.
 */
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import type { Node } from '../../helpers/node.ts';
import { until } from '../../helpers/wait.ts';
import { chart, helm, type Resource, root, type Values } from './helm.ts';

/** Between two requests of a caller: four callers stay far below the rate limit, however fast the machine is. */
const CALLER_PAUSE_MS = 10;
const image = { repository: 'localhost/accord', tag: 'test', pullPolicy: 'Never' };
const values: Values = {
  image,
  postgresql: {
    enabled: true,
    image: { repository: 'localhost/postgres', tag: 'test', pullPolicy: 'Never' },
    storage: { enabled: false },
  },
  server: { drainSeconds: 8 },
  tests: { tenant: 'carshare' },
};

/** @param given the node, once it is there; it has the images */
export function testChartOn(given: () => Node): void {
  let node: Node;
  let namespace: string;
  const release = (command: string[], more: Values = {}) => {
    const input = JSON.stringify({ ...values, ...more });
    const args = [...command, '-n', namespace, '--timeout', '240s'];
    const takesValues = /^(install|upgrade)$/.test(command[0] as string);
    return helm(takesValues ? [...args, '-f', '-'] : args, { kubeconfig: node.cluster.kubeconfig, input });
  };
  const list = async (path: string): Promise<Resource[]> => (await node.cluster.call('GET', path)).items;
  const kubectl = (...args: string[]) => node.cluster.kubectl(args);
  const applyExamples = async () => {
    await kubectl('apply', '-R', '-f', join(root, 'examples/carshare'));
    await kubectl('wait', 'policies', '--all', '-n', 'carshare', '--for=condition=Ready', '--timeout=120s');
  };

  /** Asks the Service as a back end does, on connections that it keeps. */
  const caller = async () => {
    const exec = ['exec', '-n', namespace, 'deploy/accord-server', '--', 'accord', 'token'];
    const token = (
      await kubectl(...exec, '--tenant', 'carshare', '--client', 'load', '--scope', 'authz:evaluate')
    ).trim();
    const { spec } = await node.cluster.call('GET', `/api/v1/namespaces/${namespace}/services/accord`);
    const port = await node.forward(spec.clusterIP, 80);
    const agent = new Agent({ keepAlive: true, maxSockets: 4 });
    const body = JSON.stringify({ subject: { id: 'alice' }, action: 'car:read', resource: { id: 'car-7' } });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const ask = () =>
      new Promise<string>((resolve) => {
        const asked = request({ agent, port, host: '127.0.0.1', path: '/authz/carshare', method: 'POST', headers });
        asked.on('response', async (response) => {
          resolve(`${response.statusCode} ${(await response.toArray()).join('')}`);
        });
        asked.on('error', (error) => resolve(error.message)).end(body);
      });
    return { ask, agent };
  };

  beforeAll(async () => {
    node = given();
    namespace = await node.cluster.namespace({ 'pod-security.kubernetes.io/enforce': 'restricted' });
    await kubectl('create', 'namespace', 'carshare');
  });

  test('is installed with --wait', async () => {
    await release(['install', 'accord', chart, '--wait', '--take-ownership']);
    const pods = await list(`/api/v1/namespaces/${namespace}/pods`);
    const ready = pods
      .filter(({ status }) => status.containerStatuses?.[0].ready)
      .map(({ metadata }) => metadata.labels);
    const components = ready.map((labels) => labels['app.kubernetes.io/component']).sort();
    expect(components).toEqual(['database', 'operator', 'operator', 'server', 'server']);
  });

  test('takes the examples, and helm test decides by them', async () => {
    await applyExamples();
    expect(await release(['test', 'accord'])).toMatch(/Phase:\s+Succeeded/);
  });

  test('an upgrade under load loses no request', async () => {
    const { ask, agent } = await caller();
    const answers = new Map<string, number>();
    let upgrading = true;
    const callers = Array.from({ length: 4 }, async () => {
      while (upgrading) {
        const [answer] = await Promise.all([ask(), sleep(CALLER_PAUSE_MS)]); // a pace, not a wait
        answers.set(answer, (answers.get(answer) ?? 0) + 1);
      }
    });
    const before = await list(`/api/v1/namespaces/${namespace}/pods?labelSelector=app.kubernetes.io/component=server`);
    const again = { ...(values.server as Values), podAnnotations: { 'accord.dev/again': randomUUID() } };
    await release(['upgrade', 'accord', chart, '--wait'], { server: again });
    const names = before.map(({ metadata }) => metadata.name);
    await until('the servers from before to be gone', async () => {
      const now = await list(`/api/v1/namespaces/${namespace}/pods?labelSelector=app.kubernetes.io/component=server`);
      return !now.some(({ metadata }) => names.includes(metadata.name));
    });
    upgrading = false;
    await Promise.all(callers);
    agent.destroy();
    expect([...answers.keys()]).toEqual([expect.stringMatching(/^200 \{"outcome":"allow"/)]);
    expect([...answers.values()][0]).toBeGreaterThan(100);
  });

  test('goes on when a server, the leading operator and Postgres are killed', async () => {
    const { ask, agent } = await caller();
    const lease = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/accord-operator`;
    const holder = async (): Promise<string> => (await node.cluster.call('GET', lease)).spec.holderIdentity;
    const leader = await holder();
    const names = (await list(`/api/v1/namespaces/${namespace}/pods`)).map(({ metadata }) => metadata.name as string);
    const killed = [names.find((name) => leader.includes(name)), names.find((name) => /^accord-server-/.test(name))];
    expect(killed).toEqual([expect.stringMatching(/^accord-operator-/), expect.stringMatching(/^accord-server-/)]);
    await kubectl('delete', 'pod', '-n', namespace, '--grace-period=0', '--force', ...(killed as string[]));
    const end = ['node', '-e', 'process.kill(1)'];
    await kubectl('exec', '-n', namespace, 'accord-postgresql-0', '--', ...end);
    const policy = '/apis/accord.dev/v1alpha1/namespaces/carshare/policies/car-read';
    const rego = 'package carshare.car.read\n\ndefault outcome := "deny"\n';
    const patch = { spec: { rego, tests: [] } };
    await node.cluster.call('PATCH', policy, patch, 'application/merge-patch+json');
    for (const one of ['statefulset/accord-postgresql', 'deploy/accord-operator', 'deploy/accord-server'])
      await kubectl('rollout', 'status', '-n', namespace, one, '--timeout=120s');
    await until('the new decision', async () => /^200 \{"outcome":"deny"/.test(await ask()));
    expect(await holder()).not.toBe(leader);
    agent.destroy();
    await kubectl('rollout', 'status', '-n', namespace, 'deploy/accord-server', '--timeout=120s');
  });

  const gone = async () => {
    // All at once: so many without their Tenant would be held until somebody confirms them.
    await kubectl('delete', 'accord', '--all', '--all-namespaces', '--timeout=90s');
    expect(await kubectl('get', 'accord', '--all-namespaces', '-o', 'name')).toBe('');
  };

  test('the release first, then its resources', async () => {
    await release(['uninstall', 'accord', '--wait']);
    const held = await kubectl('get', 'policies', '-n', 'carshare', '-o', 'jsonpath={.items[*].metadata.finalizers}');
    expect(held).toBe('');
    await gone();
  });

  test('the resources first, then the release', async () => {
    await release(['install', 'accord', chart, '--wait']);
    await applyExamples();
    await gone();
    await release(['uninstall', 'accord', '--wait']);
    await kubectl('delete', 'namespace', 'carshare', '--timeout=60s');
  });
}
