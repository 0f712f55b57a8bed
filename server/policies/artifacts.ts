/**
 * Compiled policies: made once for each (source, compiler, builtins), kept in Postgres, fetched when first used.
 * A digest identifies the bytes' origin, so a policy that is restored, or written by a second writer, is not compiled again.
 */
import { createHash } from 'node:crypto';
import type { Database } from '../core/db/database.ts';
import type { Observe } from '../core/observe.ts';
import { type ProblemPlace, problem } from '../core/problems.ts';
import {
  type Code,
  type Compiled,
  type Compiler,
  hostBuiltinNames,
  type PackedCode,
  type RegoError,
  type TracedSource,
  unpackCode,
} from '../rego/index.ts';
import { policyProblem } from './problems.ts';
import type { ArtifactAbout } from './schema.ts';
import { readArtifact, readArtifactAbout, touchArtifact } from './store.ts';

export type CompiledPolicy = {
  digest: string;
  about: ArtifactAbout;
  /** Absent when the artifact is already stored for the tenant. */
  code?: Code;
};

type ArtifactServices = { database: Database; compiler: Compiler; observe: Observe };

export class Artifacts {
  readonly #services: ArtifactServices;
  readonly #builtins = hostBuiltinNames.join(',');

  constructor(services: ArtifactServices) {
    this.#services = services;
  }

  /**
   * Compiles a source for a tenant, or finds that it was compiled before.
   * @throws Problem policy_does_not_compile with line and column; compiler_busy
   */
  async compile(tenant: string, source: string, of: 'rego' | 'graph' = 'rego'): Promise<CompiledPolicy> {
    const { compiler, observe } = this.#services;
    const started = performance.now();
    const digest = createHash('sha256').update(`${compiler.version}\n${this.#builtins}\n${source}`).digest('base64url');
    const stored = await this.#find(tenant, digest);
    if (stored !== undefined) {
      observe({ kind: 'policy_compiled', tenant, ok: true, ms: performance.now() - started, cached: true });
      return { digest, about: stored };
    }
    const result = await compileSource(compiler, tenant, source, { of }).catch((error) => {
      observe({ kind: 'policy_compiled', tenant, ok: false, ms: performance.now() - started, cached: false });
      throw error;
    });
    observe({ kind: 'policy_compiled', tenant, ok: true, ms: performance.now() - started, cached: false });
    const about = { reads: result.reads, syntax: result.syntax, package: result.package, compiler: compiler.version };
    return { digest, about, code: result };
  }

  async #find(tenant: string, digest: string): Promise<ArtifactAbout | undefined> {
    const { database } = this.#services;
    const found = await database.read(tenant, (tx) => readArtifactAbout(tx, tenant, digest));
    const isKept = !found?.old || (await database.tenant(tenant, (tx) => touchArtifact(tx, tenant, digest)));
    return isKept ? found?.about : undefined;
  }

  /** The variant that also tells which rules held; never stored. */
  async compileExplaining(tenant: string, source: string): Promise<Uint8Array> {
    return (await compileSource(this.#services.compiler, tenant, source, { explain: true })).wasm;
  }

  /** What tells how evaluations of a source go; undefined when it has no plan that is run. Never stored. */
  async compileTraced(tenant: string, source: string): Promise<TracedSource | undefined> {
    const { plan, outline } = await compileSource(this.#services.compiler, tenant, source, { trace: true });
    return plan === undefined || outline === undefined ? undefined : { plan, source, outline };
  }

  /** A stored artifact as it is stored; undefined when it is gone (the policy was replaced meanwhile). */
  fetchPacked(tenant: string, digest: string): Promise<PackedCode | undefined> {
    return this.#services.database.read(tenant, (tx) => readArtifact(tx, tenant, digest));
  }

  /** The code of a stored artifact; undefined when it is gone. */
  async fetch(tenant: string, digest: string): Promise<Code | undefined> {
    const row = await this.fetchPacked(tenant, digest);
    return row && unpackCode(row);
  }
}

/**
 * Compiles a source and nothing else.
 * @throws Problem policy_does_not_compile with line and column; compiler_busy
 */
export async function compileSource(
  compiler: Compiler,
  tenant: string,
  source: string,
  options: { explain?: boolean; trace?: boolean; of?: 'rego' | 'graph' } = {},
): Promise<Compiled> {
  const { explain = false, trace = false, of = 'rego' } = options;
  const result = await compiler
    .compile(tenant, source, { builtins: hostBuiltinNames, explain, trace })
    .catch((error: Error & { code?: string }) => {
      if (error.code === 'compile_queue_full' || error.code === 'compiler_starved')
        throw policyProblem('compiler_busy', { cause: error });
      throw problem('internal_error', { cause: error });
    });
  if (result.ok) return result;
  throw policyProblem('policy_does_not_compile', {
    detail: result.errors.map(describe).join('; '),
    errors: result.errors.map((error) => place(error, of)),
  });
}

function describe(error: RegoError): string {
  return error.row > 0 ? `line ${error.row}, column ${error.col}: ${error.message}` : error.message;
}

/** Lines of Rego that was made from a graph tell its author nothing. */
function place(error: RegoError, of: 'rego' | 'graph'): ProblemPlace {
  const place: ProblemPlace = { pointer: `/${of}`, detail: error.message };
  return of === 'rego' && error.row > 0 ? { ...place, line: error.row, column: error.col } : place;
}
