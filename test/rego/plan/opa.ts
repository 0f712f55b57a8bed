/** OPA's own evaluator as an oracle: a Go program (test/conformance/cases/evaluate) that is built when it is first asked. */
import { type ChildProcessWithoutNullStreams, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** What data.t.obligations is: a value, undefined when there is none of all three. */
export type OpaResult = { value?: unknown; error?: string; gaveUp?: true };

export const hasGo = spawnSync('go', ['version']).status === 0;

export class Opa {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;

  constructor() {
    const cacheDir = process.env.CI_CACHE_DIR ?? join(tmpdir(), 'accord-conformance');
    mkdirSync(cacheDir, { recursive: true });
    const program = join(cacheDir, 'opa-evaluate');
    const cwd = new URL('../../conformance/cases', import.meta.url).pathname;
    const env = { ...process.env, GOFLAGS: '-mod=readonly', CGO_ENABLED: '0' };
    execFileSync('go', ['build', '-trimpath', '-o', program, './evaluate'], { cwd, env, stdio: 'inherit' });
    this.#child = spawn(program);
    this.#child.stderr.pipe(process.stderr);
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** One result for each input. */
  async evaluate(source: string, inputs: readonly unknown[]): Promise<OpaResult[]> {
    this.#child.stdin.write(`${JSON.stringify({ source, inputs })}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`OPA does not evaluate ${source}`);
    return JSON.parse(value) as OpaResult[];
  }

  close(): void {
    this.#child.kill();
  }
}
