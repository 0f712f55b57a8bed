/** What is taken for the name of a person in an audit entry, and what is left as it is. */
import { describe, expect, test } from 'vitest';
import { withoutPerson } from '../../server/audit/rules.ts';
import { erasedName } from '../../server/core/auth/claims.ts';

describe('an audit entry', () => {
  const person = { type: 'user', id: 'alice', isUser: true, replacement: 'erased:x' };
  const entry = (object_name: string, actor: unknown = 'cli', detail: unknown = null) => ({
    actor,
    object_name,
    detail,
  });

  const hash = erasedName('alice');

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
    [entry(`subject:${hash}`), entry('subject:erased:x')],
    [entry(`grant:${hash} web`), entry('grant:erased:x web')],
  ])('%j names the person', (before, after) => {
    expect(withoutPerson(before, person)).toEqual(after);
  });

  test.each([
    [entry('user/alice2 is_owner_of car/1')],
    [entry('robot/alice')],
    [entry(`subject:${erasedName('bob')}`)],
    [entry(`client:${hash}`)],
    [entry('car/user/alice')],
    [entry('malice', 'user:robot:alice', { acceptor: 'user/alice2', of: ['al'] })],
  ])('%j names somebody else, and is the same object', (before) => {
    expect(withoutPerson(before, person)).toBe(before);
  });

  test('keeps words of the service that are ids, too', () => {
    const named = { actor: 'member:a@b.c', object_name: 'x', detail: { role: 'security-admin', id: 'security-admin' } };
    const admin = { type: 'user', id: 'security-admin', isUser: true, replacement: 'erased:x' };
    expect(withoutPerson(named, admin).detail).toEqual({ role: 'security-admin', id: 'erased:x' });
  });
});
