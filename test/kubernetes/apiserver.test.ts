/** The tests' own cluster keeps what the others stand on: rights as real ones, and nothing left behind. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Cluster, startCluster, useCluster } from '../helpers/cluster.ts';
import { until, untilPasses } from '../helpers/wait.ts';
import { expectInstalls } from './installing.ts';
import { clusterForTests } from './programs.ts';

test('a ServiceAccount may do what its rules say and nothing else', async () => {
  const cluster = await useCluster();
  const namespace = await cluster.namespace();
  const rules = [{ apiGroups: ['accord.dev'], resources: ['policies'], verbs: ['list'] }];
  const reader = await Cluster.connect(await cluster.serviceAccountKubeconfig('reader', rules));
  const policies = `/apis/accord.dev/v1alpha1/namespaces/${namespace}/policies`;
  expect(await reader.call('GET', policies)).toMatchObject({ kind: 'PolicyList', items: [] });
  expect(await reader.request('DELETE', policies)).toMatchObject({ status: 403, body: { reason: 'Forbidden' } });
  await expect(reader.kubectl(['get', 'secrets', '-n', namespace])).rejects.toThrow(/secrets is forbidden/);
  await reader.close();
});

describe.skipIf(clusterForTests() === 'existing')('a cluster of its own', () => {
  test('ends with the process that started it, also when that is killed', async () => {
    const module = new URL('apiserver.ts', import.meta.url);
    const code = `const { processes } = await (await import(${JSON.stringify(module.href)})).startApiServer();
      console.log(JSON.stringify([processes.folder, processes.pid('etcd'), processes.pid('kube-apiserver')]));
      setInterval(() => {}, 1000);`;
    const owner = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [printed] = (await once(owner.stdout, 'data')) as [Buffer];
    const [folder, ...pids] = JSON.parse(printed.toString()) as [string, number, number];
    for (const pid of pids) expect(process.kill(pid, 0)).toBe(true);
    owner.kill('SIGKILL');
    await untilPasses('nothing to be left of it', () => {
      expect(existsSync(folder)).toBe(false);
      for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
    });
  });

  describe('with controllers', () => {
    let started: Awaited<ReturnType<typeof startCluster>>;
    beforeAll(async () => {
      started = await startCluster({ controllers: true });
    });
    afterAll(() => started?.stop());

    test('a deleted namespace goes, and what it held', async () => {
      const { cluster } = started;
      const namespace = await cluster.namespace();
      const maps = `/api/v1/namespaces/${namespace}/configmaps`;
      await cluster.call('POST', maps, { metadata: { name: 'one' } });
      await cluster.call('DELETE', `/api/v1/namespaces/${namespace}`);
      const found = async () => (await cluster.request('GET', `/api/v1/namespaces/${namespace}`)).status;
      await until('the namespace to be gone', async () => (await found()) === 404);
    });

    // Here, because it needs a cluster that has none of the definitions: to delete them can take half a minute.
    test('kubectl apply of the definitions on the client, twice', () => expectInstalls(started.cluster, 'client'));
  });
});
