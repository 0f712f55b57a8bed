/**
 * Replaying: what a draft of a policy would have answered to the decisions that the log has of this policy. A record
 * holds the request and its instant; relationships, attributes and consents are those of now. The evaluations run apart
 * from the main thread, one after another.
 */

import { isDeepStrictEqual } from 'node:util';
import type { DataSubjects } from '../../crds/data-subjects.ts';
import { kindOfCaller } from '../core/auth/name.ts';
import type { Database } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problems.ts';
import { inputFor, needsOf } from '../facts/index.ts';
import {
  type Answer,
  type Artifacts,
  checkStated,
  type DocumentText,
  effectiveRego,
  findPolicy,
  type PolicyBody,
  resolveDependencies,
  textsOf,
} from '../policies/index.ts';
import type { Reads } from '../rego/schema.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import type { AuthzServices } from './actions.ts';
import { decisionOf, denied } from './decide.ts';
import { type DecisionRow, listDecisions } from './store.ts';
import { type Replayed, sameAnswer, Tally, type Unevaluated } from './tally.ts';

export type ReplayServices = AuthzServices & { database: Database; artifacts: Artifacts };

/** `since`: RFC 3339 in UTC. */
type Replay = { name: string; draft: PolicyBody; since: string; limit: number };

/** A policy as it is evaluated here. */
type Runnable = {
  digest: string;
  reads: Reads;
  dataSubjects?: DataSubjects;
  wasm: Uint8Array;
  documents: DocumentText[];
};

/** How many records are read together: one may have 320 KiB. */
const PART = 50;

/**
 * Replays the newest records since an instant, and says what would change.
 * @param signal ends it: the client has disconnected
 * @throws Problem policy_name_invalid, policy_without_source, policy_graph_invalid, policy_does_not_compile; compiler_busy,
 *   evaluator_busy
 */
export async function replay(
  services: ReplayServices,
  snapshot: TenantSnapshot,
  { name, draft, since, limit }: Replay,
  signal: AbortSignal,
): Promise<Replayed> {
  const { tenant } = snapshot;
  const candidate = await runnableDraft(services, tenant, draft);
  const stored = await runnableStored(services, tenant, name, candidate);
  const started = services.clock.monotonic();
  const isOver = () => signal.aborted || services.clock.monotonic() - started > limits.replayMsMax;
  const decisionLog = snapshot.spec.decisionLog?.mode ?? 'off';
  const told = (complete: boolean) => tally.told({ policy: name, complete, decisionLog });
  const tally = new Tally();
  for await (const rows of pagesOf(services.database, tenant, { action: name, start: since, limit: limit + 1 })) {
    for (const row of rows) {
      if (tally.records === limit || isOver()) return told(false);
      await replayOne(services, snapshot, { row, candidate, stored }, tally);
    }
  }
  return told(true);
}

async function replayOne(
  services: ReplayServices,
  snapshot: TenantSnapshot,
  { row, candidate, stored }: { row: DecisionRow; candidate: Runnable; stored: Runnable | undefined },
  tally: Tally,
): Promise<void> {
  const after = await answerOf(services, snapshot, candidate, row);
  if ('unevaluated' in after) return tally.missed(after.unevaluated, row.at);
  if (sameAnswer(row.answer, after)) return tally.same(row.at);
  // Whether the draft makes the difference, or what has changed since.
  const now = stored && (stored === candidate ? after : await answerOf(services, snapshot, stored, row));
  tally.differs(row, after, now === undefined || 'unevaluated' in now ? undefined : now);
}

async function answerOf(
  services: ReplayServices,
  snapshot: TenantSnapshot,
  policy: Runnable,
  { action, request, at, caller }: DecisionRow,
): Promise<Answer | { unevaluated: Unevaluated }> {
  const { digest, wasm, documents } = policy;
  const { tenant } = snapshot;
  const needs = needsOf(policy);
  const { context, invitation } = needs.input;
  if (request.context?.requestToken !== undefined && (context || invitation))
    return { unevaluated: 'invitation_not_kept' };
  if (/:invitation:\w+$/.test(action ?? '') && invitation) return { unevaluated: 'invitation_not_kept' };
  const evaluation = { tenant, request, now: services.clock.now(), caller: kindOfCaller(caller) };
  const facts = await services.facts.gather(snapshot, evaluation, needs);
  if (facts.denial !== undefined) return denied(facts.denial).answer;
  const now = Date.parse(at);
  const input = inputFor(needs, { ...evaluation, now }, facts);
  try {
    const evaluation = { key: `${tenant}/${digest}`, wasm, documents, input, now };
    return decisionOf(await services.engine.evaluateIsolated(tenant, evaluation)).answer;
  } catch (error) {
    if (error instanceof Problem && error.code === 'not_ready') return { unevaluated: 'evaluator_lost' };
    throw error;
  }
}

/** @throws Problem as putPolicy does */
async function runnableDraft(services: ReplayServices, tenant: string, draft: PolicyBody): Promise<Runnable> {
  const { artifacts } = services;
  const source = effectiveRego(draft);
  const { digest, about, code, uses, set } = await artifacts.compile(tenant, source, draft.graph ? 'graph' : 'rego');
  const found = code ?? (await artifacts.fetch(tenant, digest));
  if (found === undefined) throw new Error('the artifact of a draft is gone');
  await checkStated(draft.dataSubjects, about.reads, { source, uses, set });
  const { dataSubjects } = draft;
  const documents = await textsOf(uses, set);
  const more = dataSubjects ? { dataSubjects } : {};
  return { digest, reads: about.reads, wasm: shared(found.wasm), documents, ...more };
}

/** The policy as it is stored, which may be the draft; undefined when there is none. */
async function runnableStored(
  services: ReplayServices,
  tenant: string,
  name: string,
  draft: Runnable,
): Promise<Runnable | undefined> {
  const row = await findPolicy(services.database, tenant, name);
  if (row === undefined) return undefined;
  if (row.artifact === draft.digest && isDeepStrictEqual(row.data_subjects ?? undefined, draft.dataSubjects))
    return draft;
  const code = await services.artifacts.fetch(tenant, row.artifact);
  const set = await services.artifacts.partsOf(tenant);
  const { uses } = await resolveDependencies(services.artifacts.compiler, tenant, row.effective_rego, set);
  const documents = await textsOf(uses, set);
  return (
    code && {
      documents,
      digest: row.artifact,
      reads: row.reads,
      wasm: shared(code.wasm),
      ...(row.data_subjects ? { dataSubjects: row.data_subjects } : {}),
    }
  );
}

/** In memory that is not copied for each message to the worker: a policy may have 16 MiB. */
function shared(wasm: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(new SharedArrayBuffer(wasm.byteLength));
  bytes.set(wasm);
  return bytes;
}

async function* pagesOf(
  database: Database,
  tenant: string,
  { limit, ...filter }: { action: string; start: string; limit: number },
): AsyncGenerator<DecisionRow[]> {
  let before: { at: string; id: string } | undefined;
  for (let left = limit; left > 0; left -= PART) {
    const page = { ...filter, ...(before ? { before } : {}), limit: Math.min(PART, left) };
    const rows = await database.tenantSnapshot(tenant, (tx) => listDecisions(tx, tenant, page));
    yield rows;
    before = rows.at(-1);
    if (rows.length < PART) return;
  }
}
