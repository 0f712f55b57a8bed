/** What an error may say in the log: libraries hang connections, statements and their parameters on theirs. */
import { expect, test } from 'vitest';
import { createLogger, logObservation } from '../../server/core/log.ts';

function logged(error: unknown): string {
  const lines: string[] = [];
  const logger = createLogger('debug', { write: (line: string) => void lines.push(line) });
  logObservation(logger, { kind: 'database_lost', error });
  return lines.join('');
}

test('of an error: its message, stack, code and causes; nothing that hangs on it besides', () => {
  const cause = Object.assign(new Error('connect ECONNREFUSED'), {
    code: 'ECONNREFUSED',
    port: 5432,
    password: 's3cret',
  });
  const error = Object.assign(new Error('lost', { cause }), {
    code: '57P01',
    client: { activeQuery: { text: 'select $1', values: ['s3cret'] } },
    config: { headers: { authorization: 'Bearer s3cret' } },
    detail: 'Key (token)=(s3cret) already exists.',
  });
  const text = logged(error);
  expect(text).not.toContain('s3cret');
  expect(JSON.parse(text)).toMatchObject({
    msg: 'database_lost',
    error: { type: 'Error', message: 'lost', code: '57P01', cause: { message: 'connect ECONNREFUSED', port: 5432 } },
  });
});

test('of several errors at once each, and of a circle of causes an end', () => {
  const circle = new Error('round');
  circle.cause = circle;
  expect(logged(circle).match(/"round"/g)).toHaveLength(6);
  expect(logged(new AggregateError([new Error('one'), new Error('two')], 'all'))).toMatch(/"one".*"two"/);
});

test('the credentials of a URL are left out of messages and stacks', () => {
  const text = logged(
    new Error('no answer of postgresql://app:s3cr:et@db.example:5432/accord and https://u:s3cret@x/'),
  );
  expect(text).not.toContain('s3cr');
  expect(text).toContain('postgresql://***@db.example:5432/accord and https://***@x/');
});

test('and out of whatever else is told, such as an issuer', () => {
  const lines: string[] = [];
  const logger = createLogger('debug', { write: (line: string) => void lines.push(line) });
  logObservation(logger, {
    kind: 'jwks_failed',
    tenant: 'aa',
    issuer: 'https://u:s3cret@x/',
    url: 'https://u:s3cret@x/keys',
    error: new Error('no'),
  });
  expect(lines.join('')).toMatch(/"issuer":"https:\/\/\*\*\*@x\/"/);
});

test.each([['a text'], [undefined], [null]])('%s that was thrown is no error of the log', (thrown) => {
  expect(() => logged(thrown)).not.toThrow();
});
