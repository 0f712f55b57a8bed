/** Counting what a replay finds, pure: which answers change, from what to what, with examples that are bounded together. */
import { isDeepStrictEqual } from 'node:util';
import { type Static, Type } from 'typebox';
import { limits } from '../core/limits.ts';
import type { Answer } from '../policies/index.ts';
import { AuthorizationResponse } from './schema.ts';
import type { DecisionRow } from './store.ts';

/** Why a record cannot be evaluated any more. */
export type Unevaluated = 'invitation_not_kept' | 'evaluator_lost';

const FACTS =
  'Evaluated with current relationships, attributes and consents, and with the request and input.time of the record.';

const answer = (description: string) => Type.Omit(AuthorizationResponse, ['explain'], { description });
const count = (description: string) => Type.Integer({ description });
const outcome = Type.Enum(['allow', 'deny', 'object']);
const Example = Type.Object({
  id: Type.String({ description: 'Id of the decision record, as in GET …/decisions.' }),
  time: Type.String({ format: 'date-time' }),
  caller: Type.String(),
  request: Type.Optional(Type.Unknown({ description: 'Omitted, with the answers, when the examples are too large.' })),
  before: Type.Optional(answer('The recorded answer.')),
  after: Type.Optional(answer('The answer of the draft now.')),
  stored: Type.Optional(answer('The answer of the stored policy now. Absent if no policy is stored.')),
});

export const Replayed = Type.Object({
  policy: Type.String(),
  records: count('Number of records of decisions of this policy that were replayed, newest first.'),
  oldest: Type.Optional(Type.String({ format: 'date-time', description: 'The time of the oldest replayed record.' })),
  complete: Type.Boolean({ description: 'Whether all records since `since` were replayed.' }),
  decisionLog: Type.String({
    description:
      'The mode of the decision log: what it does not record is not replayed. With `denies`, nothing is known of allowed requests.',
  }),
  unchanged: count('Number of records for which the draft gives the recorded answer.'),
  changed: count('Number of records for which the draft gives a different outcome, reason or obligations.'),
  notByDraft: count(
    'Number of changed records for which the stored policy gives the same answer as the draft: the policy, or facts, have changed since the decision.',
  ),
  outcomes: Type.Array(
    Type.Object({
      before: outcome,
      after: outcome,
      count: Type.Integer(),
      notByDraft: count('How many of these the stored policy answers like the draft.'),
    }),
    { description: 'The changed records by outcome.' },
  ),
  notEvaluated: Type.Array(
    Type.Object({ reason: Type.Enum(['invitation_not_kept', 'evaluator_lost']), count: Type.Integer() }),
  ),
  examples: Type.Array(Example, {
    description: 'The newest records that the draft changes, without those of `notByDraft`.',
  }),
  facts: Type.String(),
});
export type Replayed = Static<typeof Replayed>;

/** Obligations are a set. */
export function sameAnswer(one: Answer, other: Answer): boolean {
  const comparable = ({ outcome, reason, obligations = [] }: Answer) => [outcome, reason, [...obligations].sort()];
  return isDeepStrictEqual(comparable(one), comparable(other));
}

export class Tally {
  records = 0;
  #oldest: string | undefined;
  #unchanged = 0;
  #changed = 0;
  #notByDraft = 0;
  readonly #outcomes = new Map<string, Replayed['outcomes'][number]>();
  readonly #missed = new Map<Unevaluated, number>();
  readonly #examples: Replayed['examples'] = [];
  #exampleBytes = 0;

  same(at: string): void {
    this.#seen(at);
    this.#unchanged++;
  }

  missed(reason: Unevaluated, at: string): void {
    this.#seen(at);
    this.#missed.set(reason, (this.#missed.get(reason) ?? 0) + 1);
  }

  /** @param stored what the stored policy answers now; undefined: nothing to compare with */
  differs(row: DecisionRow, after: Answer, stored: Answer | undefined): void {
    this.#seen(row.at);
    this.#changed++;
    const isOther = stored !== undefined && sameAnswer(stored, after);
    if (isOther) this.#notByDraft++;
    const change = { before: kindOf(row.answer), after: kindOf(after) };
    const key = `${change.before} ${change.after}`;
    const { count, notByDraft } = this.#outcomes.get(key) ?? { count: 0, notByDraft: 0 };
    this.#outcomes.set(key, { ...change, count: count + 1, notByDraft: notByDraft + (isOther ? 1 : 0) });
    if (!isOther && this.#examples.length < limits.replayExamplesMax)
      this.#examples.push(this.#exampleOf(row, after, stored));
  }

  told({ policy, complete, decisionLog }: Pick<Replayed, 'policy' | 'complete' | 'decisionLog'>): Replayed {
    return {
      policy,
      records: this.records,
      ...(this.#oldest === undefined ? {} : { oldest: this.#oldest }),
      complete,
      decisionLog,
      unchanged: this.#unchanged,
      changed: this.#changed,
      notByDraft: this.#notByDraft,
      outcomes: [...this.#outcomes.values()],
      notEvaluated: [...this.#missed].map(([reason, count]) => ({ reason, count })),
      examples: this.#examples,
      facts: FACTS,
    };
  }

  #seen(at: string): void {
    this.records++;
    this.#oldest = at;
  }

  #exampleOf(row: DecisionRow, after: Answer, stored: Answer | undefined): Replayed['examples'][number] {
    const whole = { request: row.request, before: row.answer, after, ...(stored === undefined ? {} : { stored }) };
    const bytes = Buffer.byteLength(JSON.stringify(whole));
    const fits = this.#exampleBytes + bytes <= limits.replayExampleBytesMax;
    if (fits) this.#exampleBytes += bytes;
    return { id: row.id, time: row.at, caller: row.caller, ...(fits ? whole : {}) };
  }
}

function kindOf({ outcome }: Answer): 'allow' | 'deny' | 'object' {
  return outcome === 'allow' || outcome === 'deny' ? outcome : 'object';
}
