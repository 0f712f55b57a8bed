/** `accord release`: before the operator is uninstalled, so that no manifest waits for it for ever. Needs no database. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { systemClock } from '../server/core/clock.ts';
import { readConfig } from '../server/core/config.ts';
import { commands, type Parsed, UsageError } from './arguments.ts';
import { loadApi } from './operation.ts';
import { counted } from './output.ts';

export async function run({ values }: Parsed): Promise<number> {
  if (values.source !== 'kubernetes') {
    throw new UsageError(`accord release: --source is kubernetes\nusage: ${commands.release.usage}`);
  }
  const config = readConfig();
  const { LEASE_NAME, RELEASER } = await import('../operator/kubernetes/lease-object.ts');
  const { releaseCluster } = await import('../operator/kubernetes/release.ts');
  const api = await loadApi(values.kubeconfig, { clock: systemClock, observe: () => {} });
  try {
    const released = await releaseCluster({
      ...{ api, name: LEASE_NAME, namespace: config.ACCORD_LEASE_NAMESPACE ?? api.namespace },
      identity: `${RELEASER}${hostname()}_${randomUUID()}`,
      clock: systemClock,
      progress: (what) => console.log(`${what}…`),
    });
    console.log(
      released === 0
        ? 'No manifest has the finalizer.'
        : `Removed the finalizer from ${counted(released, 'manifest')}.`,
    );
    return 0;
  } finally {
    await api.close();
  }
}
