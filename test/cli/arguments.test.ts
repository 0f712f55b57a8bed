/** What is typed twice: either all of it counts, or it is refused. */
import { expect, test } from 'vitest';
import { type Parsed, parseCommandLine } from '../../cli/arguments.ts';

const token = ['token', '--tenant', 'carshare', '--client', 'me'];

test('scopes add up, however they are given', () => {
  const { values } = parseCommandLine([...token, '--scope', 'consents:read', '--scope=authz:evaluate']) as Parsed;
  expect(values).toMatchObject({ tenant: 'carshare', client: 'me', scope: 'consents:read,authz:evaluate' });
});

test('any other option that is given twice is refused, with the usage', () => {
  expect(() => parseCommandLine([...token, '--tenant', 'other'])).toThrow(
    /^accord token: Option '--tenant' is given twice\nusage: accord token --tenant T/,
  );
});
