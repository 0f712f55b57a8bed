/** `accord finalizers remove`: before the operator is uninstalled, so that no manifest waits for it for ever. Needs no database. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { systemClock } from '../server/core/clock.ts';
import { readConfig } from '../server/core/config.ts';
import { counted } from '../server/core/text.ts';
import { commands, type Parsed, UsageError } from './arguments.ts';
import { loadApi } from './operation.ts';

export async function run({ values, positionals }: Parsed): Promise<number> {
  const wrong = (why: string) => new UsageError(`accord finalizers: ${why}\nusage: ${commands.finalizers.usage}`);
  if (positionals.length !== 1 || positionals[0] !== 'remove') throw wrong('the only verb is remove');
  if (values.source !== 'kubernetes') throw wrong('--source is kubernetes');
  const config = readConfig();
  const { LEASE_NAME, FINALIZER_REMOVER } = await import('../operator/kubernetes/lease-object.ts');
  const { removeFinalizers } = await import('../operator/kubernetes/finalizers.ts');
  const api = await loadApi(values.kubeconfig, { clock: systemClock, observe: () => {} });
  try {
    const removed = await removeFinalizers({
      ...{ api, name: LEASE_NAME, namespace: config.ACCORD_LEASE_NAMESPACE ?? api.namespace },
      identity: `${FINALIZER_REMOVER}${hostname()}_${randomUUID()}`,
      clock: systemClock,
      progress: (what) => console.log(`${what}…`),
    });
    console.log(
      removed === 0 ? 'No manifest has the finalizer.' : `Removed the finalizer from ${counted(removed, 'manifest')}.`,
    );
    return 0;
  } finally {
    await api.close();
  }
}
