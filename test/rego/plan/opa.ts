/**
 * OPA's own evaluator as an oracle: a Go program (test/conformance/cases/evaluate), and what it answered of the policies that are
 * always drawn (opa-answers.jsonl), so that comparing with it needs no Go.
 */
import { type ChildProcessWithoutNullStreams, execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** What data.t.obligations is: a value, undefined when there is none of all three. */
export type OpaResult = { value?: unknown; error?: string; gaveUp?: true };

export type Opa = {
  /** One result for each input. */
  evaluate(source: string, inputs: readonly unknown[]): Promise<OpaResult[]>;
  close(): void;
};

/** With this seed so many policies are drawn, of which OPA's answers are kept. */
export const KEPT = { seed: 20_261_123, policies: 5 };
export const kept = new URL('./opa-answers.jsonl', import.meta.url);

/** A name of what is asked. A change of what is drawn, or of how, makes another one. */
export const nameOf = (source: string, inputs: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify({ source, inputs })).digest('base64url').slice(0, 16);

export const hasGo = (): boolean => spawnSync('go', ['version']).status === 0;

/** What it answered before. Each line of the file is a name and its results. */
export function keptOpa(): Opa {
  const lines = readFileSync(kept, 'utf8').trimEnd().split('\n');
  const answers = new Map(lines.map((line) => JSON.parse(line) as [string, OpaResult[]]));
  return {
    async evaluate(source, inputs) {
      const results = answers.get(nameOf(source, inputs));
      if (results === undefined)
        throw new Error(
          'other policies are drawn than opa-answers.jsonl has: bash test/rego/plan/renew-opa.sh (needs Go)',
        );
      return results;
    },
    close() {},
  };
}

/** The program itself, which is built when it is first asked. */
export function startOpa(): Opa {
  const cacheDir = process.env.CI_CACHE_DIR ?? join(tmpdir(), 'accord-conformance');
  mkdirSync(cacheDir, { recursive: true });
  const program = join(cacheDir, 'opa-evaluate');
  const cwd = join(import.meta.dirname, '../../conformance/cases');
  const env = { ...process.env, GOFLAGS: '-mod=readonly', CGO_ENABLED: '0' };
  execFileSync('go', ['build', '-trimpath', '-o', program, './evaluate'], { cwd, env, stdio: 'inherit' });
  const child: ChildProcessWithoutNullStreams = spawn(program);
  child.stderr.pipe(process.stderr);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async evaluate(source, inputs) {
      child.stdin.write(`${JSON.stringify({ source, inputs })}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`OPA does not evaluate ${source}`);
      return JSON.parse(value) as OpaResult[];
    },
    close: () => void child.kill(),
  };
}
