/** What is taken for the name of a person in a record, and what is left as it is. */
import { describe, expect, test } from 'vitest';
import { withoutPerson } from '../../server/audit/rules.ts';
import { withStandIns } from '../../server/authz/erased-texts.ts';
import { type Replacement, replaceTexts, textsOf } from '../../server/pseudonyms/index.ts';

describe('texts of a decision', () => {
  const replacementOf = (text: string, type: string | undefined) =>
    text === 'alice' && (type === undefined || type === 'user') ? 'erased:x' : undefined;

  test.each([
    ['alice', 'erased:x'],
    [{ subject: { id: 'alice' } }, { subject: { id: 'erased:x' } }],
    [
      { id: 'alice', type: 'user' },
      { id: 'erased:x', type: 'user' },
    ],
    [{ alice: [1, ['alice'], null] }, { 'erased:x': [1, ['erased:x'], null] }],
    [
      { a: { b: [{ c: 'alice' }] }, type: 'car' },
      { a: { b: [{ c: 'erased:x' }] }, type: 'car' },
    ],
  ])('%j is replaced', (value, expected) => {
    expect(replaceTexts(value, replacementOf)).toEqual(expected);
  });

  test.each([
    [{ id: 'alice', type: 'robot' }],
    [{ path: '/users/alice', name: 'Alice', none: null, flag: true, count: 0, list: [] }],
    ['alice '],
    [null],
  ])('%j is the same object', (value) => {
    expect(replaceTexts(value, replacementOf)).toBe(value);
  });

  test('are names and values, and no more than asked for', () => {
    expect([...textsOf({ a: ['b', { c: 1 }], d: 'b' }, 100)]).toEqual(['a', 'b', 'c', 'd']);
    const list = Array.from({ length: 100_000 }, (_, i) => `${i}`);
    expect(textsOf({ list }, 10).size).toBe(11);
  });
});

describe('an audit entry', () => {
  const person = { type: 'user', id: 'alice', replacementOf: 'erased:x' };
  const entry = (object_name: string, actor: unknown = 'cli', detail: unknown = null) => ({
    actor,
    object_name,
    detail,
  });

  test.each([
    [entry('user/alice'), entry('user/erased:x')],
    [entry('user/alice is_owner_of car/1'), entry('user/erased:x is_owner_of car/1')],
    [entry('car/1 has_guest user/alice'), entry('car/1 has_guest user/erased:x')],
    [entry('user/alice knows user/alice'), entry('user/erased:x knows user/erased:x')],
    [entry('', 'user:user:alice'), entry('', 'user:user:erased:x')],
    [
      entry('i', 'cli', { acceptor: 'user/alice', fromId: 'alice', use: 1 }),
      entry('i', 'cli', { acceptor: 'user/erased:x', fromId: 'erased:x', use: 1 }),
    ],
  ])('%j names the person', (before, after) => {
    expect(withoutPerson(before, person)).toEqual(after);
  });

  test.each([
    [entry('user/alice2 is_owner_of car/1')],
    [entry('robot/alice')],
    [entry('car/user/alice')],
    [entry('malice', 'user:robot:alice', { acceptor: 'user/alice2', of: ['al'] })],
  ])('%j names somebody else, and is the same object', (before) => {
    expect(withoutPerson(before, person)).toBe(before);
  });
});

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
  } as Parameters<typeof withStandIns>[0];

  test('take no type, action, outcome or name of a member with them', () => {
    expect(withStandIns(record, erased('user', 'car', 'deny', 'subject', 'car:read', 'outcome', 'id'))).toEqual({
      request: {
        subject: { id: 'erased:user', type: 'user', owner: 'erased:car' },
        action: 'car:read',
        resource: { id: 'bob', type: 'car' },
        context: { 'erased:subject': 'erased:user', by: { type: 'user', id: 'erased:user' } },
      },
      answer: { outcome: 'deny', reason: 'erased:deny', obligations: ['erased:user', 'call'] },
    });
  });

  test('leave the role in an audit entry', () => {
    const entry = { actor: 'member:a@b.c', object_name: 'x', detail: { role: 'security-admin', id: 'security-admin' } };
    const person = { type: 'user', id: 'security-admin', replacementOf: 'erased:x' };
    expect(withoutPerson(entry, person).detail).toEqual({ role: 'security-admin', id: 'erased:x' });
  });
});
