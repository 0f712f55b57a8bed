/**
 * Starts an operator on the source that the command line names, and says what keeps it from its work. What
 * Kubernetes needs is loaded when it is asked for: it costs 80 MiB and a second.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { relative } from 'node:path';
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
import { UsageError } from './arguments.ts';
import type { Choice } from './choice.ts';
import { describeProblem } from './report.ts';

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
      ? {
          invitations: { directory: choice.invitationsDirectory, ...(written ? { written } : {}) },
          secretFiles: choice.secretsDirectory,
        }
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
