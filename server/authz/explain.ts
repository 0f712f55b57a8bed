/**
 * Owns explaining: the same question put to a second compilation of the policy that also tells which rules held. It is
 * compiled when first asked and runs apart from the main thread; decisions do not pay for it.
 */
import { LRUCache } from 'lru-cache';
import type { Database } from '../core/db/database.ts';
import type { Facts } from '../facts/index.ts';
import {
  type Answer,
  type Artifacts,
  type Engine,
  interpretGraph,
  type PolicyGraph,
  requirePolicy,
} from '../policies/index.ts';
import { decisionOf } from './decide.ts';
import type { PolicyInput } from './input.ts';

export type Explanation = {
  policy: string;
  /** The policy's revision number; absent for a draft. */
  revision?: number;
  /** What the policy was given. */
  input: Partial<PolicyInput> | Record<string, unknown>;
  facts: Facts;
  /** The rules named outcome, reason or obligations that held: 1-based line and its text. */
  rules: { line: number; text: string }[];
  /** For a drawn policy: the ids of the nodes from start to outcome. */
  path?: string[];
  /** Set when no rule of the policy said the answer. */
  failure?: { reason: string; detail: string };
  timeUs: number;
};

export type Source = { name: string; number?: number; effectiveRego: string; graph?: PolicyGraph };

export class Explainer {
  readonly #services: { artifacts: Artifacts; engine: Engine; database: Database };
  readonly #compiled = new LRUCache<string, Uint8Array>({ max: 64 });

  constructor(services: { artifacts: Artifacts; engine: Engine; database: Database }) {
    this.#services = services;
  }

  /** The stored source of a policy. @throws Problem policy_not_found */
  async source(tenant: string, name: string): Promise<Source> {
    const row = await this.#services.database.tenant(tenant, (tx) => requirePolicy(tx, tenant, name));
    return { name, number: row.number, effectiveRego: row.effective_rego, ...(row.graph ? { graph: row.graph } : {}) };
  }

  /** Answers and explains. @throws Problem policy_does_not_compile for a draft */
  async explain(
    tenant: string,
    source: Source,
    input: Explanation['input'],
    facts: Facts,
    now: number,
  ): Promise<{ answer: Answer; explain: Explanation }> {
    const started = performance.now();
    const key = `explain/${tenant}/${source.effectiveRego}`;
    let wasm = this.#compiled.get(key);
    if (wasm === undefined) {
      wasm = await this.#services.artifacts.compileExplaining(tenant, source.effectiveRego);
      this.#compiled.set(key, wasm);
    }
    const run = await this.#services.engine.runApart(tenant, key, wasm, input, now);
    const { answer, failure } = decisionOf(run);
    const explain: Explanation = {
      policy: source.name,
      ...(source.number === undefined ? {} : { revision: source.number }),
      input,
      facts,
      rules: run.ok ? heldRules(run.result, source.effectiveRego) : [],
      ...(source.graph ? { path: interpretGraph(source.graph, input).path } : {}),
      ...(failure ? { failure } : {}),
      timeUs: Math.round((performance.now() - started) * 1000),
    };
    return { answer, explain };
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
