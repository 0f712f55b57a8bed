/**
 * Starts an operator on the source that the command line names, and says what keeps it from its work. What
 * Kubernetes needs is loaded when it is asked for: it costs 80 MiB and a second.
 */
import { randomUUID } from 'node:crypto';
import { opendir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  FileSource,
  type InvitationFiles,
  kindNames,
  type Leadership,
  LockLeadership,
  type Operator,
  type OperatorMetrics,
  type OperatorOptions,
  type Source,
  startOperator,
} from '../operator/index.ts';
import type { FencedServices, Services } from '../server/services.ts';
import { commands, type Parsed, UsageError } from './arguments.ts';
import { describeProblem } from './report.ts';

type Choice =
  | { kind: 'files'; manifests: string; statusDirectory: string; invitationsDirectory: string }
  | { kind: 'kubernetes'; kubeconfig: string | undefined; adopt: boolean };

/** What --source and the options that go with it say. @throws UsageError */
export function choiceOf(
  { command, values, flags }: Parsed,
  defaults: { source?: string; manifests?: string } = {},
): Choice {
  const { source = defaults.source, kubeconfig, data = '.accord' } = values;
  const wrong = (why: string) => new UsageError(`accord ${command}: ${why}\nusage: ${commands[command].usage}`);
  const adopt = flags.has('adopt-cluster');
  if (source === 'kubernetes') {
    if (values.manifests !== undefined) throw wrong('--manifests goes with --source files');
    return { kind: 'kubernetes', kubeconfig, adopt };
  }
  if (source !== 'files') throw wrong('--source is files or kubernetes');
  if (kubeconfig !== undefined || adopt) throw wrong('--kubeconfig and --adopt-cluster go with --source kubernetes');
  const manifests = values.manifests ?? defaults.manifests;
  if (manifests === undefined) throw wrong('--manifests names the directory of the manifests');
  const [statusDirectory, invitationsDirectory] = [resolve(data, 'status'), resolve(data, 'invitations')];
  return { kind: 'files', manifests, statusDirectory, invitationsDirectory };
}

/** @throws UsageError when the manifests are not in a directory that can be read: who starts all at once would wait for nothing */
export async function requireManifests(command: Parsed['command'], choice: Choice): Promise<void> {
  if (choice.kind !== 'files') return;
  try {
    await (await opendir(choice.manifests)).close();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const known: Record<string, string> = {
      ENOENT: 'there is no such directory',
      ENOTDIR: 'it is a file, and manifests are read from a directory',
      EACCES: 'it may not be read (permission denied)',
    };
    const why = `--manifests ${resolve(choice.manifests)}: ${known[code ?? ''] ?? message}`;
    throw new UsageError(`accord ${command}: ${why}\nusage: ${commands[command].usage}`);
  }
}

export type Operation = {
  operator: Operator;
  source: Source;
  /** Where the manifests are, for people. */
  place: string;
  /** What keeps the operator from working, or from taking over, in sentences. */
  obstacles(): Promise<string[]>;
  isLive(): boolean;
  close(): Promise<void>;
};

type OperationOptions = Pick<OperatorOptions, 'onStatus' | 'onProblems' | 'onWaiting'> & {
  services: Services;
  metrics: OperatorMetrics;
  onInvitation?: NonNullable<InvitationFiles['written']>;
  /** The leadership is lost: ends the process. */
  exit: (why: string) => void;
};

type Parts = {
  source: Source;
  place: string;
  lead: Leadership;
  /** What writes. */
  writing: FencedServices;
  trouble: () => string | undefined;
  isLive: () => boolean;
  close: () => Promise<void>;
};

