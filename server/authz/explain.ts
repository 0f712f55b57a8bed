/**
 * Explaining: the same question put to a second compilation of the policy that also tells which rules held. It is
 * compiled when first asked and runs apart from the main thread; decisions do not pay for it.
 */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import type { DataSubjects } from '../../crds/data-subjects.ts';
import type { Database } from '../core/db/database.ts';
import { KeyedSemaphore } from '../core/keyed-semaphore.ts';
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problems.ts';
import { type Denial, type Facts, noFacts, type PolicyInput } from '../facts/index.ts';
import {
  type Artifacts,
  type Dependencies,
  type DocumentText,
  type Engine,
  failures,
  findPolicy,
  type PartSet,
  type PolicyGraph,
  type PolicyTest,
  policyProblem,
  type Run,
  resolveDependencies,
  textsOf,
} from '../policies/index.ts';
import { type RelationshipsRead, relationshipsRead, type TracedSource, type WhyNot } from '../rego/index.ts';
import type { Reads } from '../rego/schema.ts';
import { type Decision, decisionOf } from './decide.ts';
import type { MissingConsent } from './missing-consents.ts';
import type { MissingPath } from './missing-paths.ts';

export type Explanation = {
  /** Absent where the question names none. */
  policy?: string;
  /** The policy's revision number; absent for a draft. */
  revision?: number;
  /** What the policy was given. */
  input: Partial<PolicyInput> | Record<string, unknown>;
  facts: Facts;
  /** The rules named outcome, reason or obligations that held: 1-based line and its text. */
  rules: { line: number; text: string }[];
  /** The libraries and data documents that it uses, with their revisions. */
  libraries?: { package: string; revision: number }[];
  data?: { path: string; revision: number }[];
  /** How much of input.graph it reads; absent for a draft. */
  relationships?: RelationshipsRead;
  /** Of the consents that the policy names, those that data subjects lack. */
  missingConsents?: MissingConsent[];
  /** Of relationships that whyNot tells as missing, and that may be inherited: the paths, and where each is broken. */
  missingPaths?: MissingPath[];
  /** For a drawn policy whose evaluation did not fail: the ids of the nodes from start to outcome. */
  path?: string[];
  /** Of a deny: for each rule that could have allowed, the first condition that did not hold. */
  whyNot?: WhyNot;
  /** Why a deny has no whyNot. */
  whyNotUnavailable?: string;
  /** Set when no rule of the policy said the answer. */
  failure?: { reason: string; detail: string };
  timeUs: number;
};

/** `text`: the source and those of its libraries, in which what they name is looked up. */
type Explained = { decision: Decision; explain: Explanation; text: string };

export type Source = {
  name: string;
  number?: number;
  effectiveRego: string;
  graph?: PolicyGraph;
  reads?: Reads;
  /** The libraries and documents that there were. Absent: those of now. */
  parts?: PartSet;
};
/** `reads`: of this very revision, which may be newer than the snapshot's. */
export type ReadSource = Source & { reads: Reads; dataSubjects?: DataSubjects };
type StoredSource = ReadSource & { tests: readonly PolicyTest[] };

/** With the texts of the documents. */
type DependencyTexts = Dependencies & { documents: DocumentText[] };
type Program = { key: string; documents: DocumentText[] };

/** Explaining programs by key, as many as there is room for. */
export function explainingPrograms(): LRUCache<string, Uint8Array> {
  return new LRUCache({ maxSize: limits.explainingWasmBytesMax, sizeCalculation: ({ byteLength }) => byteLength });
}

