/** A sealed entry as it comes for verifying: what its hashes are of, however its JSON is written. */
import { describe, expect, test } from 'vitest';
import { chained, genesis, leafOf, personalDigest } from '../../server/ledger/digest.ts';
import { follows, isPersonal, type SealedLine, sealedRow } from '../../server/ledger/line.ts';

const before = genesis('carshare');
const salt = '00112233445566778899aabbccddeeff';
const personal_digest = personalDigest(salt, { actor: { type: 'user', id: 'Zoë' }, userId: 'Zoë' });
const row = {
  ...{
    id: '0199a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b',
    time_ms: 1_772_359_200_123,
    type: 'read',
    name: 'a/b',
    version: '1',
  },
  ...{ document_version: null, document_language: 'en', content_digest: 'sha256:ab', outcome: 'given' },
  ...{ request_id: '-', client_id: null },
  ...{ personal_digest, salt, actor_type: 'user', actor_id: 'Zoë', user_id: 'Zoë', sequence: 1 },
};
const hash = chained(before, leafOf(row));

const fields = '["read","a/b","1",null,"en","sha256:ab","given","-",null]';
const personal = '["user","Zoë","Zoë"]';
const line = (change: Partial<Record<number, string>> = {}): SealedLine => {
  const parts = [hash, personal_digest, row.id, '1', String(row.time_ms), salt, fields, personal];
  return parts.map((part, i) => change[i] ?? part) as SealedLine;
};

test('is read', () => {
  expect(sealedRow(line())).toEqual({ ...row, reason: null, hash });
  // A member wrote it for the user, and said why.
  const told = sealedRow(line({ 7: '["member","ada@example.com","Zoë","by phone"]' }));
  expect(told).toMatchObject({ actor_id: 'ada@example.com', user_id: 'Zoë', reason: 'by phone' });
  expect(sealedRow(line({ 5: '-', 7: '[null,null,null]' }))).toMatchObject({
    salt: null,
    actor_id: null,
    user_id: null,
  });
});

describe('its JSON', () => {
  test('may be written as JSON.stringify does, or otherwise', () => {
    expect(follows(before, line())).toBe(true);
    expect(
      follows(before, line({ 6: '["read", "a\\/b", "\\u0031", null, "en", "sha256:ab", "given", "-", null]' })),
    ).toBe(true);
    expect(isPersonal(line())).toBe(true);
    expect(isPersonal(line({ 7: '["user", "Zo\\u00eb", "Zo\\u00EB"]' }))).toBe(true);
  });

  test('with the reason that a member gave changed is not what was digested', () => {
    const actor = { type: 'member', id: 'ada@example.com' };
    const digest = personalDigest(salt, { actor, userId: 'Zoë', reason: 'by phone' });
    expect(isPersonal(line({ 1: digest, 7: '["member","ada@example.com","Zoë","by phone"]' }))).toBe(true);
    expect(isPersonal(line({ 1: digest, 7: '["member","ada@example.com","Zoë","by letter"]' }))).toBe(false);
    expect(isPersonal(line({ 1: digest, 7: '["member","ada@example.com","Zoë"]' }))).toBe(false);
  });

  test.each([
    ['a hash', 0, genesis('other')],
    ['a digest', 1, genesis('other')],
    ['an id', 2, row.id.replace('5b', '5c')],
    ['a time', 4, String(row.time_ms + 1)],
    ['a field', 6, fields.replace('given', 'refused')],
    ['a digest of a text', 6, fields.replace('sha256:ab', 'sha256:ac')],
    ['a field that is absent', 6, fields.replace('"en"', 'null')],
  ])('with %s changed does not follow', (_what, at, text) => {
    expect(follows(before, line({ [at]: text }))).toBe(false);
  });

  test('does not follow another entry', () => {
    expect(follows(genesis('other'), line())).toBe(false);
  });

  test.each([
    ['another user', { 7: '["user","Zoë","Ann"]' }],
    ['another salt', { 5: `f${salt.slice(1)}` }],
    ['a salt that was kept', { 7: '[null,null,null]' }],
    ['a salt that was wiped alone', { 5: '-' }],
    ['a user that was left', { 5: '-', 7: '[null,null,"Zoë"]' }],
  ])('with %s is not what the digest is of', (_what, change) => {
    expect(isPersonal(line(change))).toBe(false);
  });

  test('with all personal fields wiped is what an erasure leaves', () => {
    expect(isPersonal(line({ 5: '-', 7: '[null,null,null]' }))).toBe(true);
  });
});
