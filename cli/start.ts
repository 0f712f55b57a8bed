/**
 * `accord start`: everything in one process on an embedded Postgres. It starts, reconciles the manifests, serves, says
 * where, and stops all of it in order on Ctrl-C.
 */
import { relative, resolve } from 'node:path';
import { FileSource, type Summary, startOperator, wireRooms } from '../operator/index.ts';
import { type Config, readConfig } from '../server/core/config.ts';
import { mintClientToken } from '../server/keys/index.ts';
import { type RunningServer, startServer } from '../server/main.ts';
import { baseUrlOf, createServices, type Services } from '../server/services.ts';
import type { Parsed } from './arguments.ts';
import { type FirstRequest, findFirstRequest } from './first-request.ts';
import { onLoopback, withListeners } from './listeners.ts';
import { openLocal, writeBaseUrl } from './local.ts';
import { lockDirectory } from './lock.ts';
import { createProgress, curl, table } from './output.ts';
import { reportChanges, rowOf } from './report.ts';
import { untilStopped } from './stop.ts';

const LOOPBACK_RANGES = '127.0.0.0/8,::1/128';
const FIRST_TOKEN_TTL_MS = 60 * 60 * 1000;

export async function run({ values }: Parsed): Promise<number> {
  const stopped = untilStopped();
  const progress = createProgress();
  const base = withDefaults(withListeners(readConfig(), values));
  const directory = values.data as string;
  const manifests = values.manifests as string;
  const undo: (() => Promise<unknown>)[] = [];
  try {
    undo.push(await lockDirectory(directory));
    const local = await openLocal(directory, (step) => progress.step(`Starting ${step}`));
    undo.push(() => local.postgres.stop());
    await writeBaseUrl(local.directory, baseUrlOf(base));
    const config: Config = { ...base, ...local.environment };
    progress.step('Starting the server');
    const services = await createServices(config, { applicationName: 'start' });
    undo.push(() => services.close());
    services.prepareCompiler();
    const server = await startServer(config, services);
    undo.push(() => server.close());
    const { clock, observe } = services;
    const source = new FileSource({
      directory: manifests,
      statusDirectory: resolve(directory, 'status'),
      clock,
      observe,
    });
    const onStatus = reportChanges(() => settled);
    const maxStalenessMs = config.ACCORD_MAX_STALENESS * 1000;
    const operator = startOperator({ source, rooms: wireRooms(services), ...services, maxStalenessMs, onStatus });
    undo.push(() => operator.close());
    progress.step(`Reconciling ${relative(process.cwd(), manifests) || '.'}`);
    let settled = false;
    const summary = await Promise.race([operator.settled(), stopped.then(() => undefined)]);
    settled = true;
    progress.done();
    if (summary !== undefined) {
      console.log(await describe({ config, services, server, summary, source, manifests, directory }));
      await stopped;
    }
    if (process.stdout.isTTY) console.log('Stopping…');
    return 0;
  } finally {
    progress.done();
    for (const step of undo.reverse()) await step();
  }
}

/** What a local installation takes for granted where its environment says nothing. */
function withDefaults(config: Config): Config {
  const quiet = process.env.ACCORD_LOG_LEVEL ? {} : { ACCORD_LOG_LEVEL: 'error' as const };
  // Issuers on this machine are for trying out; nobody outside it can ask us to call them.
  const outbound =
    config.ACCORD_OUTBOUND_ALLOW === '' && onLoopback(config) ? { ACCORD_OUTBOUND_ALLOW: LOOPBACK_RANGES } : {};
  return { ...config, ...quiet, ...outbound };
}

type Started = {
  config: Config;
  services: Services;
  server: RunningServer;
  summary: Summary;
  source: FileSource;
  manifests: string;
  directory: string;
};

async function describe(started: Started): Promise<string> {
  const { services, server, summary, source, manifests, directory } = started;
  const sorted = summary.resources.map(rowOf).sort();
  const lines = [
    `Reconciled ${sorted.length} manifests of ${relative(process.cwd(), manifests) || '.'}:`,
    table(sorted),
    ...summary.problems.map((problem) => `  ${problem.place}: ${problem.message}`),
    '',
    table([
      ['APIs', services.baseUrl],
      ['reference', `${services.baseUrl}/docs`],
      ['admin', `${server.adminUrl}/metrics`],
      ['data', relative(process.cwd(), directory) || '.'],
    ]),
  ];
  const first = findFirstRequest(source);
  if (first) lines.push('', 'A first request:', '', await firstRequest(started, first), '');
  lines.push('Change a manifest, and the next decision is made with it. Ctrl-C stops everything.');
  return lines.join('\n');
}

/** With a token only where a person sees it and nobody else can use it: on a terminal, and on loopback. */
async function firstRequest({ config, services, directory }: Started, first: FirstRequest): Promise<string> {
  const url = `${services.baseUrl}/authz/${first.tenant}`;
  const client = { clientId: 'first-request', scopes: ['authz:evaluate' as const], ttlMs: FIRST_TOKEN_TTL_MS };
  if (process.stdout.isTTY && onLoopback(config)) {
    return curl(url, (await mintClientToken(services.mint, first.tenant, client)).token, first.body);
  }
  const data = directory === '.accord' ? '' : ` --data ${directory}`;
  return curl(
    url,
    `$(npx accord token --tenant ${first.tenant} --client first-request --scope authz:evaluate${data})`,
    first.body,
  );
}
