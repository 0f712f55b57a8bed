/**
 * Asking together: questions of one tenant that come while others are being answered go together in the next
 * reading, and every question is answered by a reading that begins after it was asked.
 */
import { limits } from './limits.ts';

type Waiting<Question, Answer> = {
  question: Question;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
};
type Lane<Question, Answer> = { waiting: Waiting<Question, Answer>[]; readings: number; scheduled: boolean };

type BatchLoaderOptions<Question, Answer> = {
  /** One reading; an answer for each question, in their order. When it fails, so does each of them. */
  read: (tenant: string, questions: readonly Question[]) => Promise<readonly Answer[]>;
  /** Whether a question may go with the first one of a reading; absent: all may. */
  alike?: (first: Question, other: Question) => boolean;
  /** How many of a tenant's questions go in one reading; absent: limits.factsQuestionsMax. */
  mostOf?: (tenant: string) => number;
};

export class BatchLoader<Question, Answer> {
  readonly #options: BatchLoaderOptions<Question, Answer>;
  readonly #lanes = new Map<string, Lane<Question, Answer>>();

  constructor(options: BatchLoaderOptions<Question, Answer>) {
    this.#options = options;
  }

  ask(tenant: string, question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      let lane = this.#lanes.get(tenant);
      if (lane === undefined) {
        lane = { waiting: [], readings: 0, scheduled: false };
        this.#lanes.set(tenant, lane);
      }
      lane.waiting.push({ question, resolve, reject });
      this.#schedule(tenant, lane);
    });
  }

  /** After all requests that have arrived together were looked at. */
  #schedule(tenant: string, lane: Lane<Question, Answer>): void {
    if (lane.scheduled || lane.readings >= limits.factsQueriesPerTenantMax) return;
    lane.scheduled = true;
    setImmediate(() => {
      lane.scheduled = false;
      void this.#read(tenant, lane);
    });
  }

  async #read(tenant: string, lane: Lane<Question, Answer>): Promise<void> {
    const batch = lane.waiting.splice(0, this.#fitting(tenant, lane.waiting));
    lane.readings++;
    if (lane.waiting.length > 0) this.#schedule(tenant, lane);
    try {
      const answers = await this.#options.read(
        tenant,
        batch.map(({ question }) => question),
      );
      for (const [n, { resolve }] of batch.entries()) resolve(answers[n] as Answer);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      lane.readings--;
      if (lane.waiting.length > 0) this.#schedule(tenant, lane);
      else if (lane.readings === 0 && !lane.scheduled) this.#lanes.delete(tenant);
    }
  }

  /** How many of the first ones go together. */
  #fitting(tenant: string, waiting: readonly Waiting<Question, Answer>[]): number {
    const { alike, mostOf } = this.#options;
    const [first] = waiting;
    const other = first && alike ? waiting.findIndex(({ question }) => !alike(first.question, question)) : -1;
    return Math.min(mostOf?.(tenant) ?? limits.factsQuestionsMax, other < 0 ? waiting.length : other);
  }
}

/** Takes the first ones that fit together: at least one, however large, and no more than `max` of their sizes. */
export function takeFitting<T>(waiting: T[], sizeOf: (one: T) => number, max: number): T[] {
  let [count, size] = [0, 0];
  for (const one of waiting) {
    size += sizeOf(one);
    if (count > 0 && size > max) break;
    count++;
  }
  return waiting.splice(0, count);
}
