/**
 * `accord operate`: the operator alone; servers run elsewhere. What it needs may come later than it does: it says what it
 * waits for, is not ready meanwhile, and begins when all is there.
 */
import type { AddressInfo } from 'node:net';
import { createOperatorMetrics, type OperatorMetrics } from '../operator/index.ts';
import { createAdmin } from '../server/admin.ts';
import { type Config, parseListen, readConfig, requireVariable } from '../server/core/config.ts';
import { assertSchema } from '../server/core/db/migrate.ts';
import { createServices, type Services } from '../server/services.ts';
import type { Parsed } from './arguments.ts';
import { choiceOf } from './choice.ts';
import { withListeners } from './listeners.ts';
import { type Operation, startOperation } from './operation.ts';
import { reportChanges, reportProblems } from './report.ts';
import { untilStopped } from './stop.ts';
import { patiently } from './wait.ts';

/** Beside a server on one machine, whose admin port is 8081. */
const ADMIN_LISTEN = '127.0.0.1:8082';

type Progress = { operation?: Operation; waitingFor: string };

export async function run(parsed: Parsed): Promise<number> {
  const choice = choiceOf(parsed);
  const stopped = untilStopped();
  const config = withListeners(withDefaults(readConfig()), parsed.values);
  requireVariable(config, 'ACCORD_DATABASE_URL', 'accord operate');
  requireVariable(config, 'ACCORD_MASTER_KEY', 'accord operate');
  const metrics = createOperatorMetrics();
  const progress: Progress = { waitingFor: 'It is starting.' };
  const undo: (() => Promise<unknown>)[] = [];
  try {
    const admin = await listenAdmin(config, metrics, progress);
    undo.push(() => admin.close());
    const services = await connect(config, metrics, { progress, stopped });
    if (services === undefined) return 0;
    undo.push(() => services.close());
    const operation = await startOperation(choice, {
      services,
      metrics,
      exit: endAtOnce,
      onStatus: reportChanges(() => true),
      onProblems: reportProblems(() => true),
      onWaiting: (message) => console.log(message),
    });
    undo.push(() => operation.close());
    progress.operation = operation;
    console.log(`Following ${operation.place}; admin on ${admin.url}`);
    await stopped;
    return 0;
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

function withDefaults(config: Config): Config {
  return process.env.ACCORD_ADMIN_LISTEN ? config : { ...config, ACCORD_ADMIN_LISTEN: ADMIN_LISTEN };
}

/** Another operator leads, or may: nothing is finished or handed over, because all of it might be written too late. */
function endAtOnce(why: string): never {
  console.error(`accord: this operator is no longer the leader and stops: ${why}`);
  process.exit(1);
}

async function listenAdmin(config: Config, metrics: OperatorMetrics, progress: Progress) {
  const { host, port } = parseListen(config.ACCORD_ADMIN_LISTEN);
  const admin = createAdmin({
    metrics,
    host,
    isReady: () => progress.operation !== undefined,
    waiting: () => progress.operation?.operator.waiting() ?? [],
    isLive: () => progress.operation?.isLive() ?? true,
    obstacles: async () => progress.operation?.obstacles() ?? [progress.waitingFor],
  });
  await admin.listen({ host, port });
  const { port: bound } = admin.server.address() as AddressInfo;
  return { url: `http://${config.ACCORD_ADMIN_LISTEN.replace(/:\d+$/, `:${bound}`)}`, close: () => admin.close() };
}

/** Waits for the database and its schema for as long as it takes. @returns undefined when stopped first */
function connect(
  config: Config,
  metrics: OperatorMetrics,
  { progress, stopped }: { progress: Progress; stopped: Promise<unknown> },
): Promise<Services | undefined> {
  const url = requireVariable(config, 'ACCORD_DATABASE_URL', 'accord operate');
  const once = async () => {
    await assertSchema(url);
    return createServices(config, { applicationName: 'operate', observe: metrics.record });
  };
  const told = (why: string) => {
    progress.waitingFor = `Waiting for the database: ${why}`;
  };
  return patiently(once, { forMs: Number.POSITIVE_INFINITY, stopped, told });
}
