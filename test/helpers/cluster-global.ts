/** Starts one Kubernetes API server for the run's tests of Kubernetes. Where there is none, they are skipped (vitest.config.ts). */
import type { TestProject } from 'vitest/node';
import { clusterForTests } from '../kubernetes/programs.ts';
import { Supervised } from '../kubernetes/supervised.ts';
import { existingCluster, startCluster } from './cluster.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the admin's; undefined where there is no cluster and the tests are skipped. */
    kubeconfig: string | undefined;
    /** A folder on the disk, which goes with the run however that ends; undefined where there is no cluster. */
    scratch: string | undefined;
  }
}

export default async function setup(project: TestProject) {
  const which = clusterForTests();
  if (which === undefined) return;
  const given = process.env.KUBECONFIG as string;
  const { cluster, stop } = await (which === 'existing' ? existingCluster(given) : startCluster());
  project.provide('kubeconfig', cluster.kubeconfig);
  const folder = new Supervised({ onDisk: true });
  project.provide('scratch', folder.folder);
  return async () => {
    await stop();
    await folder.stop();
  };
}
