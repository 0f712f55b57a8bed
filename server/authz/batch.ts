/** Answering many requests of one caller in order: from one snapshot, a part of them at a time. */
import { limits } from '../core/limits.ts';
import { asChild } from '../core/span.ts';
import { type Facts, noFacts } from '../facts/index.ts';
import { type Answer, type Failure, failed, isUndecided } from '../policies/index.ts';
import {
  type AuthzServices,
  answerPrepared,
  type DecisionContext,
  denyUnevaluated,
  evaluationOf,
  type Prepared,
  prepare,
} from './actions.ts';
import { type Decision, decide } from './decide.ts';
import type { AuthorizationRequest } from './schema.ts';
import { untraced } from './traced.ts';

/** A part's facts are read in few queries. */
const PART = 50;

/** A request that cannot be asked is undefined: its place is answered as a deny. */
type Batch = {
  requests: readonly (AuthorizationRequest | undefined)[];
  /** Whether an answer is the last; absent: none is. */
  ends?: (answer: Answer) => boolean;
  /** The answer as the caller gets it, of the request of this index. */
  textOf: (answer: Answer, index: number) => string;
};

/**
 * Answers in the order of the requests, up to the first whose answer ends it. From the first answer on with which all have
 * more than limits.batchAnswersBytesMax, requests are denied, and the further ones are not evaluated.
 * @returns the answers as texts
 * @throws Problem forbidden before any is answered, when one of them is about somebody the caller may not ask about
 */
export async function authorizeAll(
  services: AuthzServices,
  context: DecisionContext,
  { requests, ends = () => false, textOf }: Batch,
): Promise<string[]> {
  for (const one of requests) if (one) evaluationOf(context, one, 0); // all or nothing: a user asks only about itself
  const answers = new Answers(textOf);
  const pace = services.scheduler.pace(context.snapshot.tenant);
  const each = untraced(context);
  const answerPart = async (part: Batch['requests'], prepared: readonly (Prepared | undefined)[]) => {
    for (const [index, request] of part.entries()) {
      const turn = pace();
      if (turn) await turn;
      const answer = await answerOne(services, each, answers, request, prepared[index]);
      if (ends(answer)) return true;
    }
    return false;
  };
  for (let at = 0; at < requests.length; at += PART) {
    const part = requests.slice(at, at + PART);
    const prepared = await staged(context, 'gather facts', part.length, () =>
      gatherAll(part.map((one) => (one && !answers.full ? prepare(services, each, one) : undefined))),
    );
    if (await staged(context, 'evaluate', part.length, () => answerPart(part, prepared))) break;
  }
  return answers.texts;
}

/** A stage of many decisions. */
async function staged<T>(
  { span }: DecisionContext,
  name: string,
  decisions: number,
  work: () => Promise<T>,
): Promise<T> {
  return span ? asChild(span, name, work, () => ({ 'accord.decisions': decisions })) : work();
}

/** Waits until all have their facts. */
async function gatherAll<P extends Prepared | undefined>(prepared: readonly P[]): Promise<P[]> {
  const facts = await Promise.all(prepared.map((one) => one?.facts));
  return prepared.map((one, index) => one && { ...one, facts: facts[index] ?? noFacts });
}

async function answerOne(
  services: AuthzServices,
  context: DecisionContext,
  answers: Answers,
  request: AuthorizationRequest | undefined,
  prepared: Prepared | undefined,
): Promise<Answer> {
  if (request === undefined) return answers.add({ answer: { outcome: 'deny' } }).answer;
  if (prepared === undefined || answers.full) {
    return answers.add(denyUnevaluated(services, context, request, tooLarge.answer)).answer;
  }
  return (await answerPrepared(services, context, prepared, (made) => answers.add(made))).answer;
}

const tooLarge = {
  answer: failed('batch_answers_too_large'),
  failure: {
    reason: 'batch_answers_too_large',
    detail: `the answers of the batch exceed ${limits.batchAnswersBytesMax} bytes`,
  },
} as const;

/** The answers of a batch as texts, which take less than what they were made of. */
class Answers {
  readonly texts: string[] = [];
  full = false;
  #bytes = 0;
  readonly #textOf: Batch['textOf'];

  constructor(textOf: Batch['textOf']) {
    this.#textOf = textOf;
  }

  /** Adds the decision's answer, or a deny in its place if it does not fit. */
  add(decision: Decision): Decision {
    const index = this.texts.length;
    const text = this.#textOf(decision.answer, index);
    this.#bytes += Buffer.byteLength(text);
    if (this.full || this.#bytes <= limits.batchAnswersBytesMax) {
      this.texts.push(text);
      return decision;
    }
    this.full = true;
    this.texts.push(this.#textOf(tooLarge.answer, index));
    return tooLarge;
  }
}

/** `undecided`: why it is not allowed, where that is not what its policy said (isUndecided). */
export type Checked = { readonly allowed: boolean; readonly undecided: Failure | undefined };

/**
 * Decides many requests at one instant without recording any: what a search asks about each candidate.
 * @param now ms
 * @throws Problem forbidden
 */
export async function checkAll(
  services: AuthzServices,
  context: DecisionContext,
  requests: readonly AuthorizationRequest[],
  now: number,
): Promise<Checked[]> {
  const each = untraced(context);
  const count = requests.length;
  const gathered = () => gatherAll(requests.map((one) => prepare(services, each, one, undefined, now)));
  const prepared = await staged(context, 'gather facts', count, gathered);
  const pace = services.scheduler.pace(context.snapshot.tenant);
  return staged(context, 'evaluate', count, async () => {
    const checked: Checked[] = [];
    for (const one of prepared) {
      const turn = pace();
      if (turn) await turn;
      const { answer, failure } = await decide(services.engine, one, one.facts as Facts);
      const undecided = failure !== undefined && isUndecided(failure.reason) ? failure.reason : undefined;
      checked.push({ allowed: answer.outcome === 'allow', undecided });
    }
    return checked;
  });
}
