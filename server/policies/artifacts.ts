/**
 * Compiled policies: made once for each (source, compiler, builtins), kept in Postgres, fetched when first used.
 * A digest identifies the bytes' origin, so a policy that is restored, or written by a second writer, is not compiled again.
 */
import { createHash } from 'node:crypto';
import type { Database } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import type { Observe } from '../core/observe.ts';
import { type ProblemPlace, problem } from '../core/problems.ts';
import {
  type Code,
  type Compiled,
  type Compiler,
  hostBuiltinNames,
  type LibraryModule,
  type ModuleNeeds,
  type PackedCode,
  packCode,
  type RegoError,
  type TracedSource,
  unpackCode,
} from '../rego/index.ts';
import { ConflictError } from './conflict.ts';
import type { DocumentRef } from './documents.ts';
import { readContent, readParts, readPartsAt } from './part-store.ts';
import { checkBytes, modulesOf, type Part, type PartRevision, type PartSet, usedParts } from './parts.ts';
import { policyProblem } from './problems.ts';
import type { ArtifactAbout } from './schema.ts';
import { insertArtifact, readArtifact, readArtifactAbout, touchArtifact } from './store.ts';

export type CompiledPolicy = {
  digest: string;
  about: ArtifactAbout;
  /** The libraries and documents that it uses. */
  uses: readonly Part[];
  /** Those that it could use. */
  set: PartSet;
  /** Absent when the artifact is already stored for the tenant. */
  code?: Code;
};

type Found = NonNullable<Awaited<ReturnType<typeof readArtifactAbout>>>;
type ArtifactServices = { database: Database; compiler: Compiler; observe: Observe };

export class Artifacts {
  readonly #services: ArtifactServices;
  readonly #builtins = hostBuiltinNames.join(',');

  constructor(services: ArtifactServices) {
    this.#services = services;
  }

  get compiler(): Compiler {
    return this.#services.compiler;
  }

  /** The libraries and documents of a tenant as they are now. */
  async partsOf(tenant: string): Promise<PartSet> {
    const { database } = this.#services;
    const parts = await database.read(tenant, (tx) => readParts(tx, tenant));
    return this.#setOf(tenant, parts);
  }

  /** Revisions of libraries and documents as they were; those that are not kept are not in it. */
  async partsAt(tenant: string, revisions: readonly PartRevision[]): Promise<PartSet> {
    const { database } = this.#services;
    const parts = revisions.length === 0 ? [] : await database.read(tenant, (tx) => readPartsAt(tx, tenant, revisions));
    return this.#setOf(tenant, parts);
  }

