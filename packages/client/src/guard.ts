/** What the guards of the frameworks share. */
import type { AccordClient } from './client.ts';
import type { Question } from './decision.ts';
import { AccordError } from './errors.ts';

/** Whom a guard asks. */
export type Asked = Pick<AccordClient, 'allowed'>;

/** The question that a request is; undefined when there is nobody to ask about, which is refused. */
export type QuestionOf<Request> = (request: Request) => Question | undefined | Promise<Question | undefined>;

export type Refusal = { status: 403 | 503; type: 'application/problem+json'; body: string };

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
    return (await accord.allowed(question)) === true ? undefined : refusal(403, 'Forbidden');
  } catch (error) {
    if (error instanceof AccordError) return refusal(503, 'Authorization not available');
    throw error;
  }
}
