/** What the guards of the frameworks share. */
import type { AccordClient } from './client.ts';
import { type Decision, isAllowed, type Question } from './decision.ts';
import { AccordError } from './errors.ts';

/** Whom a guard asks. */
export type Asked = Pick<AccordClient, 'decide'>;

/** The question that a request is; undefined when there is nobody to ask about, which is refused. */
export type QuestionOf<Request> = (request: Request) => Question | undefined | Promise<Question | undefined>;

/** Why a request is not let through, and what is answered where no `refused` says otherwise. */
export type Refusal = {
  status: 403 | 503;
  type: 'application/problem+json';
  body: string;
  /** What the answer was, with its reason and obligations; undefined with 503, and when nothing was asked. */
  decision?: Decision;
  /** With 503: why there is no decision. */
  error?: AccordError;
};

const refusal = (status: 403 | 503, title: string): Refusal => ({
  status,
  type: 'application/problem+json',
  body: JSON.stringify({ type: 'about:blank', title, status }),
});

/**
 * @returns undefined for an explicit allow; 403 for all other decisions; 503 when there is no decision
 * @throws what `questionOf` throws, and errors that are not the client's
 */
export async function refusalOf<Request>(
  accord: Asked,
  questionOf: QuestionOf<Request>,
  request: Request,
): Promise<Refusal | undefined> {
  const question = await questionOf(request);
  if (question === undefined) return refusal(403, 'Forbidden');
  try {
    const decision = await accord.decide(question);
    return isAllowed(decision) ? undefined : { ...refusal(403, 'Forbidden'), decision };
  } catch (error) {
    if (error instanceof AccordError) return { ...refusal(503, 'Authorization not available'), error };
    throw error;
  }
}
