/**
 * The operator that bench/kubernetes.ts measures from outside: exactly what `accord operate --source kubernetes`
 * runs, which besides tells over IPC its memory and its work, and looks at everything again when asked.
 */
import { readFileSync } from 'node:fs';
import { parseCommandLine } from '../cli/arguments.ts';
import { choiceOf } from '../cli/choice.ts';
import { startOperation } from '../cli/operation.ts';
import { createOperatorMetrics } from '../operator/index.ts';
import { readConfig } from '../server/core/config.ts';
import { createServices } from '../server/services.ts';

const parsed = parseCommandLine(process.argv.slice(2));
if (typeof parsed === 'string' || 'help' in parsed) throw new Error('the arguments are those of accord operate');
const metrics = createOperatorMetrics();
const counted = { compiled: 0, compileMs: 0 };
const services = await createServices(readConfig(), {
  applicationName: 'operate',
  observe: (observation) => {
    metrics.record(observation);
    if (observation.kind !== 'policy_compiled' || observation.cached) return;
    counted.compiled++;
    counted.compileMs += observation.ms;
  },
});
const operation = await startOperation(choiceOf(parsed), { services, metrics, exit: () => process.exit(1) });
const { operator } = operation;

function usage() {
  const { user, system } = process.cpuUsage();
  const peakKiB = Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
  return {
    ...counted,
    cpuUs: user + system,
    rssMiB: process.memoryUsage.rss() / 1024 / 1024,
    peakMiB: peakKiB / 1024,
    idle: operator.idle(),
    resources: operator.state().resources,
  };
}
export type OperatorUsage = ReturnType<typeof usage>;

process.on('message', async (message) => {
  if (message === 'resync') operator.resync();
  if (message !== 'stop') return process.send?.(usage());
  await operation.close();
  await services.close();
  process.exit(0);
});
// The benchmark is gone.
process.on('disconnect', () => process.exit(1));
process.send?.('up');
