/**
 * Measures one decision in this process (authorize(): snapshot, input, plan within its budget, reading the answer,
 * metrics), and the evaluation of its plan alone with the whole input, against a bare @open-policy-agent/opa-wasm evaluation of the same policy with the whole input: as the OPA
 * compiler made it (plain), and with our fuel counter in it (same Wasm).
 */
import { loadPolicy } from '@open-policy-agent/opa-wasm';
import { authorize, type DecisionContext } from '../server/authz/actions.ts';
import type { FactsSource } from '../server/facts/index.ts';
import { putPolicy } from '../server/policies/index.ts';
import { Evaluator } from '../server/rego/index.ts';
import type { TenantSnapshot } from '../server/snapshot/index.ts';
import { compilePlain } from './compile-plain.ts';
import { createInstallation, pinToCore1, writer } from './installation.ts';
import { overRelationships, question, relationships, twentyRules } from './policies.ts';
import { median, noise, table, target } from './report.ts';

const ROUNDS = 120;
const ROUND_MS = 12;

pinToCore1();
const installation = await createInstallation({ durable: false });
const { services } = installation;
await installation.tenant('bench');
type Bare = { evaluate(input: unknown): unknown; refill(): void };

async function bare(wasm: Uint8Array): Promise<Bare> {
  const policy = await loadPolicy(wasm as Uint8Array<ArrayBuffer>, { initial: 5, maximum: 256 });
  const { fuel } = (policy as unknown as { wasmInstance: { exports: { fuel?: { value: number } } } }).wasmInstance
    .exports;
  return {
    evaluate: (input) => policy.evaluate(input),
    refill: () => {
      if (fuel) fuel.value = 0x7fffffff;
    },
  };
}

/** µs of one call, over about ROUND_MS. */
async function time(calls: number, once: (i: number) => unknown): Promise<number> {
  const started = performance.now();
  for (let i = 0; i < calls; i++) {
    const result = once(i);
    if (result instanceof Promise) await result;
  }
  return ((performance.now() - started) * 1000) / calls;
}

async function measure(name: string, source: string, facts: FactsSource, related: number) {
  const { result } = await putPolicy(services.policies, writer, 'bench', name, { rego: source });
  await services.snapshots.refresh('bench');
  const snapshot = services.snapshots.served('bench')?.snapshot as TenantSnapshot;
  const artifact = snapshot.policies.get(name)?.artifact as string;
  const code = await services.policies.artifacts.fetch('bench', artifact);
  if (result.number !== 1 || code === undefined) throw new Error('not stored');
  const caller = { kind: 'backend', tenant: 'bench', clientId: 'c', scopes: new Set(['authz:evaluate']), issuer: '' };
  const asked = { snapshot, caller, requestId: 'r' } as DecisionContext;
  const authz = { ...services.authz, facts };
  const questions = Array.from({ length: 60 }, (_, i) => question(i, name));
  const inputs = questions.map((one) => ({
    ...one,
    ...{ tenant: 'bench', time: '2026-01-01T00:00:00.000Z', consents: [] },
    graph: { subject: relationships(related), resource: [] },
  }));
  const plain = await bare(compilePlain(source));
  const same = await bare(code.wasm);
  const evaluator = new Evaluator(code);
  if (!evaluator.runsPlan) throw new Error('the policy has no plan');
  const ways = {
    ours: (i: number) => authorize(authz, asked, questions[i % 60] as (typeof questions)[0]),
    plain: (i: number) => plain.evaluate(inputs[i % 60]),
    same: (i: number) => {
      if (i % 500 === 0) same.refill();
      return same.evaluate(inputs[i % 60]);
    },
    plan: (i: number) => evaluator.evaluate(inputs[i % 60], { now: 0n }),
  };
  await agree(questions.length, ways);
  const calls = Math.max(50, Math.round((ROUND_MS * 1000) / (await time(3000, ways.plain))));
  const us: Record<keyof typeof ways, number[]> = { ours: [], plain: [], same: [], plan: [] };
  for (const way of ['ours', 'same', 'plan'] as const) await time(3000, ways[way]);
  for (let round = 0; round < ROUNDS; round++) {
    for (const way of ['ours', 'plain', 'same', 'plan'] as const) us[way].push(await time(calls, ways[way]));
  }
  return us;
}

async function agree(count: number, ways: { ours(i: number): unknown; plain(i: number): unknown }) {
  const answers = new Set<unknown>();
  for (let i = 0; i < count; i++) {
    const { answer } = (await ways.ours(i)) as { answer: { outcome: unknown } };
    const [bound] = ways.plain(i) as { result: { outcome: unknown } }[];
    if (answer.outcome !== bound?.result.outcome) throw new Error(`question ${i}: the two disagree`);
    answers.add(answer.outcome);
  }
  if (!answers.has('deny')) throw new Error('the questions are all answered alike');
}

const facts = { graph: { subject: relationships(100), resource: [] }, consents: [] };
const gather = async () => facts;
const none: FactsSource = { gather: async () => ({ graph: { subject: [], resource: [] }, consents: [] }) };
const cases = [
  ['20 rules', await measure('document:read', twentyRules, none, 0)],
  ['100 relationships', await measure('car:drive', overRelationships, { gather }, 100)],
] as const;
await installation.close();

const best = (values: number[]) => Math.min(...values);
table(
  [
    ...['decision, µs best (median)', 'ours', 'bare plan', 'opa-wasm, plain', 'opa-wasm, same Wasm'],
    ...['ours / plain', 'ours / same', 'plan / plain'],
  ],
  cases.map(([name, us]) => [
    name,
    ...[us.ours, us.plan, us.plain, us.same].map(
      (values) => `${best(values).toFixed(1)} (${median(values).toFixed(1)})`,
    ),
    ratio(us.ours, us.plain).toFixed(2),
    ratio(us.ours, us.same).toFixed(2),
    ratio(us.plan, us.plain).toFixed(2),
  ]),
);
for (const [name, us] of cases) {
  const overhead = ratio(us.ours, us.plain);
  target(`decision, ${name}`, '≤ 1.30 of plain opa-wasm', overhead.toFixed(2), overhead <= 1.3);
  const bare = ratio(us.plan, us.plain);
  target(`plan, ${name}`, '≤ 0.70 of plain opa-wasm', bare.toFixed(2), bare <= 0.7);
  console.log(`  ${noise(us.ours.map((value, i) => value / (us.plain[i] as number)))}`);
}

/** Median of the rounds' own ratios: the rounds are interleaved, so what disturbs one disturbs its neighbour. */
function ratio(a: number[], b: number[]): number {
  return median(a.map((value, i) => value / (b[i] as number)));
}
