/** `accord operate --source kubernetes` in processes of their own, and what is asked of them: for the tests of leading. */
import { randomBytes } from 'node:crypto';
import { afterEach } from 'vitest';
import { asAdmin } from '../helpers/admin.ts';
import type { Cluster } from '../helpers/cluster.ts';
import type { TestDatabase } from '../helpers/database.ts';
import { AccordProcess } from './accord-process.ts';

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

const running: AccordProcess[] = [];
/** Kills those that a test has started. A file whose tests share operators does it when it ends. */
export async function killOperators(): Promise<void> {
  await Promise.all(running.splice(0).map((one) => one.stop('SIGKILL')));
}
export const killOperatorsAfterEach = () => afterEach(killOperators);

export async function startOperator(
  { cluster, db, namespace }: Installation,
  options: { kubeconfig?: string; url?: string; args?: string[] } = {},
): Promise<AccordProcess> {
  const variables = {
    ACCORD_DATABASE_URL: options.url ?? db.url,
    ACCORD_MASTER_KEY: key,
    ACCORD_LEASE_NAMESPACE: namespace,
    ACCORD_LOG_LEVEL: 'error',
  };
  const source = ['--source', 'kubernetes', '--kubeconfig', options.kubeconfig ?? cluster.kubeconfig];
  const operator = await AccordProcess.run(['operate', ...source, ...(options.args ?? [])], variables);
  running.push(operator);
  return operator;
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

/** As if its holder had asked for so much less: who waits for a leader that is gone has not so long to wait. */
export const shortenLease = ({ cluster, namespace }: Installation) => {
  const spec = { leaseDurationSeconds: 1 };
  return cluster.call('PATCH', leasePath(namespace), { spec }, 'application/merge-patch+json');
};