export class Explainer {
  readonly #services: { artifacts: Artifacts; engine: Engine; database: Database };
  readonly #compiled = explainingPrograms();
  /** False for a source that cannot be traced. */
  readonly #traced = new LRUCache<string, TracedSource | false>({
    maxSize: limits.explainingWasmBytesMax,
    sizeCalculation: (traced) => 1 + (traced ? 2 * (traced.plan.length + traced.source.length) : 0),
  });

  /** Each holds the documents of its policy until it is answered. */
  readonly #inside = new KeyedSemaphore(limits.explainedPerTenantMax);

  constructor(services: { artifacts: Artifacts; engine: Engine; database: Database }) {
    this.#services = services;
  }

  /** Runs what reads the documents of a policy when few of the tenant do. @throws Problem evaluator_busy */
  async inTurn<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    if (this.#inside.waiting(tenant) >= limits.isolatedPatientPerTenantMax) throw policyProblem('evaluator_busy');
    return this.#inside.run(tenant, work);
  }

  /** The stored source of a policy; undefined when there is none. */
  async source(tenant: string, name: string): Promise<StoredSource | undefined> {
    const row = await findPolicy(this.#services.database, tenant, name);
    if (row === undefined) return undefined;
    const { number, effective_rego: effectiveRego, reads, graph, tests, data_subjects: dataSubjects } = row;
    return {
      ...{ name, number, effectiveRego, reads, tests: tests ?? [] },
      ...(graph ? { graph } : {}),
      ...(dataSubjects ? { dataSubjects } : {}),
    };
  }

  /**
   * Answers and explains.
   * @param about the instant of the request, ms, and the type of the actors that have consents
   * @throws Problem policy_does_not_compile for a draft; compiler_busy, evaluator_busy, not_ready
   */
  explain(
    tenant: string,
    source: Source,
    input: Explanation['input'],
    facts: Facts,
    { now, consentingType }: { now: number; consentingType: string },
  ): Promise<Explained> {
    return this.inTurn(tenant, () => this.#explain(tenant, source, { input, facts, now, consentingType }));
  }

  async #explain(
    tenant: string,
    source: Source,
    { input, facts, ...about }: { input: Explanation['input']; facts: Facts; now: number; consentingType: string },
  ): Promise<Explained> {
    const started = performance.now();
    const { name, number, effectiveRego, graph, reads } = source;
    const dependencies = await this.dependencies(tenant, source);
    const program = await this.program(tenant, effectiveRego, dependencies);
    const run = await this.#services.engine.evaluateIsolated(tenant, {
      ...{ ...program, input, ...about },
      ...(graph ? { graph } : {}),
    });
    const decision = decisionOf(run);
    const denied = run.ok && decision.answer.outcome === 'deny' && isSaid(decision);
    const whyNot = denied
      ? await this.#whyNot(tenant, { source, dependencies }, run, { decision, input, ...about })
      : {};
    const explain: Explanation = {
      policy: name,
      ...(number === undefined ? {} : { revision: number }),
      input,
      facts,
      ...usedIn(dependencies),
      ...(reads === undefined ? {} : { relationships: relationshipsRead(reads) }),
      rules: run.ok ? heldRules(run.result, effectiveRego) : [],
      ...(run.ok && run.path ? { path: run.path } : {}),
      ...whyNot,
      ...(decision.failure ? { failure: decision.failure } : {}),
      timeUs: Math.round((performance.now() - started) * 1000),
    };
    const text = [effectiveRego, ...(await dependencies.libraries()).map((one) => one.source)].join('\n');
    return { decision, explain, text };
  }

  /** How far each rule got, by a second evaluation that remembers it; of a drawn policy the first one told it. */
  async #whyNot(
    tenant: string,
    { source: { effectiveRego, graph }, dependencies }: { source: Source; dependencies: DependencyTexts },
    run: Extract<Run, { ok: true }>,
    { decision, ...asked }: { decision: Decision; input: unknown; now: number; consentingType: string },
  ): Promise<Pick<Explanation, 'whyNot' | 'whyNotUnavailable'>> {
    if (graph !== undefined) return run.whyNot === undefined ? {} : { whyNot: run.whyNot };
    const program = await this.traced(tenant, effectiveRego, dependencies);
    if (program === undefined) return { whyNotUnavailable: 'The policy is too large to be traced.' };
    const { engine } = this.#services;
    const again = await engine.evaluateIsolated(tenant, { ...program, wanted: 'whyNot', ...asked }).catch((error) => {
      // It was lost: what the policy answered is known all the same.
      if (error instanceof Problem && error.code === 'not_ready') return undefined;
      throw error;
    });
    if (!again?.ok || again.told === undefined) return { whyNotUnavailable: 'The traced evaluation failed.' };
    if ('unavailable' in again.told) return { whyNotUnavailable: again.told.unavailable };
    // What it tells must be of the evaluation that answered.
    if (!isDeepStrictEqual(decisionOf(again).answer, decision.answer))
      return { whyNotUnavailable: 'The traced evaluation answered otherwise.' };
    return 'whyNot' in again.told ? { whyNot: again.told.whyNot } : {};
  }

  /** What a source uses. @throws Problem compiler_busy, policy_parts_changing */
  async dependencies(tenant: string, { effectiveRego, parts }: Source): Promise<DependencyTexts> {
    const { artifacts } = this.#services;
    const set = parts ?? (await artifacts.partsOf(tenant));
    const dependencies = await resolveDependencies(artifacts.compiler, tenant, effectiveRego, set);
    return { ...dependencies, documents: await textsOf(dependencies.uses, set) };
  }

  /** A source that tells which rules held. @throws Problem policy_does_not_compile, compiler_busy */
  async program(
    tenant: string,
    source: string,
    dependencies: DependencyTexts,
  ): Promise<Program & { wasm: Uint8Array }> {
    const key = keyOf('explain', tenant, JSON.stringify([dependencies.key, source]));
    const wasm =
      this.#compiled.get(key) ?? (await this.#services.artifacts.compileExplaining(tenant, source, dependencies));
    this.#compiled.set(key, wasm);
    return { key, wasm, documents: dependencies.documents };
  }

  /** A source as it is traced; undefined where it cannot be. @throws Problem policy_does_not_compile, compiler_busy */
  async traced(
    tenant: string,
    source: string,
    dependencies: DependencyTexts,
  ): Promise<(Program & { traced: TracedSource }) | undefined> {
    const key = keyOf('trace', tenant, JSON.stringify([dependencies.key, source]));
    const { artifacts } = this.#services;
    const traced = this.#traced.get(key) ?? (await artifacts.compileTraced(tenant, source, dependencies)) ?? false;
    this.#traced.set(key, traced);
    return traced ? { key, traced, documents: dependencies.documents } : undefined;
  }
}

