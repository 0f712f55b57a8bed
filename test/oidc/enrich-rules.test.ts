import { expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { fittingClaims } from '../../server/oidc/enrich-rules.ts';

const wanted = new Map([
  ['relationships', 'r'],
  ['consents', 'c'],
] as const);
/** One entry, so that the claim has so many bytes of JSON. */
const ofBytes = (bytes: number) => [`é${'x'.repeat(bytes - '["é"]'.length - 1)}`];
const fitting = (relationships: unknown[] | undefined, consents: unknown[] | undefined) => {
  const { claims, leftOut } = fittingClaims(wanted, (scope) => (scope === 'consents' ? consents : relationships));
  return [Object.keys(claims), leftOut];
};

test('claimsBytesMax of both together, in bytes; what does not fit leaves its room to the other', () => {
  const most = limits.claimsBytesMax;
  expect(Buffer.byteLength(JSON.stringify(ofBytes(most)))).toBe(most);
  expect(fitting(ofBytes(most - 2), [])).toEqual([['r', 'c'], []]);
  expect(fitting(ofBytes(most - 1), [])).toEqual([['r'], [['consents', 'large']]]);
  expect(fitting(ofBytes(most), [])).toEqual([['r'], [['consents', 'large']]]);
  expect(fitting(ofBytes(most + 1), ofBytes(most))).toEqual([['c'], [['relationships', 'large']]]);
  expect(fitting(undefined, ofBytes(most + 1))).toEqual([
    [],
    [
      ['relationships', 'many'],
      ['consents', 'large'],
    ],
  ]);
});
