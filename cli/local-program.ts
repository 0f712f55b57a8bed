/** What `accord start` runs when its Postgres is up: the services, the server and the operator, until it is stopped. */
import { resolve } from 'node:path';
import { createOperatorMetrics, type OperatorMetrics, type Source, type Summary } from '../operator/index.ts';
import type { Config } from '../server/core/config.ts';
import type { Observation } from '../server/core/observe.ts';
import { counted } from '../server/core/text.ts';
import { mintClientToken } from '../server/keys/index.ts';
import { type RunningServer, startServer } from '../server/main.ts';
import { baseUrlOf, createServices, type Services } from '../server/services.ts';
import type { Choice } from './choice.ts';
import { type FirstRequest, findFirstRequest } from './first-request.ts';
import { firstToken } from './first-token.ts';
import { tellInvitations } from './invitations.ts';
import { isOnlyHere, onLoopback } from './listeners.ts';
import { writeRuntime } from './local.ts';
import { firstLogIn, logInCommandOf } from './log-in.ts';
import { type Operation, startOperation } from './operation.ts';
import { openOutbox, outboxOf } from './outbox.ts';
import { type createProgress, curl, table } from './output.ts';
import type { PortalBuild } from './portal-build.ts';
import { describeProblem, reportChanges, reportProblems, rowOf } from './report.ts';
import { seed } from './seed.ts';

const FIRST_TOKEN_TTL_MS = 60 * 60 * 1000;

type ProgramOptions = {
  choice: Choice;
  config: Config;
  /** The data directory as it was given, for people. */
  directory: string;
  /** The data directory. */
  local: string;
  /** Its database was made, or migrated, by this start. */
  isNew: boolean;
  progress: ReturnType<typeof createProgress>;
  stopped: Promise<unknown>;
  /** Gets why all of it must end, in a sentence without its full stop. */
  failed: PromiseWithResolvers<string>;
  portal: PortalBuild;
  /** Gets what is to be undone at the end, in reverse order. */
  undo: (() => Promise<unknown>)[];
};

/** @returns the exit code */
export async function runProgram(options: ProgramOptions): Promise<number> {
  const { choice, config, directory, local, isNew, progress, stopped, failed, undo, portal } = options;
  const baseUrl = baseUrlOf(config);
  const logInLinks = isOnlyHere(config, baseUrl);
  await writeRuntime(local, { baseUrl, logInLinks });
  progress.step('Starting the server');
  let metrics: OperatorMetrics | undefined;
  const observe = (observation: Observation) => metrics?.record(observation);
  let mailbox: string | undefined;
  const services = await createServices(config, {
    ...{ applicationName: 'start', observe },
    portal: { building: portal.building, mailbox: () => mailbox, logInLinks, logInCommand: logInCommandOf(directory) },
  });
  undo.push(() => services.close());
  undo.push(openOutbox(services, local));
  // The policies of a new installation are all compiled; of another one those that changed, of which there may be none.
  if (isNew) services.rego.compiler.prepare();
  let settled = false;
  const reconciling = ['The manifests that were found at the start are not reconciled yet.'];
  let running: Operation | undefined;
  const server = await startServer(config, services, {
    obstacles: async () => (settled ? [] : reconciling),
    waiting: () => running?.operator.waiting() ?? [],
    outbox: outboxOf(local),
  });
  mailbox = mailboxOf(server);
  undo.push(() => server.close());
  metrics = createOperatorMetrics(services.metrics.registry);
  const invitations = tellInvitations(() => settled);
  const operation = await startOperation(choice, {
    onInvitation: invitations.written,
    ...{ services, metrics, onStatus: reportChanges(() => settled) },
    // The term is over and nothing more is written; the rest of this process may stop in order.
    exit: (why) => failed.resolve(`the operator is no longer the leader: ${why}`),
    onProblems: reportProblems(() => settled),
    onWaiting: (message) => console.log(message),
  });
  running = operation;
  undo.push(() => operation.close());
  progress.step(`Reconciling ${operation.place}`);
  const ending = Promise.race([failed.promise, stopped.then(() => undefined)]);
  const summary = await Promise.race([operation.operator.settled(), ending.then(() => undefined)]);
  const refused = summary !== undefined && choice.kind === 'files' ? await seed(services, choice.manifests) : [];
  settled = summary !== undefined;
  progress.done();
  if (summary !== undefined) {
    const { source, place } = operation;
    const described = await describe({ config, services, server, summary, source, place, directory, portal });
    const first = logInLinks ? await firstLogIn(services, directory, process.stdout.isTTY) : undefined;
    const links = await invitations.lines(
      services,
      choice.kind === 'files' ? choice.invitationsDirectory : undefined,
      first?.of,
    );
    // In one piece: nothing of a start is left to do when it says that it runs.
    console.log([described, ...refused, ...(first?.lines ?? []), ...links].join('\n'));
    portal.ended.then(() => tellFailure(portal));
    // Whoever changes a policy next does not wait until the compiler is loaded.
    services.rego.compiler.prepare();
  }
  const why = await ending;
  if (why !== undefined) console.error(`accord: server and operator stop, because ${why}`);
  if (process.stdout.isTTY) console.log('Stopping…');
  return why === undefined ? 0 : 1;
}

type Started = {
  config: Config;
  services: Services;
  server: RunningServer;
  summary: Summary;
  source: Source;
  place: string;
  directory: string;
  portal: PortalBuild;
};

const mailboxOf = ({ adminUrl }: RunningServer) => `${adminUrl}/dev/mail`;

function tellFailure({ building }: PortalBuild): void {
  const state = building();
  if (typeof state !== 'object') return;
  console.error(`The portal could not be built. All else works; npm run build:portal builds it. ${state.failed}`);
}

async function describe(started: Started): Promise<string> {
  const { services, server, summary, source, place, directory, portal } = started;
  const sorted = summary.resources.map(rowOf).sort();
  const lines = [
    `Reconciled ${counted(sorted.length, 'manifest')} of ${place}:`,
    table(sorted),
    ...summary.problems.map((problem) => `  ${describeProblem(problem)}`),
    '',
    table([
      ['APIs', services.baseUrl],
      ['portal', `${services.baseUrl}/portal${portal.building() === 'building' ? ' (is being built)' : ''}`],
      ['reference', `${services.baseUrl}/docs`],
      ['admin', `${server.adminUrl}/metrics`],
      ['mail', mailboxOf(server)],
      ['data', resolve(directory)],
    ]),
  ];
  const first = findFirstRequest(source);
  if (first) lines.push('', 'A first request:', '', await firstRequest(started, first), '');
  lines.push('', ...firstToken(services, directory));
  lines.push('When you change a manifest, decisions follow. Ctrl-C stops everything.');
  return lines.join('\n');
}

/** With a token only where a person sees it and nobody else can use it: on a terminal, and on loopback. */
async function firstRequest({ config, services, directory }: Started, first: FirstRequest): Promise<string> {
  const url = `${services.baseUrl}/authz/${first.tenant}`;
  const client = { clientId: 'first-request', scopes: ['authz:evaluate' as const], ttlMs: FIRST_TOKEN_TTL_MS };
  if (process.stdout.isTTY && onLoopback(config)) {
    return curl(url, (await mintClientToken(services.keys, first.tenant, client)).token, first.body);
  }
  const data = directory === '.accord' ? '' : ` --data ${directory}`;
  return curl(
    url,
    `$(npx accord token --tenant ${first.tenant} --client first-request --scope authz:evaluate${data})`,
    first.body,
  );
}
