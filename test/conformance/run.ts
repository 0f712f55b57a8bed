/**
 * Runs OPA's own conformance cases through our instrumenter and host, and compares with expected.txt: a case that starts
 * or stops passing fails the run, and so does one whose plan (server/rego/plan) disagrees with its Wasm. Needs Go; builds into CI_CACHE_DIR, or a folder of the system's for temporary files.
 * `--update` writes expected.txt, `--plans` why a plan did not run a case, `--show TEXT` prints the cases whose names contain TEXT.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readCases } from './case-stream.ts';
import { readExpected, writeExpected } from './expected.ts';
import { judge, type Verdict } from './judge.ts';
import type { PlanVerdict } from './plan-path.ts';

/** Beyond what an authorization policy may do here: the network, signing, certificates, and GraphQL documents. */
const OUT_OF_SCOPE =
  /^(?:http\.send|net\.lookup_ip_addr|io\.jwt\.encode_sign|crypto\.x509\.|crypto\.parse_private_keys|graphql\.)/;

const { values: options } = parseArgs({
  options: { update: { type: 'boolean' }, plans: { type: 'boolean' }, show: { type: 'string' } },
});
const cacheDir = process.env.CI_CACHE_DIR ?? join(tmpdir(), 'accord-conformance');
const sources = join(import.meta.dirname, 'cases');

function build(): { program: string; opa: string } {
  mkdirSync(cacheDir, { recursive: true });
  const program = join(cacheDir, 'opa-cases');
  const env = { ...process.env, GOFLAGS: '-mod=readonly', CGO_ENABLED: '0' };
  execFileSync('go', ['build', '-trimpath', '-o', program, '.'], { cwd: sources, env, stdio: 'inherit' });
  const list = ['list', '-m', '-f', '{{.Dir}}', 'github.com/open-policy-agent/opa'];
  return { program, opa: execFileSync('go', list, { cwd: sources, env, encoding: 'utf8' }).trim() };
}

type Judged = Verdict & { plan?: PlanVerdict };
type Results = { verdicts: Map<string, Judged>; folders: Map<string, { passed: number; total: number }> };

async function runCases({ program, opa }: { program: string; opa: string }): Promise<Results> {
  const results: Results = { verdicts: new Map(), folders: new Map() };
  const child = spawn(program, [opa], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  for await (const test of readCases(child.stdout)) {
    const verdict = judge(test);
    let key = `${test.version} ${test.note}`;
    for (let i = 2; results.verdicts.has(key); i++) key = `${test.version} ${test.note} #${i}`;
    results.verdicts.set(key, verdict);
    const folder = results.folders.get(test.folder) ?? { passed: 0, total: 0 };
    results.folders.set(test.folder, folder);
    folder.total++;
    if (passes(verdict)) folder.passed++;
    if (options.show && key.includes(options.show))
      console.log(key, verdict, passes(verdict) ? '' : JSON.stringify({ ...test, wasm: 0, plan: 0 }));
    if (process.stderr.isTTY) process.stderr.write(`\r${results.verdicts.size} cases`);
  }
  if ((await exited) !== 0) throw new Error('the program that compiles the cases failed');
  return results;
}

function passes({ outcome }: Verdict): boolean {
  return outcome === 'pass' || outcome === 'undefined';
}

/** Prints each case whose outcome is not the expected one, and returns the counts. */
function compareAll({ verdicts }: Results): { passed: number; failed: number; skipped: number } {
  const expected = readExpected();
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const [key, verdict] of verdicts) {
    const listed = expected.get(key);
    expected.delete(key);
    if (listed === undefined && passes(verdict)) counts.passed++;
    else if (listed?.outcome === verdict.outcome && listed.why !== 'unexplained') counts.skipped++;
    else {
      counts.failed++;
      console.log(
        `${key}: ${verdict.outcome} ${verdict.detail}; expected.txt says ${listed?.outcome ?? 'pass'} ${listed?.why ?? ''}`,
      );
    }
  }
  for (const key of expected.keys()) console.log(`${key}: in expected.txt, but no such case`);
  counts.failed += expected.size;
  return counts;
}

function printTotals({ verdicts, folders }: Results): number {
  const rows = [...folders].sort(([a], [b]) => (a < b ? -1 : 1));
  console.log(rows.map(([folder, { passed, total }]) => `${folder} ${passed}/${total}`).join(', '));
  const tally = new Map<string, number>();
  for (const { outcome } of verdicts.values()) tally.set(outcome, (tally.get(outcome) ?? 0) + 1);
  console.log([...tally].map(([outcome, count]) => `${outcome} ${count}`).join(', '));
  const scoped = [...verdicts.values()].filter((v) => !(v.outcome === 'unsupported' && OUT_OF_SCOPE.test(v.detail)));
  const passed = scoped.filter(passes).length;
  const share = (100 * passed) / scoped.length;
  console.log(
    `${passed} of ${scoped.length} cases pass (${share.toFixed(1)} %) without those that need network, signing, X.509 or GraphQL builtins`,
  );
  return share;
}

/** Prints what the plans did, and returns how many disagree. */
function comparePlans({ verdicts }: Results): number {
  const tally = new Map<string, number>();
  const declined = new Map<string, number>();
  for (const [key, { plan }] of verdicts) {
    if (plan === undefined) continue;
    tally.set(plan.outcome, (tally.get(plan.outcome) ?? 0) + 1);
    if (plan.outcome === 'disagrees') console.log(`${key}: ${plan.detail}`);
    if (plan.outcome === 'declined' || plan.outcome === 'inexact')
      declined.set(`${plan.outcome}: ${plan.detail}`, (declined.get(`${plan.outcome}: ${plan.detail}`) ?? 0) + 1);
  }
  const all = [...tally.values()].reduce((sum, count) => sum + count, 0);
  if (options.plans)
    for (const [why, count] of [...declined].sort((a, b) => b[1] - a[1])) console.log(`${count} ${why}`);
  console.log(
    `plans: of ${all} cases with Wasm ${[...tally].map(([outcome, count]) => `${count} ${outcome}`).join(', ')}`,
  );
  return tally.get('disagrees') ?? 0;
}

const results = await runCases(build());
if (options.update) writeExpected(results.verdicts, readExpected());
const share = printTotals(results);
const counts = compareAll(results);
counts.failed += comparePlans(results);
if (share < 90) {
  console.log('FAILED: the share must be at least 90 %');
  counts.failed++;
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed > 0 ? 1 : 0;
