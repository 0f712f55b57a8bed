/** The programs that are in memory with their data documents, each decoded once for a tenant; and what they are made of. */
import { limits } from '../core/limits.ts';
import { type Code, Evaluator } from '../rego/index.ts';
import { baseDocument, type DocumentRef, type Documents, type DocumentText, decoded } from './documents.ts';
import { Programs } from './programs.ts';
import { Slowness } from './slowness.ts';

export type PolicyRef = { name: string; artifact: string; documents?: Documents };
export type Program = Omit<PolicyRef, 'name'>;

/** A policy with other documents is another program. */
export const programKey = ({ artifact, documents }: Program): string =>
  documents === undefined ? artifact : `${artifact} ${documents.key}`;

export type Loaded = {
  /** Tenant and program, for strikes. */
  key: string;
  evaluator: Evaluator;
  slowness: Slowness;
  hasDocuments: boolean;
};

type Options = {
  fetch: (tenant: string, digest: string) => Promise<Code | undefined>;
  fetchDocument?: (tenant: string, document: DocumentRef) => Promise<string | undefined>;
  cpuMs: () => number;
};

export class LoadedPrograms {
  readonly #programs = new Programs<Loaded>(limits.instancesMax);
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  get size(): number {
    return this.#programs.size;
  }

  get(tenant: string, program: Program): Loaded | undefined {
    return this.#programs.get(tenant, programKey(program));
  }

  /** As get, but it does not count as a use. */
  peek(tenant: string, program: Program): Loaded | undefined {
    return this.#programs.peek(tenant, programKey(program));
  }

  /** Undefined when some of it is gone. */
  async fetch(tenant: string, program: Program): Promise<{ code: Code; texts: DocumentText[] } | undefined> {
    const { artifact, documents } = program;
    const [code, texts] = await Promise.all([
      this.#options.fetch(tenant, artifact),
      this.fetchTexts(tenant, documents),
    ]);
    return code && texts && { code, texts };
  }

  /** Undefined when one is gone. */
  async fetchTexts(tenant: string, documents: Documents | undefined): Promise<DocumentText[] | undefined> {
    const texts: DocumentText[] = [];
    for (const document of documents?.list ?? []) {
      const text = await this.#options.fetchDocument?.(tenant, document);
      if (text === undefined) return undefined;
      texts.push({ path: document.path, digest: document.digest, text });
    }
    return texts;
  }

  /** Makes a program. @throws PolicyError when it cannot be loaded */
  keep(tenant: string, program: Program, code: Code, texts: readonly DocumentText[] = []): void {
    const held = new Map(
      texts.map(({ digest, text }) => [digest, this.#programs.document(tenant, digest) ?? decoded(text)] as const),
    );
    const data = baseDocument(texts.map(({ path, digest }) => ({ path, value: held.get(digest)?.value })));
    const loaded = {
      key: `${tenant}/${programKey(program)}`,
      evaluator: new Evaluator(code, data),
      slowness: new Slowness(this.#options.cpuMs),
      hasDocuments: texts.length > 0,
    };
    this.#programs.set(tenant, programKey(program), loaded, held);
  }
}
