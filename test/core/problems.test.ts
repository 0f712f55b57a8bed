/** Problems: one definition each, encoded as RFC 9457 whatever was thrown, with the cause kept back. */
import { describe, expect, test } from 'vitest';
import { defineProblems, Problem, problem } from '../../server/core/problems.ts';
import { quotaExceeded } from '../../server/core/quota.ts';
import { problemOf } from '../../server/http/errors.ts';
import { allProblems } from '../../server/room/catalogue.ts';
import { rooms } from '../../server/rooms.ts';

describe('definitions', () => {
  test('are complete, stable in form, and of errors only', () => {
    expect(allProblems(rooms).size).toBeGreaterThan(20);
    for (const [code, { status, title, when }] of allProblems(rooms)) {
      expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
      expect(status, code).toBeGreaterThanOrEqual(400);
      expect(title, code).toMatch(/^[A-Z][^.]*[^.]$/);
      expect(when, code).toMatch(/^[A-Z].*\.$/s);
    }
  });
  test('of 429 and 503 say when to try again, and only a used up quota has RateLimit fields', () => {
    for (const [code, { status, retryAfterSeconds }] of allProblems(rooms))
      if (status === 429 || status === 503) expect(retryAfterSeconds, code).toBeGreaterThan(0);
    const quota = { name: 'tenant', count: 10, windowMs: 60_000 };
    expect(quotaExceeded(quota, 1001).headers).toEqual({
      'retry-after': '2',
      'ratelimit-policy': '"tenant";q=10;w=60',
      ratelimit: '"tenant";r=0;t=2',
    });
    expect(quotaExceeded(quota, 0).headers['retry-after']).toBe('1');
    expect(problem('not_ready').headers).toEqual({ 'retry-after': '1' });
    expect(problem('not_ready', { headers: { 'retry-after': '5' } }).headers).toEqual({ 'retry-after': '5' });
  });
  test('cannot be made twice', () => {
    const again = defineProblems({ not_found: { status: 404, title: 'Again', when: 'Again.' } });
    expect(() => allProblems([...rooms, { problems: again }])).toThrow(/not_found/);
  });
});

describe('whatever is thrown becomes one', () => {
  const coded = (code: string, message = 'm') => Object.assign(new Error(message), { code });
  test.each([
    [problem('not_found'), 404, 'not_found'],
    [coded('FST_ERR_CTP_BODY_TOO_LARGE'), 413, 'body_too_large'],
    [coded('FST_ERR_CTP_INVALID_MEDIA_TYPE'), 415, 'unsupported_media_type'],
    [Object.assign(new Error('x'), { statusCode: 429 }), 429, 'rate_limited'],
    [Object.assign(new Error('x'), { statusCode: 503 }), 503, 'not_ready'],
    [Object.assign(new Error('x'), { statusCode: 400 }), 400, 'invalid_request'],
    [new Error('x'), 500, 'internal_error'],
    ['a string', 500, 'internal_error'],
    [undefined, 500, 'internal_error'],
    [null, 500, 'internal_error'],
  ])('%s', (thrown, status, code) => {
    const found = problemOf(thrown);
    expect([found.status, found.code]).toEqual([status, code]);
    if (status === 500 && thrown) expect(found.cause).toBe(thrown);
  });

  test.each([
    ['57P01', 'terminating connection due to administrator command'],
    ['57P03', 'the database system is starting up'],
    ['53300', 'sorry, too many clients already'],
    ['08006', 'connection failure'],
    ['ECONNREFUSED', 'connect'],
    ['ECONNRESET', 'read'],
    ['EAI_AGAIN', 'getaddrinfo'],
    ['ETIMEDOUT', 'connect'],
  ])('a lost database (%s) is 503, to be tried again', (code, message) => {
    expect(problemOf(coded(code, message))).toMatchObject({ status: 503, code: 'not_ready' });
  });

  test("a Unix socket that is not there is a lost database, and a file that is not there is no database's fault", () => {
    const missing = (syscall: string) => problemOf(Object.assign(coded('ENOENT', syscall), { syscall }));
    expect(missing('connect')).toMatchObject({ status: 503, code: 'not_ready' });
    expect(missing('open')).toMatchObject({ status: 500, code: 'internal_error' });
  });

  test.each(['57014', '55P03', '25P04'])(
    'a statement that waited for too long (%s) is 503, and says when to try again',
    (code) => {
      const found = problemOf(coded(code));
      expect(found).toMatchObject({ status: 503, code: 'not_ready', headers: { 'retry-after': '5' } });
    },
  );

  test.each(['Connection terminated unexpectedly', 'timeout exceeded when trying to connect'])(
    "pg's own %s, too",
    (message) => {
      expect(problemOf(new Error(message)).code).toBe('not_ready');
    },
  );

  test.each(['23505', '22P02', '42601'])('an error of ours in SQL (%s) is 500', (code) => {
    expect(problemOf(coded(code)).code).toBe('internal_error');
  });
});

test('a problem keeps its cause from its message', () => {
  const made = problem('internal_error', { cause: new Error('secret') });
  expect(made).toBeInstanceOf(Problem);
  expect([made.message.includes('secret'), (made.cause as Error).message]).toEqual([false, 'secret']);
});
