import { describe, expect, test } from 'vitest';
import { checkDeletionOwnership, checkOwnership, type Owner, type Writer } from '../../server/core/ownership.ts';

const api: Owner = { source: 'api' };
const one: Owner = { source: 'files', namespace: 'a', name: 'one', uid: '1' };
const two: Owner = { source: 'files', namespace: 'a', name: 'two', uid: '2' };
const writer = (owner: Owner, adopt = false): Writer => ({ owner, actor: 'test', adopt });

describe('two writers, one owner', () => {
  test.each([
    ['nobody', undefined, writer(api), 'new'],
    ['nobody', undefined, writer(one), 'new'],
    ['the API', api, writer(api), 'own'],
    ['the manifest itself', one, writer(one), 'own'],
    ['the manifest, made again', one, writer({ ...one, uid: '9' }), 'own'],
    ['the API, adopting', api, writer(one, true), 'adopted'],
  ])('a row of %s is granted', (_, current, who, expected) => {
    expect(checkOwnership(current, who)).toBe(expected);
  });
  test.each([
    ['a manifest, to the API', one, writer(api), 'owned_by_manifest'],
    [
      'a manifest, to the API, whose requests say nothing of adopting',
      one,
      { owner: api, actor: 'test' },
      'owned_by_manifest',
    ],
    ['the API, to a manifest', api, writer(one), 'owned_by_api'],
    ['another manifest', one, writer(two), 'duplicate_name'],
    ['another manifest, adopting', one, writer(two, true), 'duplicate_name'],
    ['another source', { ...one, source: 'kubernetes' as const }, writer(one), 'duplicate_name'],
  ])('a row of %s is refused', (_, current, who, code) => {
    expect(() => checkOwnership(current, who)).toThrow(expect.objectContaining({ code, status: 409 }));
  });
  test('configAuthority shuts the other writer out, also from what is its own', () => {
    expect(() => checkOwnership(api, writer(api), 'Kubernetes')).toThrow(
      expect.objectContaining({ code: 'config_authority' }),
    );
    expect(() => checkOwnership(undefined, writer(one), 'Api')).toThrow(
      expect.objectContaining({ code: 'config_authority' }),
    );
    expect(checkOwnership(undefined, writer(one), 'Kubernetes')).toBe('new');
  });
  test('the refusal names the manifest', () => {
    expect(() => checkOwnership(one, writer(api))).toThrow(/files a\/one/);
  });

  test('a deletion is the very same object’s, told by its uid', () => {
    const again = writer({ ...one, uid: '9' });
    expect(checkOwnership(one, again)).toBe('own');
    expect(() => checkDeletionOwnership(one, again)).toThrow(expect.objectContaining({ code: 'duplicate_name' }));
    expect(() => checkDeletionOwnership(one, writer(one))).not.toThrow();
    expect(() => checkDeletionOwnership(api, writer(api))).not.toThrow();
    expect(() => checkDeletionOwnership(one, writer(api))).toThrow(
      expect.objectContaining({ code: 'owned_by_manifest' }),
    );
    expect(() => checkDeletionOwnership(one, writer(one), 'Api')).toThrow(
      expect.objectContaining({ code: 'config_authority' }),
    );
  });
});
