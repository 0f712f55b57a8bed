/**
 * etcd and kube-apiserver on loopback: a Kubernetes API without nodes. With `controllers` also kube-controller-manager and
 * kube-scheduler, without which a deleted namespace stays Terminating for ever and no owner's dependants are collected.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { freePort } from '../helpers/free-port.ts';
import { Certificates } from './certificates.ts';
import { type KubeconfigUser, kubeconfigText } from './kubeconfig.ts';
import { program } from './programs.ts';
import { Supervised } from './supervised.ts';

/** Namespaces with a network of their own (node.sh). */
export type Apart = {
  processes: Supervised;
  /** The machine's address in that network. */
  address: string;
  /** Makes a port of that network one of 127.0.0.1. @returns the port here */
  forward(host: string, port: number): Promise<number>;
};

export type ApiServerOptions = { controllers?: boolean; apart?: Apart };

export type ApiServer = {
  processes: Supervised;
  certificates: Certificates;
  /** Base URL for those who are where the server is. */
  innerUrl: string;
  url: string;
  /** Path of the admin's, with `url`. */
  kubeconfig: string;
};

/** @returns when it answers that it is ready */
export async function startApiServer(options: ApiServerOptions = {}): Promise<ApiServer> {
  const processes = options.apart?.processes ?? new Supervised();
  try {
    return await start(processes, options);
  } catch (error) {
    await processes.stop();
    throw error;
  }
}

async function start(processes: Supervised, { controllers = false, apart }: ApiServerOptions): Promise<ApiServer> {
  const host = apart?.address ?? '127.0.0.1';
  const certificates = await makeCertificates(processes.folder, host);
  const [etcd, peer, port] = [await freePort(), await freePort(), await freePort()];
  const file = (name: string) => certificates.file(name);
  processes.start('etcd', program('etcd'), etcdArguments(processes.folder, etcd, peer));
  processes.start('kube-apiserver', program('kube-apiserver'), [
    ...[`--etcd-servers=http://127.0.0.1:${etcd}`, `--bind-address=${host}`, `--advertise-address=${host}`],
    ...[`--secure-port=${port}`, `--cert-dir=${certificates.folder}`, `--client-ca-file=${file('ca.crt')}`],
    ...[`--tls-cert-file=${file('apiserver.crt')}`, `--tls-private-key-file=${file('apiserver.key')}`],
    ...[`--service-account-issuer=https://kubernetes.default.svc.cluster.local`],
    ...[`--service-account-key-file=${file('tokens.pub')}`, `--service-account-signing-key-file=${file('tokens.key')}`],
    ...[`--authorization-mode=Node,RBAC`, `--service-cluster-ip-range=10.96.0.0/16`, `--allow-privileged=true`],
    // How the API server asks a kubelet for logs.
    ...[`--kubelet-client-certificate=${file('admin.crt')}`, `--kubelet-client-key=${file('admin.key')}`],
    ...[`--kubelet-preferred-address-types=InternalIP`, `--profiling=false`],
    // A loopback address may not stand in Endpoints.
    ...(apart === undefined ? [`--endpoint-reconciler-type=none`] : []),
    // Nobody makes each namespace's ServiceAccount `default`, without which Pods would be refused.
    ...(controllers ? [] : [`--disable-admission-plugins=ServiceAccount`]),
  ]);
  const outer = apart === undefined ? `${host}:${port}` : `127.0.0.1:${await apart.forward(host, port)}`;
  const [innerUrl, url] = [`https://${host}:${port}`, `https://${outer}`];
  const kubeconfig = await writeKubeconfig({ processes, certificates, innerUrl: url }, 'admin');
  const server = { processes, certificates, innerUrl, url, kubeconfig };
  const dispatcher = new Agent({ connect: { ca: certificates.authority() } });
  await processes.until('kube-apiserver', 'is ready', () => answers(`${url}/readyz`, dispatcher));
  await dispatcher.close();
  if (controllers) await startControllers(server);
  return server;
}

type Place = Pick<ApiServer, 'processes' | 'certificates' | 'innerUrl'>;

/** Writes a kubeconfig with innerUrl for the client that has the certificate NAME.crt. @returns its path */
export async function writeKubeconfig({ processes, certificates, innerUrl }: Place, name: string): Promise<string> {
  const path = join(processes.folder, `${name}.kubeconfig`);
  const user: KubeconfigUser = { certificate: certificates.read(`${name}.crt`), key: certificates.read(`${name}.key`) };
  await writeFile(path, kubeconfigText(innerUrl, certificates.authority(), user), { mode: 0o600 });
  return path;
}

async function makeCertificates(folder: string, address: string): Promise<Certificates> {
  const made = await Certificates.create(join(folder, 'pki'));
  const service = ['DNS:kubernetes', 'DNS:kubernetes.default', 'DNS:kubernetes.default.svc', 'IP:10.96.0.1'];
  await Promise.all([
    made.server('apiserver', '/CN=kube-apiserver', ['DNS:localhost', 'IP:127.0.0.1', `IP:${address}`, ...service]),
    made.client('admin', '/O=system:masters/CN=admin'),
    made.client('controllers', '/CN=system:kube-controller-manager'),
    made.client('scheduler', '/CN=system:kube-scheduler'),
    made.pair('tokens'),
  ]);
  return made;
}

function etcdArguments(folder: string, port: number, peer: number): string[] {
  const [client, other] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peer}`];
  return [
    ...['--name=one', `--data-dir=${folder}/etcd`, '--unsafe-no-fsync', '--log-level=warn'],
    ...[`--listen-client-urls=${client}`, `--advertise-client-urls=${client}`, `--listen-peer-urls=${other}`],
    ...[`--initial-advertise-peer-urls=${other}`, `--initial-cluster=one=${other}`],
  ];
}

async function startControllers(server: ApiServer): Promise<void> {
  const { processes, certificates } = server;
  const run = async (name: string, client: string, more: string[] = []) => {
    const kubeconfig = await writeKubeconfig(server, client);
    const own = ['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'];
    const listen = [
      '--bind-address=127.0.0.1',
      `--secure-port=${await freePort()}`,
      `--cert-dir=${certificates.folder}`,
    ];
    const args = [...own.map((option) => `--${option}=${kubeconfig}`), ...listen, '--leader-elect=false', ...more];
    processes.start(name, program(name), args);
  };
  await run('kube-controller-manager', 'controllers', [
    ...['--use-service-account-credentials=true', `--root-ca-file=${certificates.file('ca.crt')}`],
    ...[`--service-account-private-key-file=${certificates.file('tokens.key')}`],
    ...['--allocate-node-cidrs=true', '--cluster-cidr=10.244.0.0/16'],
  ]);
  await run('kube-scheduler', 'scheduler');
}

async function answers(url: string, dispatcher: Agent): Promise<boolean> {
  try {
    const { statusCode, body } = await request(url, { dispatcher });
    await body.dump();
    return statusCode === 200;
  } catch {
    return false;
  }
}
