/**
 * A real node runs Accord's image as the chart does: without root, without rights, on a read-only file system. The chart is
 * installed on it (chart/on-node.ts). And it leaves nothing behind. TEST_NODE=required (CI) makes it a failure that no node can
 * be started here.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { scratchFolder } from '../helpers/cluster.ts';
import { type Node, startNode } from '../helpers/node.ts';
import { until, untilPasses } from '../helpers/wait.ts';
import { hasHelm } from './chart/helm.ts';
import { testChartOn } from './chart/on-node.ts';
import { packAccord } from './image.ts';
import { packPostgres } from './postgres-image.ts';
import { whyNoNode } from './programs.ts';

// An installation or an upgrade of the chart takes a minute on a quiet machine.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
const image = 'localhost/accord:test';
const isRequired = process.env.TEST_NODE === 'required';
const skip = !isRequired && whyNoNode() !== undefined;

/** Pod security at its strictest level, and a file system that cannot be written to. */
const restricted = (name: string, args: string[], more: object = {}) => ({
  metadata: { name, labels: { name } },
  spec: {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        ...{ name, image, args, imagePullPolicy: 'Never', ...more },
        securityContext: {
          ...{ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
          capabilities: { drop: ['ALL'] },
        },
      },
    ],
  },
});

describe.skipIf(skip)('a node', () => {
  let node: Node;
  let bytes: number;
  let pods: string;
  beforeAll(async () => {
    node = await startNode();
    const file = join(await scratchFolder(), 'image.tar');
    bytes = await packAccord(image, file);
    await node.load(file);
    await packPostgres('localhost/postgres:test', file);
    await node.load(file);
    await rm(file);
    const namespace = await node.cluster.namespace({ 'pod-security.kubernetes.io/enforce': 'restricted' });
    pods = `/api/v1/namespaces/${namespace}/pods`;
    await until('the ServiceAccount', () => node.cluster.call('GET', `${dirname(pods)}/serviceaccounts/default`));
  });
  afterAll(() => node?.stop());

  async function ended(name: string): Promise<{ phase: string; log: string }> {
    const phase = await until(`the end of ${name}`, async () => {
      const { status } = await node.cluster.call('GET', `${pods}/${name}`);
      expect(status.phase, JSON.stringify(status)).toMatch(/Succeeded|Failed/);
      return status.phase as string;
    });
    return { phase, log: (await node.cluster.call('GET', `${pods}/${name}/log`)) as string };
  }

  test("runs Accord's image", async () => {
    expect(bytes).toBeLessThan(230e6);
    await node.cluster.call('POST', pods, restricted('version', ['--version']));
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(await ended('version')).toEqual({ phase: 'Succeeded', log: expect.stringContaining(version) });
  });

  test('refuses a Pod that asks for more', async () => {
    const pod = restricted('root', ['--version']);
    pod.spec.securityContext.runAsNonRoot = false;
    const { status, body } = await node.cluster.request('POST', pods, pod);
    expect({ status, message: body.message }).toEqual({
      status: 403,
      message: expect.stringContaining('runAsNonRoot'),
    });
  });

  test('has Services that are reached from inside and from here', async () => {
    const code = `require('http').createServer((_, reply) => reply.end('hello')).listen(8080)`;
    const server = { command: ['node', '-e', code] };
    await node.cluster.call('POST', pods, restricted('hello', [], server));
    const service = {
      metadata: { name: 'hello' },
      spec: { selector: { name: 'hello' }, ports: [{ port: 80, targetPort: 8080 }] },
    };
    const { spec } = await node.cluster.call('POST', `${dirname(pods)}/services`, service);
    const port = await node.forward(spec.clusterIP, 80);
    const hello = async () => (await fetch(`http://127.0.0.1:${port}`)).text();
    await untilPasses('an answer', async () => expect(await hello()).toBe('hello'));

    const namespace = pods.split('/')[4];
    const ask = `fetch('http://hello.${namespace}.svc.cluster.local').then(r => r.text()).then(console.log)`;
    await node.cluster.call('POST', pods, restricted('asks', [], { command: ['node', '-e', ask] }));
    expect(await ended('asks')).toEqual({ phase: 'Succeeded', log: 'hello\n' });
  });

  describe.skipIf(!isRequired && !hasHelm)('the chart', () => testChartOn(() => node));

  test('leaves no process, mount, cgroup or file behind', async () => {
    const folder = dirname(node.cluster.kubeconfig);
    const shims = () =>
      execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
        .split('\n')
        .filter((line) => line.includes(folder));
    expect(shims().some((line) => line.includes('containerd-shim'))).toBe(true);
    await node.stop();
    expect(shims()).toEqual([]);
    expect(existsSync(folder)).toBe(false);
    expect(readFileSync('/proc/mounts', 'utf8')).not.toContain(folder);
    const cgroups = execFileSync('find', ['/sys/fs/cgroup', '-type', 'd', '-name', 'kubepods*'], { encoding: 'utf8' });
    expect(cgroups).toBe('');
  });
});