function usedIn({ uses }: Dependencies): Pick<Explanation, 'libraries' | 'data'> {
  const of = (kind: 'library' | 'data') => uses.filter((one) => one.kind === kind);
  const libraries = of('library').map(({ name, number }) => ({ package: name, revision: number }));
  const data = of('data').map(({ name, number }) => ({ path: name, revision: number }));
  return { ...(libraries.length > 0 ? { libraries } : {}), ...(data.length > 0 ? { data } : {}) };
}

/** Of a question whose policy is not there. @param name absent: it names none */
export function unfound(name: string | undefined): Explanation {
  const reason = name === undefined ? 'no_action' : 'policy_not_found';
  const failure = { reason, detail: failures[reason] };
  const policy = name === undefined ? {} : { policy: name };
  return { ...policy, ...{ input: {}, facts: noFacts, rules: [], failure, timeUs: 0 } };
}

/** Of a question that was denied before its policy was evaluated. */
export function unevaluated({ name, number, reads }: ReadSource, failure: Denial): Explanation {
  return {
    policy: name,
    ...(number === undefined ? {} : { revision: number }),
    ...{ input: {}, facts: noFacts, rules: [], relationships: relationshipsRead(reads), failure, timeUs: 0 },
  };
}

/** Whether the policy denied, or said nothing: not that what it said cannot be used. */
function isSaid({ failure }: Decision): boolean {
  return failure === undefined || failure.reason === 'outcome_undefined';
}

const keyOf = (what: string, tenant: string, source: string) =>
  `${what}/${tenant}/${createHash('sha256').update(source).digest('base64url')}`;

function heldRules(result: unknown, source: string): { line: number; text: string }[] {
  const held = (result as { held?: unknown } | undefined)?.held;
  if (!Array.isArray(held)) return [];
  const lines = source.split('\n');
  return held
    .filter((line): line is number => typeof line === 'number')
    .sort((a, b) => a - b)
    .map((line) => ({ line, text: (lines[line - 1] ?? '').trim() }));
}
