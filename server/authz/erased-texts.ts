/** Which texts of a decision's record may be a person's id, pure: the words of a request and of an answer never are. */
import { replaceTexts, type StandIn } from '../pseudonyms/index.ts';
import type { DecisionRecord } from './store.ts';

type Texts = Pick<DecisionRecord, 'request' | 'answer'>;

/** The request and the answer with what stands for ids in them; action, outcome, types and names of members stay. */
export function withStandIns({ request, answer }: Texts, standIn: StandIn): Texts {
  const { subject, resource, context, ...asked } = request;
  const { reason, obligations, outcome, ...answered } = answer;
  return {
    request: {
      ...asked,
      ...(subject === undefined ? {} : { subject: thing(subject, standIn) }),
      ...(resource === undefined ? {} : { resource: thing(resource, standIn) }),
      ...(context === undefined ? {} : { context: replaceTexts(context, standIn) }),
    },
    answer: {
      ...answered,
      ...(outcome === undefined
        ? {}
        : { outcome: typeof outcome === 'string' ? outcome : replaceTexts(outcome, standIn) }),
      ...(reason === undefined ? {} : { reason: replaceTexts(reason, standIn) }),
      ...(obligations === undefined ? {} : { obligations: replaceTexts(obligations, standIn) }),
    } as Texts['answer'],
  };
}

function thing<T extends Record<string, unknown>>(value: T, standIn: StandIn): T {
  const type = typeof value.type === 'string' ? value.type : undefined;
  const members = Object.entries(value).map(([name, member]) => {
    if (name === 'type') return [name, member];
    return [name, name === 'id' ? replaceTexts(member, standIn, type) : replaceTexts(member, standIn)];
  });
  return Object.fromEntries(members) as T;
}
