/** `accord operate --source kubernetes` in processes of their own, and what is asked of them: for the tests of leading. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { environment, freePort, root } from '../e2e/accord.ts';
import { asAdmin } from '../helpers/admin.ts';
import type { Cluster } from '../helpers/cluster.ts';
import type { TestDatabase } from '../helpers/database.ts';

export const patient = { timeout: 120_000, interval: 20 };

/** What all operators of one test share. */
export type Installation = {
  cluster: Cluster;
  db: Pick<TestDatabase, 'url' | 'adminUrl'>;
  namespace: string;
};

const key = randomBytes(32).toString('base64url');

export async function install(cluster: Cluster, db: Installation['db']): Promise<Installation> {
  return { cluster, db, namespace: await cluster.namespace() };
}

/** The process itself, without the launcher before it: its signals are for it alone. */
export class OperatorProcess {
  readonly child: ChildProcess;
  readonly adminUrl: string;
  output = '';

  private constructor(args: string[], variables: Record<string, string>, adminUrl: string) {
    this.adminUrl = adminUrl;
    const env = { ...environment(), ...variables };
    this.child = spawn(process.execPath, ['cli/main.ts', ...args], {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on('data', (chunk) => {
        this.output += chunk;
      });
    }
  }

  static async start(
    { cluster, db, namespace }: Installation,
    options: { kubeconfig?: string; url?: string; args?: string[] } = {},
  ): Promise<OperatorProcess> {
    const admin = `127.0.0.1:${await freePort()}`;
    const variables = {
      ACCORD_DATABASE_URL: options.url ?? db.url,
      ACCORD_MASTER_KEY: key,
      ACCORD_LEASE_NAMESPACE: namespace,
      ACCORD_ADMIN_LISTEN: admin,
      ACCORD_LOG_LEVEL: 'error',
    };
    const source = ['--source', 'kubernetes', '--kubeconfig', options.kubeconfig ?? cluster.kubeconfig];
    return new OperatorProcess(['operate', ...source, ...(options.args ?? [])], variables, `http://${admin}`);
  }

  says(what: RegExp): Promise<void> {
    return this.#until(() => what.test(this.output), `says ${what}`);
  }

  leads(): Promise<void> {
    return this.#until(async () => (await this.metric('operator_leader')) === 1, 'leads');
  }

  becomesReady(): Promise<void> {
    return this.#until(async () => (await this.probe('/ready')).status === 200, 'is ready');
  }

  /** @throws with what it printed, when it ends before */
  async #until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const from = performance.now();
    while (!(await Promise.resolve(isSo()).catch(() => false))) {
      const { exitCode, signalCode } = this.child;
      const isOver = exitCode !== null || signalCode !== null || performance.now() - from > patient.timeout;
      if (isOver)
        throw new Error(`an operator that never ${what} (${exitCode ?? signalCode}) printed:\n${this.output}`);
      await new Promise((resolve) => setTimeout(resolve, patient.interval));
    }
  }

  /** @returns the exit code, or the signal that ended it */
  async gone(): Promise<number | NodeJS.Signals | null> {
    const { child } = this;
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    return child.exitCode ?? child.signalCode;
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM') {
    this.child.kill(signal);
    return this.gone();
  }

  async probe(path: '/live' | '/ready'): Promise<{ status: number; reasons: string }> {
    const response = await fetch(`${this.adminUrl}${path}`);
    const body = (await response.json()) as { reasons?: string[] };
    return { status: response.status, reasons: (body.reasons ?? []).join('\n') };
  }

  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.adminUrl}/metrics`)).text();
    return Number(new RegExp(`^accord_${name.replace(/[{}]/g, '\\$&')} (\\S+)$`, 'm').exec(text)?.[1]);
  }
}

export const query = <T extends object>({ db }: Installation, text: string, values: unknown[] = []): Promise<T[]> =>
  asAdmin<T>(db.adminUrl, text, values);

export type TermRow = { epoch: string; holder: string; cluster: string };
export const termOf = async (one: Installation) =>
  (await query<TermRow>(one, "select epoch, holder, cluster from accord.operator_term where source = 'kubernetes'"))[0];

const leasePath = (namespace: string) => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/accord-operator`;
export const leaseOf = async ({ cluster, namespace }: Installation) =>
  (await cluster.request('GET', leasePath(namespace))).body.spec;
export const deleteLease = ({ cluster, namespace }: Installation) => cluster.call('DELETE', leasePath(namespace));
