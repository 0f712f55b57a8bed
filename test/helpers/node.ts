/**
 * A real Kubernetes node for tests: etcd, the control plane, containerd, kubelet, kube-proxy and CoreDNS in namespaces of
 * their own (mounts, network, cgroups, process ids), so that nothing of it shows on the machine, and all of it ends with
 * who started it. Needs root, Linux, and Debian's runc, containernetworking-plugins and iptables.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ApiServer, startApiServer, writeKubeconfig } from '../kubernetes/apiserver.ts';
import { packImage } from '../kubernetes/image.ts';
import { networkPlugins, program } from '../kubernetes/programs.ts';
import { Supervised } from '../kubernetes/supervised.ts';
import { forward } from '../kubernetes/tunnel.ts';
import { Cluster } from './cluster.ts';

const address = '10.240.0.1';
const name = 'node1';

export type Node = {
  cluster: Cluster;
  /** Loads a docker-archive tar, for Pods with imagePullPolicy Never or IfNotPresent. */
  load(image: string): Promise<void>;
  /** Makes a port of the cluster's network, such as a Service's, one of 127.0.0.1. @returns the port here */
  forward(host: string, port: number): Promise<number>;
  stop(): Promise<void>;
};

/** Starts the node. @returns when it is Ready. @throws with the end of the log of what failed */
export async function startNode(): Promise<Node> {
  const processes = new Supervised({ apart: true });
  const socket = join(processes.folder, 'tunnel.sock');
  const forwards: { close(): void }[] = [];
  const open = async (host: string, port: number) => {
    const made = await forward(socket, host, port);
    forwards.push(made);
    return made.port;
  };
  let cluster: Cluster | undefined;
  let stopped: Promise<void> | undefined;
  const end = async () => {
    await cluster?.close();
    for (const one of forwards) one.close();
    await processes.stop();
  };
  const stop = () => {
    stopped ??= end();
    return stopped;
  };
  try {
    const scripts = join(import.meta.dirname, '../kubernetes');
    await processes.finish('node', 'bash', [join(scripts, 'node.sh'), address]);
    processes.start('tunnel', process.execPath, [join(scripts, 'tunnel.ts'), socket]);
    await processes.until('tunnel', 'listens', async () => existsSync(socket));
    const apart = { processes, address, forward: open };
    const server = await startApiServer({ controllers: true, apart });
    cluster = await Cluster.connect(server.kubeconfig);
    await startContainerd(processes);
    const load = (image: string) => importImage(processes.folder, image);
    await load(await pauseImage(processes.folder));
    await startKubelet(server);
    await startNetwork(server);
    await untilReady(processes, cluster);
    return { cluster, load, forward: open, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startContainerd(processes: Supervised): Promise<void> {
  const { folder } = processes;
  const network = {
    cniVersion: '1.0.0',
    name: 'pods',
    plugins: [
      {
        ...{ type: 'bridge', bridge: 'pods0', isGateway: true, ipMasq: true, hairpinMode: true },
        ipam: {
          type: 'host-local',
          ranges: [[{ subnet: '10.244.0.0/24' }]],
          routes: [{ dst: '0.0.0.0/0' }],
          dataDir: join(folder, 'addresses'),
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
  await mkdir(join(folder, 'cni'));
  await writeFile(join(folder, 'cni/10-pods.conflist'), JSON.stringify(network));
  // Nobody may lower oom_score_adj without CAP_SYS_RESOURCE, which a container that runs the tests may lack.
  const config = `version = 3
root = "${folder}/images"
state = "${folder}/containers"
[grpc]
address = "${folder}/containerd.sock"
[plugins."io.containerd.cri.v1.images".pinned_images]
sandbox = "localhost/pause:1"
[plugins."io.containerd.cri.v1.runtime"]
restrict_oom_score_adj = true
[plugins."io.containerd.cri.v1.runtime".cni]
bin_dirs = ["${networkPlugins}"]
conf_dir = "${folder}/cni"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
`;
  await writeFile(join(folder, 'containerd.toml'), config);
  processes.start('containerd', program('containerd'), ['--config', join(folder, 'containerd.toml')]);
  const answers = () =>
    containerd(folder, ['version'])
      .then(() => true)
      .catch(() => false);
  await processes.until('containerd', 'answers', answers);
}

const containerd = (folder: string, args: readonly string[]) =>
  promisify(execFile)(program('ctr'), ['--address', join(folder, 'containerd.sock'), '--namespace', 'k8s.io', ...args]);

async function importImage(folder: string, image: string): Promise<void> {
  await containerd(folder, ['images', 'import', image]);
}

async function pauseImage(folder: string): Promise<string> {
  const files = join(program('pause'), '..');
  const to = join(folder, 'pause.tar');
  await packImage(files, 'localhost/pause:1', { Entrypoint: ['/pause'] }, to);
  return to;
}

async function startKubelet(server: ApiServer): Promise<void> {
  const { processes, certificates } = server;
  const { folder } = processes;
  await certificates.client('kubelet', `/O=system:nodes/CN=system:node:${name}`);
  await certificates.server('kubelet-server', `/CN=${name}`, [`DNS:${name}`, `IP:${address}`]);
  const config = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address,
    authentication: {
      ...{ anonymous: { enabled: false }, webhook: { enabled: true } },
      x509: { clientCAFile: certificates.file('ca.crt') },
    },
    authorization: { mode: 'Webhook' },
    tlsCertFile: certificates.file('kubelet-server.crt'),
    tlsPrivateKeyFile: certificates.file('kubelet-server.key'),
    // Many machines that run tests still have version 1, and no systemd.
    ...{ cgroupDriver: 'cgroupfs', failCgroupV1: false, failSwapOn: false, oomScoreAdj: 0 },
    containerRuntimeEndpoint: `unix://${folder}/containerd.sock`,
    ...{ clusterDNS: [address], clusterDomain: 'cluster.local', resolvConf: '' },
    // A full disk of the machine is not this cluster's business.
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    ...{ imageGCHighThresholdPercent: 100, serializeImagePulls: false, nodeStatusUpdateFrequency: '2s' },
    podLogsDir: join(folder, 'pods'),
  };
  await writeFile(join(folder, 'kubelet.json'), JSON.stringify(config));
  processes.start('kubelet', program('kubelet'), [
    ...[`--config=${folder}/kubelet.json`, `--kubeconfig=${await writeKubeconfig(server, 'kubelet')}`],
    ...[`--root-dir=${folder}/kubelet`, `--cert-dir=${certificates.folder}`],
    ...[`--hostname-override=${name}`, `--node-ip=${address}`],
  ]);
}

/** Services and names: kube-proxy, and CoreDNS on the node's address. */
async function startNetwork(server: ApiServer): Promise<void> {
  const { processes, certificates } = server;
  await certificates.client('proxy', '/CN=system:kube-proxy');
  await certificates.client('names', '/O=system:masters/CN=names');
  processes.start('kube-proxy', program('kube-proxy'), [
    ...[`--kubeconfig=${await writeKubeconfig(server, 'proxy')}`, `--hostname-override=${name}`],
    ...['--proxy-mode=iptables', '--cluster-cidr=10.244.0.0/16', `--bind-address=${address}`],
    '--conntrack-max-per-core=0', // the limit is the machine's, not the namespace's
  ]);
  const file = join(processes.folder, 'Corefile');
  const kubeconfig = await writeKubeconfig(server, 'names');
  await writeFile(
    file,
    `cluster.local in-addr.arpa {
  bind ${address}
  errors
  kubernetes cluster.local in-addr.arpa {
    kubeconfig ${kubeconfig} test
  }
  cache 5
}
. {
  bind ${address}
  template ANY ANY {
    rcode NXDOMAIN
  }
}
`,
  );
  processes.start('coredns', program('coredns'), ['-conf', file]);
}

async function untilReady(processes: Supervised, cluster: Cluster): Promise<void> {
  await processes.until('kubelet', 'is Ready', async () => {
    const { body } = await cluster.request('GET', `/api/v1/nodes/${name}`);
    const conditions = (body.status?.conditions ?? []) as { type: string; status: string }[];
    return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  });
  // Without it the Pods of a namespace are refused.
  await processes.until('kube-controller-manager', 'makes the ServiceAccount', async () => {
    const path = '/api/v1/namespaces/default/serviceaccounts/default';
    return (await cluster.request('GET', path)).status === 200;
  });
}