/** @throws UsageError when the kubeconfig cannot be used */
export async function startOperation(choice: Choice, options: OperationOptions): Promise<Operation> {
  const { services, metrics, onStatus, onProblems, onWaiting, onInvitation: written } = options;
  const parts = choice.kind === 'files' ? await filesParts(choice, services) : await kubernetesParts(choice, options);
  const { source, lead, writing } = parts;
  const operator = startOperator({
    ...{ source, lead, services: writing, database: writing.database },
    ...{ clock: services.clock, observe: services.observe, onWorked: metrics.worked },
    maxStalenessMs: services.config.ACCORD_MAX_STALENESS * 1000,
    ...(choice.kind === 'files'
      ? { invitations: { directory: choice.invitationsDirectory, ...(written ? { written } : {}) } }
      : {}),
    ...(onStatus ? { onStatus } : {}),
    ...(onProblems ? { onProblems } : {}),
    ...(onWaiting ? { onWaiting } : {}),
  });
  metrics.follow(() => operator.state());
  const databaseObstacle = databaseProbe(services);
  return {
    ...{ operator, source, place: parts.place, isLive: parts.isLive },
    async obstacles() {
      const trouble = parts.trouble();
      const gaps = kindNames.filter((kind) => !source.complete(kind));
      const problems = gaps.length === 0 ? [] : source.problems().map(describeProblem);
      return [
        ...(await databaseObstacle()),
        ...(trouble === undefined ? [] : [trouble]),
        ...(gaps.length === 0 ? [] : [`These kinds could not be listed completely: ${gaps.join(', ')}.`, ...problems]),
      ];
    },
    async close() {
      await operator.close();
      await parts.close();
    },
  };
}

async function filesParts(
  { manifests, statusDirectory }: Extract<Choice, { kind: 'files' }>,
  services: Services,
): Promise<Parts> {
  const { database, clock, observe } = services;
  const lock = new LockLeadership({ database, source: 'files', observe });
  return {
    source: new FileSource({ directory: manifests, statusDirectory, clock, observe }),
    place: relative(process.cwd(), manifests) || '.',
    lead: lock.lead,
    // A refusal needs no answer: the lock's own connection tells that it is lost.
    writing: await services.fenced({ term: () => lock.term(), refused: () => {} }),
    trouble: () => undefined,
    isLive: () => true,
    close: async () => {},
  };
}

async function kubernetesParts(
  { kubeconfig, adopt }: Extract<Choice, { kind: 'kubernetes' }>,
  { services, exit }: OperationOptions,
): Promise<Parts> {
  const { KubernetesSource } = await import('../operator/kubernetes/source.ts');
  const { LeaseLeadership } = await import('../operator/kubernetes/lease.ts');
  const { LEASE_NAME } = await import('../operator/kubernetes/lease-object.ts');
  const { config, database, clock, observe } = services;
  const api = await loadApi(kubeconfig, services);
  // Connections of its own: a renewal must not wait behind writes that hang.
  const leaseApi = await loadApi(kubeconfig, services);
  const lease = new LeaseLeadership({
    ...{ api: leaseApi, name: LEASE_NAME, namespace: config.ACCORD_LEASE_NAMESPACE ?? api.namespace },
    ...{ identity: `${hostname()}_${randomUUID()}`, database, source: 'kubernetes', adopt, clock, observe, exit },
  });
  return {
    source: new KubernetesSource({ api, clock, observe }),
    place: api.server,
    lead: lease.lead,
    writing: await services.fenced({ term: () => lease.term(), refused: (error) => lease.refused(error) }),
    trouble: () => lease.trouble,
    isLive: () => !lease.isOver,
    close: async () => {
      await Promise.all([api.close(), leaseApi.close()]);
    },
  };
}

/** @throws UsageError */
export async function loadApi(kubeconfig: string | undefined, { clock, observe }: Pick<Services, 'clock' | 'observe'>) {
  const { KubernetesApi } = await import('../operator/kubernetes/api.ts');
  try {
    return await KubernetesApi.load({ kubeconfig, clock, observe });
  } catch (error) {
    throw new UsageError(`accord: ${(error as Error).message}`);
  }
}

/** A probe gives up after a second by default. */
const DATABASE_PROBE_MS = 800;

/** Probes that come at once share a question: anybody may probe, and the operator works on these two connections. */
function databaseProbe({ database }: Services): () => Promise<string[]> {
  let asked: Promise<string[]> | undefined;
  return async () => {
    asked ??= database
      .system(async () => [])
      .catch((error: Error) => [`The database does not answer: ${error.message}`])
      .finally(() => {
        asked = undefined;
      });
    const timer = new AbortController();
    const silent = sleep(DATABASE_PROBE_MS, ['The database does not answer.'], { signal: timer.signal }).catch(
      () => [],
    );
    return Promise.race([asked, silent]).finally(() => timer.abort());
  };
}
