/** The rules of invitations, as tables: which type fits, until when, and what is shown of an address. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { Problem } from '../../server/core/problems.ts';
import {
  bindingOf,
  maskOf,
  offerOf,
  relationshipFor,
  resendPauseMs,
  statusOf,
  termsOf,
  ttlMs,
} from '../../server/invitations/rules.ts';

const now = Date.UTC(2026, 0, 15, 12, 0, 0, 250);
const at = (ms: number) => new Date(ms).toISOString();
const invitation = { enabled: true, ttl: 'P7D', maxUses: 3, redirectUris: ['https://a.example/?x=1'] };
const type = (key: string, more: object = { invitation }) => {
  const [from_type, name, to_type] = key.split(':') as [string, string, string];
  return { from_type, name, to_type, retired: false, spec: more as never };
};
const asked = (to: string, inviteeType?: string) => ({
  relationshipType: 'drives',
  to: { type: to, id: '1' },
  invitee: { contact: { type: 'email', value: 'b@x.y' }, ...(inviteeType ? { type: inviteeType } : {}) },
});
const codeOf = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    if (error instanceof Problem) return [error.code, error.errors?.[0]?.pointer];
    throw error;
  }
  return undefined;
};

describe('the type that fits', () => {
  test.each([
    ['the only one', ['user:drives:car'], asked('car'), 'user', 'acceptor_to_target'],
    ['one that begins at the target', ['car:drives:user'], asked('car'), 'user', 'target_to_acceptor'],
    [
      'one that leads there goes first',
      ['user:drives:car', 'car:drives:dog'],
      asked('car'),
      'user',
      'acceptor_to_target',
    ],
    [
      'of several the one for the invitee',
      ['user:drives:car', 'group:drives:car'],
      asked('car', 'group'),
      'group',
      'acceptor_to_target',
    ],
    [
      'by the invitee the other way',
      ['user:drives:car', 'car:drives:dog'],
      asked('car', 'dog'),
      'dog',
      'target_to_acceptor',
    ],
    ['between entities of one type', ['user:drives:user'], asked('user'), 'user', 'acceptor_to_target'],
  ])('%s', (_, keys, body, acceptor, direction) => {
    const offer = offerOf(
      keys.map((key) => type(key)),
      body,
    );
    expect(offer.direction).toBe(direction);
    expect(direction === 'acceptor_to_target' ? offer.type.from_type : offer.type.to_type).toBe(acceptor);
  });
  test.each([
    ['none', [], asked('car'), 'type_unknown', '/relationshipType'],
    ['none for the invitee', [type('user:drives:car')], asked('car', 'group'), 'type_unknown', '/relationshipType'],
    ['several', [type('user:drives:car'), type('group:drives:car')], asked('car'), 'invalid_request', '/invitee/type'],
    ['not shared', [type('user:drives:car', {})], asked('car'), 'invitation_not_offered', undefined],
    [
      'switched off',
      [type('user:drives:car', { invitation: { enabled: false } })],
      asked('car'),
      'invitation_not_offered',
      undefined,
    ],
    ['retired', [{ ...type('user:drives:car'), retired: true }], asked('car'), 'invitation_not_offered', undefined],
  ])('%s is refused', (_, types, body, code, pointer) => {
    expect(codeOf(() => offerOf(types, body))).toEqual([code, pointer]);
  });
  test('what is not shared does not make another ambiguous', () => {
    const offer = offerOf([type('user:drives:car'), type('group:drives:car', {})], asked('car'));
    expect(offer.type.from_type).toBe('user');
  });
});

describe('terms', () => {
  const terms = (more: object) => termsOf(type('user:drives:car'), { ...asked('car'), ...more } as never, now);
  test('are those of the type, to the second', () => {
    expect(terms({})).toEqual({ maxUses: 3, expiresAt: '2026-01-22T12:00:00.000Z' });
    expect(terms({ maxUses: 1, expiresAt: '2026-01-15T14:00:01.999+01:00' })).toEqual({
      maxUses: 1,
      expiresAt: '2026-01-15T13:00:01.000Z',
    });
    expect(terms({ redirectUri: 'https://a.example/?x=1' }).maxUses).toBe(3);
  });
  test('end with the relationship', () => {
    const until = at(now + 5000);
    expect(terms({ relationshipExpiresAt: until })).toEqual({
      maxUses: 3,
      expiresAt: '2026-01-15T12:00:05.000Z',
      relationshipExpiresAt: until,
    });
  });
  test.each([
    [{ maxUses: 4 }, '/maxUses'],
    [{ redirectUri: 'https://a.example/?x=1&y' }, '/redirectUri'],
    [{ redirectUri: 'https://a.example/?X=1' }, '/redirectUri'],
    [{ expiresAt: at(now + ttlMs('P7D') + 1) }, '/expiresAt'],
    [{ expiresAt: at(now) }, '/expiresAt'],
    [{ expiresAt: at(now + 749) }, '/expiresAt'],
    [{ expiresAt: '2026-02-30T00:00:00Z' }, '/expiresAt'],
    [{ relationshipExpiresAt: at(now - 1) }, '/relationshipExpiresAt'],
    [{ relationshipExpiresAt: at(now + 749) }, '/relationshipExpiresAt'],
  ])('%j is refused', (more, pointer) => {
    expect(codeOf(() => terms(more))).toEqual(['invalid_request', pointer]);
  });
  test('exactly the ttl, and one whole second, are let through', () => {
    expect(terms({ expiresAt: at(now + ttlMs('P7D')) }).expiresAt).toBe('2026-01-22T12:00:00.000Z');
    expect(terms({ expiresAt: at(now + 750) }).expiresAt).toBe('2026-01-15T12:00:01.000Z');
  });
  test.each([
    ['P7D', 604_800_000],
    ['P30D', limits.invitationAgeMsMax],
    ['PT720H', limits.invitationAgeMsMax],
    ['PT30M', 1_800_000],
    ['PT90S', 90_000],
  ])('a ttl of %s', (ttl, ms) => {
    expect(ttlMs(ttl)).toBe(ms);
  });
  test('no ttl is longer than the keys that verify it are kept (invitationAgeMsMax)', () => {
    expect(ttlMs('P31D')).toBe(limits.invitationAgeMsMax);
  });
});

test.each([
  ['bob@example.com', 'b***@example.com'],
  ['b@example.com', '***@example.com'],
  ['\u{20000}b@example.com', '\u{20000}***@example.com'],
])('%s is shown as %s', (address, mask) => {
  expect(maskOf(address)).toBe(mask);
});

test.each([
  ['none', 'none', 'none'],
  ['none', 'contact', 'contact'],
  ['contact', 'none', 'contact'],
  ['contact', 'contact', 'contact'],
] as const)('made with %s, of a type with %s now: %s', (made, now, binding) => {
  expect(bindingOf({ binding: made }, type('user:drives:car', { invitation: { ...invitation, binding: now } }))).toBe(
    binding,
  );
  expect(bindingOf({ binding: made }, undefined)).toBe(made);
  expect(bindingOf({ binding: made }, type('user:drives:car', {}))).toBe(made);
});

test.each([
  ['pending', now + 1, 'pending'],
  ['pending', now, 'expired'],
  ['pending', now - 1, 'expired'],
  ['accepted', now - 1, 'accepted'],
  ['revoked', now - 1, 'revoked'],
] as const)('%s until %i is %s', (status, until, shown) => {
  expect(statusOf({ status, expires_at: at(until) }, now)).toBe(shown);
});

test('the pause before it is sent again doubles (invitationResendPauseMs)', () => {
  expect([1, 2, 3, 10].map(resendPauseMs)).toEqual([1, 2, 4, 512].map((n) => n * limits.invitationResendPauseMs));
});

test('what is accepted goes the way that the invitation says, and ends when it does', () => {
  const car = { type: 'car', id: '1' };
  const bob = { type: 'user', id: 'bob' };
  const row = (direction: string, types: readonly [string, string], until: string | null = null) =>
    ({
      ...{ direction, from_type: types[0], name: 'drives', to_type: types[1] },
      ...{ target_type: 'car', target_id: '1', relationship_expires_at: until },
    }) as never;
  const there = { from: bob, relationshipType: 'drives', to: car };
  expect(relationshipFor(row('acceptor_to_target', ['user', 'car']), bob)).toEqual(there);
  const back = { from: car, relationshipType: 'drives', to: bob };
  expect(relationshipFor(row('target_to_acceptor', ['car', 'user']), bob)).toEqual(back);
  expect(relationshipFor(row('acceptor_to_target', ['user', 'car'], at(now)), bob)).toEqual({
    ...there,
    expiresAt: at(now),
  });
  expect(codeOf(() => relationshipFor(row('acceptor_to_target', ['dog', 'car']), bob))).toEqual([
    'invalid_request',
    '/acceptor/type',
  ]);
});
