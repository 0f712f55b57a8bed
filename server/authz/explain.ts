/**
 * Owns explaining: the same question put to a second compilation of the policy that also tells which rules held. It is
 * compiled when first asked and runs apart from the main thread; decisions do not pay for it.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Database } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import type { Facts, PolicyInput } from '../facts/index.ts';
import { type Artifacts, type Engine, type PolicyGraph, requirePolicy } from '../policies/index.ts';
import { type RelationshipsRead, relationshipsRead } from '../rego/index.ts';
import type { Reads } from '../rego/schema.ts';
import { type Decision, decisionOf } from './decide.ts';

export type Explanation = {
  policy: string;
  /** The policy's revision number; absent for a draft. */
  revision?: number;
  /** What the policy was given. */
  input: Partial<PolicyInput> | Record<string, unknown>;
  facts: Facts;
  /** The rules named outcome, reason or obligations that held: 1-based line and its text. */
  rules: { line: number; text: string }[];
  /** How much of input.graph it reads; absent for a draft. */
  relationships?: RelationshipsRead;
  /** For a drawn policy whose evaluation did not fail: the ids of the nodes from start to outcome. */
  path?: string[];
  /** Set when no rule of the policy said the answer. */
  failure?: { reason: string; detail: string };
  timeUs: number;
};

type Source = { name: string; number?: number; effectiveRego: string; graph?: PolicyGraph; reads?: Reads };
/** `reads`: of this very revision, which may be newer than the snapshot's. */
type StoredSource = Source & { reads: Reads };

/** Explaining programs by key, as many as there is room for. */
export function explainingPrograms(): LRUCache<string, Uint8Array> {
  return new LRUCache({ maxSize: limits.explainingWasmBytesMax, sizeCalculation: ({ byteLength }) => byteLength });
}

export class Explainer {
  readonly #services: { artifacts: Artifacts; engine: Engine; database: Database };
  readonly #compiled = explainingPrograms();

  constructor(services: { artifacts: Artifacts; engine: Engine; database: Database }) {
    this.#services = services;
  }

  /** The stored source of a policy. @throws Problem policy_not_found */
  async source(tenant: string, name: string): Promise<StoredSource> {
    const row = await this.#services.database.read(tenant, (tx) => requirePolicy(tx, tenant, name));
    const { number, effective_rego: effectiveRego, reads, graph } = row;
    return { name, number, effectiveRego, reads, ...(graph ? { graph } : {}) };
  }

  /**
   * Answers and explains.
   * @param now the instant of the request, ms
   * @throws Problem policy_does_not_compile for a draft; compiler_busy, evaluator_busy, not_ready
   */
  async explain(
    tenant: string,
    source: Source,
    input: Explanation['input'],
    facts: Facts,
    now: number,
  ): Promise<{ decision: Decision; explain: Explanation }> {
    const started = performance.now();
    const { name, number, effectiveRego, graph, reads } = source;
    const key = `explain/${tenant}/${createHash('sha256').update(effectiveRego).digest('base64url')}`;
    let wasm = this.#compiled.get(key);
    if (wasm === undefined) {
      wasm = await this.#services.artifacts.compileExplaining(tenant, effectiveRego);
      this.#compiled.set(key, wasm);
    }
    const run = await this.#services.engine.evaluateIsolated(tenant, {
      key,
      wasm,
      input,
      now,
      ...(graph ? { graph } : {}),
    });
    const decision = decisionOf(run);
    const explain: Explanation = {
      policy: name,
      ...(number === undefined ? {} : { revision: number }),
      input,
      facts,
      ...(reads === undefined ? {} : { relationships: relationshipsRead(reads) }),
      rules: run.ok ? heldRules(run.result, effectiveRego) : [],
      ...(run.ok && run.path ? { path: run.path } : {}),
      ...(decision.failure ? { failure: decision.failure } : {}),
      timeUs: Math.round((performance.now() - started) * 1000),
    };
    return { decision, explain };
  }
}

function heldRules(result: unknown, source: string): { line: number; text: string }[] {
  const held = (result as { held?: unknown } | undefined)?.held;
  if (!Array.isArray(held)) return [];
  const lines = source.split('\n');
  return held
    .filter((line): line is number => typeof line === 'number')
    .sort((a, b) => a - b)
    .map((line) => ({ line, text: (lines[line - 1] ?? '').trim() }));
}