  #setOf(tenant: string, parts: readonly Part[]): PartSet {
    const { database } = this.#services;
    const content = async (part: Part): Promise<string> => {
      const found = await database.read(tenant, (tx) => readContent(tx, tenant, part));
      if (found === undefined) throw new ConflictError();
      return found;
    };
    return { parts, content };
  }

  /**
   * Compiles a source for a tenant, or finds that it was compiled before.
   * @param given what it may use; absent: what the tenant has now
   * @throws Problem policy_does_not_compile with line and column; policy_reference_unknown, compiler_busy
   */
  async compile(
    tenant: string,
    source: string,
    of: 'rego' | 'graph' = 'rego',
    given?: PartSet,
  ): Promise<CompiledPolicy> {
    const { compiler, observe } = this.#services;
    const started = performance.now();
    const alone = this.#digestOf(source, '');
    // Most tenants have neither libraries nor documents: one round trip then tells both.
    const current = given === undefined ? await this.#current(tenant, alone) : undefined;
    const set = (given ?? current?.set) as PartSet;
    const dependencies = await resolveDependencies(compiler, tenant, source, set);
    const { uses } = dependencies;
    const isAlone = dependencies.key === '';
    const digest = isAlone ? alone : this.#digestOf(source, dependencies.key);
    const found = isAlone && current !== undefined ? current.alone : await this.#find(tenant, digest);
    const stored = await this.#kept(tenant, digest, found);
    if (stored !== undefined) {
      observe({ kind: 'policy_compiled', tenant, ok: true, ms: performance.now() - started, cached: true });
      return { digest, about: stored, uses, set };
    }
    const result = await compileSource(compiler, tenant, source, { of, dependencies }).catch((error) => {
      observe({ kind: 'policy_compiled', tenant, ok: false, ms: performance.now() - started, cached: false });
      throw error;
    });
    observe({ kind: 'policy_compiled', tenant, ok: true, ms: performance.now() - started, cached: false });
    const about = { reads: result.reads, syntax: result.syntax, package: result.package, compiler: compiler.version };
    return { digest, about, uses, set, code: result };
  }

  #digestOf(source: string, dependencies: string): string {
    const text = JSON.stringify([this.#services.compiler.version, this.#builtins, dependencies, source]);
    return createHash('sha256').update(text).digest('base64url');
  }

  /** What a source may use now, and the artifact that has this digest. */
  async #current(tenant: string, digest: string): Promise<{ set: PartSet; alone: Found | undefined }> {
    const [parts, alone] = await this.#services.database.read(tenant, (tx) =>
      Promise.all([readParts(tx, tenant), readArtifactAbout(tx, tenant, digest)]),
    );
    return { set: this.#setOf(tenant, parts), alone };
  }

  #find(tenant: string, digest: string): Promise<Found | undefined> {
    return this.#services.database.read(tenant, (tx) => readArtifactAbout(tx, tenant, digest));
  }

  /** What is known of an artifact that was found, made young again; undefined when it was removed meanwhile. */
  async #kept(tenant: string, digest: string, found: Found | undefined): Promise<ArtifactAbout | undefined> {
    const { database } = this.#services;
    const isKept = !found?.old || (await database.tenant(tenant, (tx) => touchArtifact(tx, tenant, digest)));
    return isKept ? found?.about : undefined;
  }

  /** Stores what was compiled before anything uses it; who finds it later does not compile it again. */
  async keep(tenant: string, { digest, about }: Pick<CompiledPolicy, 'digest' | 'about'>, code: Code): Promise<void> {
    const packed = { ...packCode(code), about };
    await this.#services.database.tenant(tenant, (tx) => insertArtifact(tx, tenant, digest, packed));
  }

  /** The variant that also tells which rules held; never stored. */
  async compileExplaining(tenant: string, source: string, dependencies: Dependencies): Promise<Uint8Array> {
    return (await compileSource(this.#services.compiler, tenant, source, { explain: true, dependencies })).wasm;
  }

  /** What tells how evaluations of a source go; undefined when it has no plan that is run. Never stored. */
  async compileTraced(tenant: string, source: string, dependencies: Dependencies): Promise<TracedSource | undefined> {
    const {
      plan,
      outline,
      outlines = {},
    } = await compileSource(this.#services.compiler, tenant, source, {
      ...{ trace: true, dependencies },
    });
    const libraries = (await dependencies.libraries()).map(({ name, source }) => ({
      ...{ file: name, source, outline: outlines[name] ?? [] },
    }));
    return plan === undefined || outline === undefined ? undefined : { plan, source, outline, libraries };
  }

  /** A stored artifact as it is stored; undefined when it is gone (the policy was replaced meanwhile). */
  fetchPacked(tenant: string, digest: string): Promise<PackedCode | undefined> {
    return this.#services.database.read(tenant, (tx) => readArtifact(tx, tenant, digest));
  }

  /** A revision of a data document; undefined when it is not kept. */
  fetchDocument(tenant: string, { path, number }: Pick<DocumentRef, 'path' | 'number'>): Promise<string | undefined> {
    return this.#services.database.read(tenant, (tx) => readContent(tx, tenant, { kind: 'data', name: path, number }));
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
  options: { explain?: boolean; trace?: boolean; of?: 'rego' | 'graph'; dependencies?: Dependencies } = {},
): Promise<Compiled> {
  const { explain = false, trace = false, of = 'rego', dependencies } = options;
  const libraries = (await dependencies?.libraries()) ?? [];
  const result = await compiler
    .compile(tenant, source, { builtins: hostBuiltinNames, explain, trace, libraries, data: dependencies?.data ?? [] })
    .catch(compilerFailed);
  if (result.ok) return result;
  const isUnknown = result.errors.every(isForeign);
  throw policyProblem(isUnknown ? 'policy_reference_unknown' : 'policy_does_not_compile', {
    detail: result.errors.map(describe).join('; '),
    errors: result.errors.map((error) => place(error, of)),
  });
}

/** What a source is compiled with. `key` tells it from the same source with other libraries; empty with none. */
export type Dependencies = {
  uses: readonly Part[];
  key: string;
  libraries: () => Promise<LibraryModule[]>;
  data: readonly string[];
};

/** @throws Problem policy_data_too_large, policy_libraries_too_large, compiler_busy */
export async function resolveDependencies(
  compiler: Compiler,
  tenant: string,
  source: string,
  set: PartSet,
): Promise<Dependencies> {
  if (set.parts.length === 0 || Buffer.byteLength(source) > limits.regoSourceBytesMax) return dependenciesOf([], set);
  const [needs] = await compiler.needs(tenant, [{ name: 'policy.rego', source }]).catch(compilerFailed);
  const uses = usedParts(set.parts, needs as ModuleNeeds);
  checkBytes(uses);
  return dependenciesOf(uses, set);
}

export function dependenciesOf(uses: readonly Part[], set: PartSet): Dependencies {
  const [libraries, documents] = (['library', 'data'] as const).map((kind) => uses.filter((one) => one.kind === kind));
  const names = [
    ...(libraries ?? []).map(({ name, digest }) => `library ${name} ${digest}\n`),
    ...(documents ?? []).map(({ name }) => `data ${name}\n`),
  ];
  return {
    ...{ uses, key: names.join(''), data: (documents ?? []).map(({ name }) => name) },
    async libraries() {
      const modules: LibraryModule[] = [];
      for (const library of libraries ?? []) modules.push(...modulesOf(library.name, await set.content(library)));
      return modules;
    },
  };
}

/** What a compiler's failure is to callers: it is never the source's. */
export function compilerFailed(error: Error & { code?: string }): never {
  if (error.code === 'compile_queue_full' || error.code === 'compiler_starved')
    throw policyProblem('compiler_busy', { cause: error });
  throw problem('internal_error', { cause: error });
}

/** Whether an error may end when the tenant has another library or document. */
export function isForeign({ code, message }: RegoError): boolean {
  if (code === 'data_unavailable') return !message.endsWith('has no such rule');
  return message.startsWith('undefined function data.');
}

export function describe(error: RegoError): string {
  if (error.file !== undefined) return `${error.file}:${error.row}:${error.col}: ${error.message}`;
  return error.row > 0 ? `line ${error.row}, column ${error.col}: ${error.message}` : error.message;
}

/** Lines of Rego that was made from a graph tell its author nothing. */
export function place(error: RegoError, of: 'rego' | 'graph'): ProblemPlace {
  if (error.file !== undefined) return { pointer: `/${of}`, detail: describe(error) };
  const place: ProblemPlace = { pointer: `/${of}`, detail: error.message };
  return of === 'rego' && error.row > 0 ? { ...place, line: error.row, column: error.col } : place;
}
