/** The server process: following the snapshot, opening the two listeners, keeping house, and stopping in order. */
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import type { FastifyInstance } from 'fastify';
import { createAdmin } from './admin.ts';
import { type AppOptions, createApp, version } from './app.ts';
import { closeInOrder } from './core/close-in-order.ts';
import { type Config, parseListen, wantsTraces } from './core/config.ts';
import { ensurePartitions } from './core/db/partitions.ts';
import { limits } from './core/limits.ts';
import type { Observe } from './core/observe.ts';
import type { Tracing } from './core/tracing.ts';
import { runTasks, type Task } from './room/tasks.ts';
import type { Services } from './services.ts';

type ServerOptions = {
  /** What keeps it from being ready besides, in sentences. */
  obstacles?: () => Promise<readonly string[]>;
  /** What the operator in this process waits for. */
  waiting?: () => readonly object[];
  /** The directory of the local outbox, which the admin port then shows. */
  outbox?: string;
  /** @default limits.closeStepMsMax */
  closeStepMsMax?: number;
} & Pick<AppOptions, 'eventLoopDelayMsMax'>;
export type RunningServer = { url: string; adminUrl: string; close(): Promise<void> };

/** By V8's defaults garbage that was promoted waits until there is three times as much of it as what lives. */
const HEAP_GROWTH_PERCENT = 30;
const PARTITIONS_MS = 24 * 60 * 60 * 1000;
const PARTITIONS_AHEAD_MONTHS = 3;

/**
 * Serves until closed.
 * @throws the database's error, or EADDRINUSE naming the address
 */
export async function startServer(
  config: Config,
  services: Services,
  options: ServerOptions = {},
): Promise<RunningServer> {
  const { snapshots, metrics } = services;
  let ready = false;
  const tracing = await startTracing(services.observe);
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);
  await snapshots.start();
  const { eventLoopDelayMsMax, closeStepMsMax: stepMsMax = limits.closeStepMsMax, ...told } = options;
  const app = await createApp(config, services, {
    tracing,
    ...(eventLoopDelayMsMax === undefined ? {} : { eventLoopDelayMsMax }),
  });
  const admin = createAdmin({
    metrics,
    snapshots,
    isReady: () => ready,
    ...told,
    host: parseListen(config.ACCORD_ADMIN_LISTEN).host,
  });
  const stopTasks = runTasks(tasksOf(services), services.observe);
  const close = async () => {
    const wasReady = ready;
    ready = false;
    if (wasReady) await drain(app.server, config.ACCORD_DRAIN * 1000);
    const steps = [
      { name: 'the APIs', close: () => app.close(), late: () => app.server.closeAllConnections() },
      { name: 'tracing', close: async () => tracing?.close() },
      { name: 'the admin port', close: () => admin.close(), late: () => admin.server.closeAllConnections() },
      { name: 'background tasks', close: stopTasks },
      { name: 'snapshots', close: () => snapshots.close() },
    ];
    await closeInOrder(steps, { observe: services.observe, stepMsMax });
  };
  try {
    const url = await app.listen(parseListen(config.ACCORD_LISTEN));
    const adminUrl = await (admin as FastifyInstance).listen(parseListen(config.ACCORD_ADMIN_LISTEN));
    ready = true;
    return { url, adminUrl, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Undefined where nothing is to be traced: then nothing of the SDK is loaded. */
async function startTracing(observe: Observe): Promise<Tracing | undefined> {
  if (!wantsTraces()) return undefined;
  const { createTracing } = await import('./core/tracing.ts');
  return createTracing({ observe, version });
}

/**
 * Goes on answering, and asks the client to leave with each answer: a kept-alive connection would otherwise be closed
 * under a request on its way. Balancers need the time to learn that this server is no longer to be asked.
 */
async function drain(server: Server, ms: number): Promise<void> {
  if (ms === 0) return;
  server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'));
  await sleep(ms);
}

/** What this server does again and again: its own, and the rooms'. */
export function tasksOf({ rooms, use, database }: Services): Task[] {
  const partitions: Task = {
    name: 'making partitions',
    everyMs: PARTITIONS_MS,
    async run() {
      await database.system((tx) => ensurePartitions(tx, PARTITIONS_AHEAD_MONTHS));
      return undefined;
    },
  };
  return [partitions, ...rooms.flatMap((room) => room.tasks?.(use(room)) ?? [])];
}
