/** Owns answering many requests of one caller in order: from one snapshot, a part of them at a time. */
import { noFacts } from '../facts/index.ts';
import type { Answer } from '../policies/index.ts';
import { type Asked, type AuthzServices, answerPrepared, prepare, questionOf } from './actions.ts';
import { decide } from './decide.ts';
import type { AuthorizationRequest } from './schema.ts';

/** A thousand evaluations in a row would hold up everybody else's; a part's facts are read in few queries. */
const PART = 50;

/**
 * Answers in the order of the requests, up to the first whose answer ends it.
 * @throws Problem forbidden before any is answered, when one of them is about somebody the caller may not ask about
 */
export async function authorizeAll(
  services: AuthzServices,
  asked: Asked,
  requests: readonly AuthorizationRequest[],
  ends: (answer: Answer) => boolean = () => false,
): Promise<Answer[]> {
  for (const one of requests) questionOf(asked, one, 0); // all or nothing: nobody else's question among them
  const answers: Answer[] = [];
  for (let at = 0; at < requests.length; at += PART) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve));
    const part = requests.slice(at, at + PART).map((one) => prepare(services, asked, one));
    const facts = await Promise.all(part.map((one) => one.facts));
    for (const [index, one] of part.entries()) {
      const { answer } = await answerPrepared(services, asked, { ...one, facts: facts[index] ?? noFacts });
      answers.push(answer);
      if (ends(answer)) return answers;
    }
  }
  return answers;
}

/**
 * Decides many requests at one instant without recording any: what a search asks about each candidate.
 * @param now ms
 * @returns whether each is allowed
 * @throws Problem forbidden
 */
export async function allowAll(
  services: AuthzServices,
  asked: Asked,
  requests: readonly AuthorizationRequest[],
  now: number,
): Promise<boolean[]> {
  const prepared = requests.map((one) => prepare(services, asked, one, undefined, now));
  const facts = await Promise.all(prepared.map((one) => one.facts));
  const allowed: boolean[] = [];
  for (const [index, { policy, question }] of prepared.entries()) {
    if (index > 0 && index % PART === 0) await new Promise((resolve) => setImmediate(resolve));
    const { answer } = await decide(services.engine, policy, facts[index] ?? noFacts, question);
    allowed.push(answer.outcome === 'allow');
  }
  return allowed;
}
