import { describe, expect, test } from 'vitest';
import { bounds } from '../../crds/index.ts';
import { Claims } from '../../operator/claims.ts';
import { activeOf, isReady, type Outcome, statusOf } from '../../operator/conditions.ts';
import { ApiError } from '../../operator/kubernetes/errors.ts';
import { isDatabaseUnavailable, refusalOf } from '../../operator/reasons.ts';
import type { SourceObject } from '../../operator/source.ts';
import { Problem, type ProblemDefinition } from '../../server/core/problems.ts';
import { allProblems } from '../../server/room/catalogue.ts';
import { rooms } from '../../server/rooms.ts';
import '../../operator/kinds/index.ts';

const served = { status: 'True' as const, reason: 'Programmed', message: 'yes' };
const outcome = (more: Partial<Outcome> = {}): Outcome => ({
  generation: 2,
  accepted: { ok: true, reason: 'Valid', message: 'fine' },
  active: { generation: 2, revision: 7 },
  programmed: served,
  ...more,
});

describe('a status', () => {
  test('is equal for an equal outcome, whatever the time', () => {
    const first = statusOf(outcome(), {}, '2026-01-01T00:00:00.000Z');
    expect(statusOf(outcome(), first, '2027-01-01T00:00:00.000Z')).toEqual(first);
    expect(isReady(first)).toBe(true);
    expect(activeOf(first)).toEqual({ generation: 2, revision: 7 });
  });

  test('gives only what turned a new time', () => {
    const first = statusOf(outcome(), {}, '2026-01-01T00:00:00.000Z');
    const waiting = { status: 'False' as const, reason: 'Pending', message: 'no' };
    const times = statusOf(outcome({ programmed: waiting }), first, '2027-01-01T00:00:00.000Z').conditions?.map(
      (one) => `${one.type} ${one.lastTransitionTime.slice(0, 4)}`,
    );
    expect(times).toEqual(['Accepted 2026', 'Programmed 2027', 'Ready 2027']);
  });

  test('holds no more than a condition may, and nothing that jsonb refuses', () => {
    const max = bounds.conditionMessageCharsMax;
    const message = (text: string) =>
      statusOf(outcome({ programmed: { ...served, message: text } }), {}, '').conditions?.[1]?.message;
    expect(message('x'.repeat(max))).toHaveLength(max);
    expect(message('x'.repeat(max + 1))).toHaveLength(max);
    expect(message('a\0b\uD800c')).toBe('a\uFFFDb\uFFFDc');
  });
});

describe('a refusal', () => {
  const refuse = (code: string) =>
    refusalOf(
      new Problem(code, allProblems(rooms).get(code) as ProblemDefinition, {
        errors: [{ pointer: '/rego', detail: 'bad', line: 3, column: 4 }],
      }),
      () => 'a.yaml:9',
    );

  test('has its place in the source and in the Rego', () => {
    expect(refuse('policy_does_not_compile')).toEqual({
      reason: 'CompileError',
      message: 'a.yaml:9: /spec/rego: line 3, column 4: bad',
      dependsOnOthers: false,
    });
  });

  test("is never said for what is not the manifest's fault", () => {
    expect(refuse('compiler_busy')).toBeUndefined();
    expect(refuse('internal_error')).toBeUndefined();
    expect(refusalOf(new Error('Connection terminated unexpectedly'))).toBeUndefined();
  });

  test('is known for every problem that the rooms can answer a manifest with', () => {
    for (const [code, { status }] of allProblems(rooms)) {
      if (status >= 400 && status < 500 && status !== 429) expect(refuse(code)?.reason, code).toMatch(/^[A-Z]/);
    }
  });

  test("a character that Postgres does not hold is the manifest's fault", () => {
    expect(refusalOf(Object.assign(new Error('invalid byte sequence'), { code: '22021' }))?.reason).toBe('Invalid');
  });
});

describe('the database is away', () => {
  test.each([
    { code: '57P01' },
    { code: '08006' },
    { code: 'ECONNREFUSED' },
    { code: 'EAI_AGAIN', syscall: 'getaddrinfo' },
    { code: 'ENOENT', syscall: 'connect' },
    { message: 'Connection terminated unexpectedly' },
    { message: 'timeout exceeded when trying to connect' },
  ])('%j', (details) => {
    expect(isDatabaseUnavailable(Object.assign(new Error('x'), details))).toBe(true);
  });
});

describe('the database answered, or somebody else is away', () => {
  test.each([
    { code: '23505', message: 'duplicate key value violates unique constraint' },
    { code: '57014', message: 'canceling statement due to statement timeout' },
    { code: '42P01', message: 'relation "connection" does not exist' },
    { code: 'ENOENT', syscall: 'open', message: 'no such file or directory, open status/x.yaml' },
    { message: 'The connection of the manifest is wrong.' },
  ])('%j', (details) => {
    expect(isDatabaseUnavailable(Object.assign(new Error('x'), details))).toBe(false);
  });

  test('an API server that breaks a connection', () => {
    const message = 'Connection terminated unexpectedly';
    expect(isDatabaseUnavailable(new ApiError(0, 'ConnectionBroken', message))).toBe(false);
    expect(isDatabaseUnavailable(new Error(message))).toBe(true);
  });
});

describe('claims', () => {
  const object = (name: string, createdAt?: string) =>
    ({
      ...{
        key: `Policy/default/${name}`,
        kind: 'Policy',
        checked: { ok: true },
        claims: { tenant: 't', name: 'read' },
      },
      ...(createdAt ? { createdAt } : {}),
    }) as unknown as SourceObject;

  test('who goes, or claims something else, frees the others; who stays as it is, nobody', () => {
    const claims = new Claims();
    const [one, other] = [object('a'), object('b')];
    expect([one, other, one].map((each) => claims.update(each.key, each))).toEqual([[], [], []]);
    const moved = { ...one, claims: { tenant: 't', name: 'write' } } as SourceObject;
    expect(claims.update(one.key, moved)).toEqual([other.key]);
    expect(claims.update(one.key, undefined)).toEqual([]);
    claims.update(one.key, one);
    const broken = { ...other, checked: { ok: false, message: '' } } as unknown as SourceObject;
    expect(claims.update(other.key, broken)).toEqual([one.key]);
  });

  test('the oldest has no elder; without times, the first key', () => {
    const claims = new Claims();
    const [young, old] = [object('a', '2026-02-01T00:00:00Z'), object('b', '2026-01-01T00:00:00Z')];
    for (const one of [young, old]) claims.update(one.key, one);
    expect(claims.olderClaimant(young, () => true)).toBe(old);
    expect(claims.olderClaimant(old, () => true)).toBeUndefined();
    expect(claims.update(old.key, undefined)).toEqual([young.key]);
    expect(claims.olderClaimant(young, () => true)).toBeUndefined();
    const [first, second] = [object('c'), object('d')];
    const others = new Claims();
    for (const one of [second, first]) others.update(one.key, one);
    expect(others.olderClaimant(second, () => true)).toBe(first);
  });
});
