import { expect, test } from 'vitest';
import { rowOf } from '../../cli/report.ts';

const rowWith = (...conditions: { type: string; status: 'True' | 'False' | 'Unknown'; message: string }[]) => {
  const target = { key: 'TrustedIssuer/acme/idp', kind: 'TrustedIssuer', namespace: 'acme', name: 'idp' } as const;
  const filled = conditions.map((one) => ({ ...one, reason: 'R', lastTransitionTime: '', observedGeneration: 1 }));
  const ready = {
    type: 'Ready',
    status: 'True',
    message: 'm',
    reason: 'R',
    lastTransitionTime: '',
    observedGeneration: 1,
  };
  const status = { conditions: [ready as (typeof filled)[number], ...filled] };
  return rowOf({ target: { ...target, uid: 'u', generation: 1 }, tenant: 'acme', status });
};

test('a manifest that is Ready says what is wrong beside it, in one line', () => {
  expect(rowWith()).toEqual(['TrustedIssuer', 'acme/idp', 'Ready', '']);
  expect(rowWith({ type: 'KeysAvailable', status: 'Unknown', message: 'x' })[3]).toBe('');
  expect(rowWith({ type: 'KeysAvailable', status: 'False', message: 'no keys:\nhttps://x' })[3]).toBe(
    'KeysAvailable=False: no keys: https://x',
  );
  expect(rowWith({ type: 'MemberAccess', status: 'False', message: 'nobody' })[3]).toBe('MemberAccess=False: nobody');
});
