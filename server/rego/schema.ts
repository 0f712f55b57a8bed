/** The shapes that the compiler gives to the rooms that compile, store and evaluate policies. */

/**
 * A fault in a policy; row and col are 1-based positions in the tenant's source, col in characters (code points). `file`: the
 * name of the library's module that they are in; absent for the policy's own source.
 */
export type RegoError = { code: string; message: string; row: number; col: number; file?: string };

/** A module of a library; `name` is its file in errors, and `package` is the library's. */
export type LibraryModule = { name: string; package: string; source: string };

/** What is there beside a source: modules of libraries, and paths of documents, such as a/b. */
type Surroundings = { libraries?: readonly LibraryModule[]; data?: readonly string[] };

/** A module's package, without data, and the beginnings of its references below data. A module that does not parse has neither. */
export type ModuleNeeds = { package: string; refs: string[][] };

/** The input paths that a policy looks at, e.g. ['graph', 'subject']; sorted, none a prefix of another. A use of the input with a computed key, or of all of it, is `all`. */
export type Reads = { all: true } | { all: false; paths: string[][]; narrowing?: Narrowing };

/** What an entry of input.graph is compared with: a constant, or the request's subject or resource. */
export type GraphTerm = { literal: string } | { of: 'subject' | 'resource'; member: 'id' | 'type' };

/** What an entry must be for one use to see it; `type` and `id` are those of its far end. An entry that is nothing of it leaves no trace. */
export type GraphUse = { readonly name?: string; readonly type?: GraphTerm; readonly id?: GraphTerm };

/** A use of a side of input.graph that may see more than single entries; `row`: the first such place in the policy, 0 when it is not known. */
export type WideUse = { readonly side: 'subject' | 'resource'; readonly row: number };

/** What of relationships a policy can tell apart (plan/narrowing.ts). */
export type Narrowing = {
  /** Every use of the side; absent when some use may see all entries. */
  readonly subject?: readonly GraphUse[];
  readonly resource?: readonly GraphUse[];
  /** Of which of the two the policy looks only at type and, where an entry of input.graph is compared with it, id. */
  readonly free: readonly ('subject' | 'resource')[];
  /** For each side that is absent, why. */
  readonly wide: readonly WideUse[];
  /** For each side that is present, but of which some use compares no id: it may see all entries of a type. Absent where there is none. */
  readonly byType?: readonly WideUse[];
};

export type Compiled = {
  ok: true;
  /** OPA's Wasm ABI 1.x, instrumented (instrument.ts). Its only entrypoint yields one object with those of outcome, reason, obligations (and held, with explain) that are defined. */
  wasm: Uint8Array;
  /** What plan/ runs in place of the Wasm, as text; absent with explain, and when OPA's plan has what is never run there. */
  plan?: string;
  /** e.g. data.car.read */
  package: string;
  syntax: 'v1' | 'v0';
  reads: Reads;
  /** The builtins it calls that the host has to supply, sorted. */
  builtins: string[];
  /** With trace: where its rules stand in the source. */
  outline?: readonly OutlinedRule[];
  /** With trace: the same of the modules of libraries, by the names of their files. */
  outlines?: Readonly<Record<string, readonly OutlinedRule[]>>;
  /** What the compile burned, of limits.compileFuel; the same for the same source and options. */
  fuel: number;
};

/** Row, column, end row, end column in the source, 1-based; the end is behind the last character. */
export type Span = readonly [row: number, col: number, endRow: number, endCol: number];

/** One definition of a rule or function: a rule, or a link of its else chain. */
export type OutlinedRule = {
  /** The first part of its name: obligations for obligations["x"]. */
  readonly name: string;
  readonly head: Span;
  /** With its body. */
  readonly all: Span;
  readonly default: boolean;
  /** A link of an else chain but the first. */
  readonly else: boolean;
  /** Its conditions, those inside comprehensions and `every`, too. */
  readonly exprs: readonly Span[];
};

export type CompileResult = Compiled | { ok: false; errors: RegoError[] };

export type CompileOptions = Surroundings & {
  /** Names of the builtins that the host supplies; forbidden ones stay refused. */
  builtins: readonly string[];
  /** Adds `held` to the answer: the source rows of the outcome, reason and obligations rules (links of else chains, not defaults) that held. */
  explain?: boolean;
  /** Gives the plan with the place of each statement, and the outline. */
  trace?: boolean;
};

type CheckResult = { ok: true } | { ok: false; errors: RegoError[] };
export type FormatResult = { ok: true; source: string } | { ok: false; errors: RegoError[] };

/** A builtin of the compiler's OPA; native ones are linked into the policy's Wasm. */
export type KnownBuiltin = { name: string; arity: number; native: boolean };

/** Compiles one source at a time a worker, fairly between tenants. */
export type Compiler = {
  /**
   * Rejects with an Error of code compile_queue_full (limits.compileQueuePerTenantMax), compiler_starved (limits.compileWaitMsMax),
   * compiler_closed or compiler_failed: never the policy's fault.
   */
  compile(tenant: string, source: string, options: CompileOptions): Promise<CompileResult>;
  /** Lays out a source as `opa fmt` does, in the syntax that it is written in, with its comments; rejects as compile does. */
  format(tenant: string, source: string): Promise<FormatResult>;
  /** Compiles the modules of a library with the libraries that it uses; rejects as compile does. */
  check(tenant: string, own: readonly LibraryModule[], options: CompileOptions): Promise<CheckResult>;
  /** What modules refer to; rejects as compile does. */
  needs(tenant: string, own: readonly Pick<LibraryModule, 'name' | 'source'>[]): Promise<ModuleNeeds[]>;
  /** All builtins of this OPA, those refused to policies included. */
  builtins(): Promise<KnownBuiltin[]>;
  /** Loads the compiler in the background, so that the first compile is as fast as the next. */
  prepare(): void;
  /** Ends the workers; what is queued rejects with code compiler_closed. */
  close(): Promise<void>;
  /** Changes whenever the same source could give another module, e.g. opa-1.22.0+1a2b3c4d. */
  readonly version: string;
};

/** An Error with a stable code, for what is not a fault of the policy. */
export class CompilerError extends Error {
  readonly code: 'compile_queue_full' | 'compiler_starved' | 'compiler_closed' | 'compiler_failed';
  constructor(code: CompilerError['code'], message: string) {
    super(message);
    this.code = code;
  }
}
