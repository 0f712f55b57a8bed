/**
 * Evaluating stored policies in the worker as the main thread would, on their plans: it keeps the programs that it was
 * given lately, and is given the others. Callers wait patiently: what comes here is slow, and allowed.
 */
import type { Code, PackedCode } from '../rego/index.ts';
import type { Documents, DocumentText } from './documents.ts';
import type { Evaluation, IsolatedEvaluator, IsolatedReply } from './isolated-evaluator.ts';

/** The code of an artifact as it is stored: the worker unpacks it. Undefined when it is gone. */
export type FetchCode = (tenant: string, artifact: string) => Promise<Code | PackedCode | undefined>;

/** What fetches the parts of a program; undefined when they are gone. */
export type Fetching = {
  fetch: FetchCode;
  fetchDocuments: (tenant: string, documents: Documents | undefined) => Promise<DocumentText[] | undefined>;
};
type Stored = { artifact: string; documents?: Documents };
type Fetched = { code: Code | PackedCode; documents: DocumentText[] };

export class StoredEvaluator {
  readonly #isolated: IsolatedEvaluator;
  readonly #options: Fetching;
  readonly #fetching = new Map<string, Promise<Fetched | undefined>>();

  constructor(isolated: IsolatedEvaluator, options: Fetching) {
    this.#isolated = isolated;
    this.#options = options;
  }

  /**
   * Undefined when the artifact is gone.
   * @throws QueueFull past the tenant's queue
   */
  async evaluate(
    tenant: string,
    policy: Stored,
    asked: Pick<Evaluation, 'input' | 'now'>,
    patient = true,
  ): Promise<IsolatedReply | undefined> {
    const { artifact, documents } = policy;
    const key = documents === undefined ? `${tenant}/${artifact}` : `${tenant}/${artifact} ${documents.key}`;
    const reply = await this.#isolated.evaluate(tenant, { ...asked, program: { key } }, patient);
    if (reply.ok || reply.kind !== 'absent') return reply;
    const fetched = await this.#fetched(key, tenant, policy);
    if (fetched === undefined) return undefined;
    const { code, documents: texts } = fetched;
    return this.#isolated.evaluate(tenant, { ...asked, program: { key, code }, documents: texts }, patient);
  }

  #fetched(key: string, tenant: string, policy: Stored): Promise<Fetched | undefined> {
    const fetching = this.#fetching.get(key) ?? this.#fetch(tenant, policy);
    this.#fetching.set(key, fetching);
    return fetching.finally(() => this.#fetching.delete(key));
  }

  async #fetch(tenant: string, { artifact, documents }: Stored): Promise<Fetched | undefined> {
    const { fetch, fetchDocuments } = this.#options;
    const [code, texts] = await Promise.all([fetch(tenant, artifact), fetchDocuments(tenant, documents)]);
    return code && texts && { code, documents: texts };
  }
}
