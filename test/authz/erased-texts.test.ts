/** What is taken for an id in the texts of a decision, and what is left as it is. */
import { describe, expect, test } from 'vitest';
import { withReplacements } from '../../server/authz/erased-texts.ts';
import type { Replacement } from '../../server/pseudonyms/index.ts';

describe('ids that are words of the service', () => {
  const erased =
    (...ids: string[]): Replacement =>
    (text) =>
      ids.includes(text) ? `erased:${text}` : undefined;
  const record = {
    request: {
      subject: { id: 'user', type: 'user', owner: 'car' },
      action: 'car:read',
      resource: { id: 'bob', type: 'car' },
      context: { subject: 'user', by: { type: 'user', id: 'user' } },
    },
    answer: { outcome: 'deny', reason: 'deny', obligations: ['user', 'call'] },
  } as Parameters<typeof withReplacements>[0];

  test('take no type, action, outcome or name of a member with them', () => {
    expect(withReplacements(record, erased('user', 'car', 'deny', 'subject', 'car:read', 'outcome', 'id'))).toEqual({
      request: {
        subject: { id: 'erased:user', type: 'user', owner: 'erased:car' },
        action: 'car:read',
        resource: { id: 'bob', type: 'car' },
        context: { 'erased:subject': 'erased:user', by: { type: 'user', id: 'erased:user' } },
      },
      answer: { outcome: 'deny', reason: 'erased:deny', obligations: ['erased:user', 'call'] },
    });
  });
});
