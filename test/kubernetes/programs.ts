/**
 * Where the programs of the test clusters are: KUBEBUILDER_ASSETS, where Go's projects keep theirs, then what build.sh has
 * built. And what the tests can run on: which cluster, if any, and whether a node.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const script = join(import.meta.dirname, 'build.sh');
const folders = (): string[] => {
  const built = execFileSync('bash', [script, '--path'], { encoding: 'utf8' }).trim().split(delimiter);
  return [process.env.KUBEBUILDER_ASSETS ?? '', ...built].filter((folder) => folder !== '');
};

/** @returns the program's path, or undefined where it was not built */
export function findProgram(name: string): string | undefined {
  return folders()
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
}

/** The program's path. @throws saying how to build it */
export function program(name: string): string {
  const found = findProgram(name);
  if (found === undefined) throw new Error(`${name} was not built: run bash test/kubernetes/build.sh`);
  return found;
}

/** A search path on which all that was built comes first. */
export const searchPath = () => [...folders(), process.env.PATH ?? ''].join(delimiter);

/**
 * What the tests of Kubernetes run on: `built` is a cluster of their own, `existing` the one that KUBECONFIG names, undefined
 * none. KUBECONFIG counts only for `npm run test:kubernetes`, which sets TEST_ON_KUBECONFIG: many people have it set to
 * a cluster that `npm test` has no business with.
 */
export function clusterForTests(): 'built' | 'existing' | undefined {
  if (process.env.TEST_ON_KUBECONFIG === '1' && process.env.KUBECONFIG) return 'existing';
  return ['etcd', 'kube-apiserver', 'kubectl'].every((name) => findProgram(name) !== undefined) ? 'built' : undefined;
}

/** Where Debian has the programs that give Pods their network. */
export const networkPlugins = '/usr/lib/cni';

/** @returns why no node can be started here, or undefined when it can */
export function whyNoNode(): string | undefined {
  const programs = ['kubelet', 'kube-proxy', 'containerd', 'coredns', 'pause'].filter((one) => !findProgram(one));
  if (programs.length > 0) {
    return `${programs.join(', ')} not built: bash test/kubernetes/build.sh node containerd coredns pause`;
  }
  if (process.getuid?.() !== 0) return 'a node needs root';
  const tools = ['runc', 'iptables', 'ip'].filter((tool) => spawnSync(tool, ['--version']).error !== undefined);
  if (tools.length > 0 || !existsSync(join(networkPlugins, 'bridge'))) {
    return 'programs are missing: apt-get install runc containernetworking-plugins iptables iproute2';
  }
  const tried = spawnSync('unshare', ['--mount', '--net', '--cgroup', '--pid', '--fork', 'true']);
  return tried.status === 0 ? undefined : 'this machine allows no namespaces (unshare)';
}
