/** Cursors: opaque, of one list each, and nobody's own make gets through. */
import { describe, expect, test } from 'vitest';
import { decodeCursor, encodeCursor } from '../../server/http/paging.ts';

const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a cursor', () => {
  test.each(['car:read', '🚗', '', '"]', 'a/b?c#d', 'x'.repeat(253)])(
    'of %j comes back as it was, and fits a URL',
    (position) => {
      const cursor = encodeCursor(position, 'policies');
      expect(cursor).toMatch(/^[\w-]+$/);
      expect(decodeCursor(cursor, 'policies')).toBe(position);
    },
  );

  test.each([
    ['another list', encodeCursor('a', 'members')],
    ['nothing', ''],
    ['no base64', '!!!'],
    ['no JSON', Buffer.from('policies').toString('base64url')],
    ['no array', forged({ 0: 'policies', 1: 'a' })],
    ['a number', forged(['policies', 1])],
    ['no position', forged(['policies'])],
    ['a NUL', forged(['policies', 'a\0'])],
  ])('of %s is refused with its place', (_, cursor) => {
    expect(() => decodeCursor(cursor, 'policies')).toThrow(
      expect.objectContaining({ status: 400, errors: [expect.objectContaining({ pointer: '/query/cursor' })] }),
    );
  });

  test('must have the shape of its list', () => {
    expect(decodeCursor(encodeCursor('12', 'revisions'), 'revisions', /^\d+$/)).toBe('12');
    expect(() => decodeCursor(encodeCursor('12 or 1=1', 'revisions'), 'revisions', /^\d+$/)).toThrow();
  });
});
