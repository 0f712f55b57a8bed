/**
 * Evaluating stored policies in the worker as the main thread would, on their plans: it keeps the programs that it was
 * given lately, and is given the others. Callers wait patiently: what comes here is slow, and allowed.
 */
import type { Code, PackedCode } from '../rego/index.ts';
import type { Evaluation, IsolatedEvaluator, IsolatedReply } from './isolated-evaluator.ts';

/** The code of an artifact as it is stored: the worker unpacks it. Undefined when it is gone. */
export type FetchCode = (tenant: string, artifact: string) => Promise<Code | PackedCode | undefined>;

export class StoredEvaluator {
  readonly #isolated: IsolatedEvaluator;
  readonly #fetch: FetchCode;
  readonly #fetching = new Map<string, ReturnType<FetchCode>>();

  constructor(isolated: IsolatedEvaluator, fetch: FetchCode) {
    this.#isolated = isolated;
    this.#fetch = fetch;
  }

  /**
   * Undefined when the artifact is gone.
   * @throws QueueFull past the tenant's queue
   */
  async evaluate(
    tenant: string,
    artifact: string,
    asked: Pick<Evaluation, 'input' | 'now'>,
    patient = true,
  ): Promise<IsolatedReply | undefined> {
    const key = `${tenant}/${artifact}`;
    const reply = await this.#isolated.evaluate(tenant, { ...asked, program: { key } }, patient);
    if (reply.ok || reply.kind !== 'absent') return reply;
    const code = await this.#fetched(key, tenant, artifact);
    return code && this.#isolated.evaluate(tenant, { ...asked, program: { key, code } }, patient);
  }

  #fetched(key: string, tenant: string, artifact: string): ReturnType<FetchCode> {
    const fetching = this.#fetching.get(key) ?? this.#fetch(tenant, artifact);
    this.#fetching.set(key, fetching);
    return fetching.finally(() => this.#fetching.delete(key));
  }
}
