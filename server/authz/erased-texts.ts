/** Which texts of a decision's record may be a person's id, pure: the words of a request and of an answer never are. */
import { type Replacement, replaceTexts } from '../pseudonyms/index.ts';
import type { DecisionRecord } from './store.ts';

type Texts = Pick<DecisionRecord, 'request' | 'answer'>;

/** The texts with what stands for ids in them; the same object when none is replaced. Action, outcome, types and names of members stay. */
export function withReplacements(texts: Texts, replacementOf: Replacement): Texts {
  const plain = <T>(value: T) => replaceTexts(value, replacementOf);
  const request = changed(texts.request, (name, value) => {
    if (name === 'subject' || name === 'resource') return entity(value as Record<string, unknown>, replacementOf);
    return name === 'context' ? plain(value) : value;
  });
  const answer = changed(texts.answer, (name, value) => {
    if (name === 'reason' || name === 'obligations') return plain(value);
    return name === 'outcome' && typeof value !== 'string' ? plain(value) : value;
  });
  return request === texts.request && answer === texts.answer ? texts : { request, answer };
}

function entity(value: Record<string, unknown>, replacementOf: Replacement): Record<string, unknown> {
  const type = typeof value.type === 'string' ? value.type : undefined;
  return changed(value, (name, member) => {
    if (name === 'type') return member;
    return name === 'id' ? replaceTexts(member, replacementOf, type) : replaceTexts(member, replacementOf);
  });
}

/** With other values of its members; the same object when all are the same. */
function changed<T extends object>(value: T, of: (name: string, member: unknown) => unknown): T {
  const members = Object.entries(value).map(([name, member]) => [name, of(name, member)] as const);
  const isSame = members.every(([name, member]) => member === (value as Record<string, unknown>)[name]);
  return isSame ? value : (Object.fromEntries(members) as T);
}
