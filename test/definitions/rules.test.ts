/** Names, attributes and dates of consent definitions: what is refused, what time has locked, and what is served. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import {
  attributesOf,
  checkDateIsFree,
  checkName,
  checkNotPast,
  checkStartsLater,
  definitionsOf,
  endOfLifeOf,
  isDefinitionLocked,
  isDocumentLocked,
  isEndOfLifeLocked,
  isVersionLocked,
} from '../../server/definitions/rules.ts';
import type { DocumentPlan, StoredDefinition, VersionPlan } from '../../server/definitions/schema.ts';
import type { TenantSpec } from '../../server/tenants/index.ts';
import { refusalOf } from '../helpers/problem.ts';

const NOW = Date.UTC(2026, 0, 1);
const text = (ms: number) => new Date(ms).toISOString();
const document = (version: string, language: string, effectiveDate: number): DocumentPlan => ({
  ...{ version, language, effectiveDate, attributes: {} },
});
const version = (name: string, ...documents: DocumentPlan[]): VersionPlan => ({
  ...{ version: name, attributes: {}, documents },
});

describe('a name', () => {
  test.each(['terms', 'Größe 1', 'a'.repeat(8)])('may be %s', (name) => {
    expect(refusalOf(() => checkName(name, 8, '/params/name'))).toBeUndefined();
  });

  test.each(['', 'a/b', 'a\nb', 'a'.repeat(9)])('may not be %j', (name) => {
    const detail = `${JSON.stringify(name)} is not printable characters without / ? # and backslash, at most 8.`;
    expect(refusalOf(() => checkName(name, 8, '/params/name'))).toEqual({
      ...{ code: 'consent_name_invalid', detail, places: [['/params/name', detail]] },
    });
  });
});

describe('attributes', () => {
  const spec = {
    consentAttributes: [
      { object: 'definition', name: 'owner', type: 'string', required: true },
      { object: 'definition', name: 'weight', type: 'number', required: false },
      { object: 'definition', name: 'legal', type: 'boolean', required: false },
      { object: 'definition', name: 'reviewed', type: 'date', required: false },
      { object: 'document', name: 'url', type: 'string', required: true },
    ],
  } as unknown as TenantSpec;
  const placesOf = (given: Record<string, unknown>) =>
    refusalOf(() => attributesOf(spec, 'definition', given, '/spec'))?.places;

  test('are those that the tenant declares for the object', () => {
    const given = {
      owner: 'o'.repeat(limits.attributeCharsMax),
      weight: 1.5,
      legal: false,
      reviewed: '2026-01-01T00:00:00Z',
    };
    expect(attributesOf(spec, 'definition', given, '')).toEqual(given);
    expect(attributesOf(spec, 'document', { url: 'u' }, '')).toEqual({ url: 'u' });
    expect(attributesOf({} as TenantSpec, 'definition', {}, '')).toEqual({});
  });

  test.each<[Record<string, unknown>, [string, string][]]>([
    [{}, [['/spec/owner', 'The tenant requires this attribute of every definition.']]],
    [
      { owner: 'o'.repeat(limits.attributeCharsMax + 1) },
      [['/spec/owner', 'Must be a string of at most 4096 characters.']],
    ],
    [{ owner: 'o', weight: '1' }, [['/spec/weight', 'Must be a number.']]],
    [{ owner: 'o', legal: 1 }, [['/spec/legal', 'Must be true or false.']]],
    [{ owner: 'o', reviewed: '2026-01-01' }, [['/spec/reviewed', 'Must be an RFC 3339 instant.']]],
    [{ owner: 'o', url: 'u' }, [['/spec/url', 'The tenant does not declare this attribute for a definition.']]],
    [{ owner: 'o', 'a/~': 1 }, [['/spec/a~1~0', 'The tenant does not declare this attribute for a definition.']]],
    [
      { x: 1, weight: null },
      [
        ['/spec/x', 'The tenant does not declare this attribute for a definition.'],
        ['/spec/weight', 'Must be a number.'],
        ['/spec/owner', 'The tenant requires this attribute of every definition.'],
      ],
    ],
  ])('%j are refused with every place', (given, places) => {
    expect(placesOf(given)).toEqual(places);
  });
});

describe('time locks', () => {
  const early = document('1', 'de', NOW);
  const late = document('2', 'de', NOW + 1);

  test('a document from its date on, and with it its version and definition', () => {
    expect([NOW - 1, NOW, NOW + 1].map((now) => isDocumentLocked(early, now))).toEqual([false, true, true]);
    const one = version('1', late, early);
    expect([NOW - 1, NOW].map((now) => isVersionLocked(one, now))).toEqual([false, true]);
    const all = { versions: [version('0'), version('2', late), one] };
    expect([NOW - 1, NOW].map((now) => isDefinitionLocked(all, now))).toEqual([false, true]);
    expect(isDefinitionLocked({ versions: [] }, NOW)).toBe(false);
  });

  test('an end of life from its start on', () => {
    expect([NOW - 1, NOW].map((now) => isEndOfLifeLocked({ startDate: NOW }, now))).toEqual([false, true]);
  });
});

describe('dates', () => {
  const plan = { startDate: text(NOW), endDate: text(NOW + 1), gracePeriod: 'P30D' };

  test('of an end of life begin before they end, by a millisecond at least', () => {
    expect(endOfLifeOf(plan, '')).toEqual({ startDate: NOW, endDate: NOW + 1, gracePeriod: 'P30D' });
  });

  test.each([
    ['startDate', { startDate: '2026-01-01' }, 'Must be an RFC 3339 instant with a time zone.'],
    ['endDate', { endDate: '2026-13-01T00:00:00Z' }, 'Must be an RFC 3339 instant with a time zone.'],
    ['startDate', { endDate: plan.startDate }, `Must be before endDate, ${plan.startDate}.`],
    ['gracePeriod', { gracePeriod: '30 days' }, expect.stringMatching(/^Must be /)],
  ])('are refused at %s: %j', (field, change, detail) => {
    expect(refusalOf(() => endOfLifeOf({ ...plan, ...change }, '/endOfLife'))).toMatchObject({
      ...{ code: 'end_of_life_invalid', places: [[`/endOfLife/${field}`, detail]] },
    });
  });

  test('that time has passed are refused: a start also now, an effective date not', () => {
    const starts = (startDate: number) =>
      refusalOf(() => checkStartsLater({ startDate, endDate: NOW + 9, gracePeriod: 'P1D' }, NOW, '/e'));
    expect(starts(NOW + 1)).toBeUndefined();
    const detail = `Must be in the future; the current time is ${text(NOW)}.`;
    expect(starts(NOW)).toEqual({ code: 'date_in_past', detail, places: [['/e/startDate', detail]] });
    const effective = (date: number) => refusalOf(() => checkNotPast(date, NOW, '/d'));
    expect(effective(NOW)).toBeUndefined();
    const past = `Must not be in the past; the current time is ${text(NOW)}.`;
    expect(effective(NOW - 1)).toEqual({ code: 'date_in_past', detail: past, places: [['/d/effectiveDate', past]] });
  });

  test('are those of one document in a language', () => {
    const versions = [version('1', document('a', 'de', NOW)), version('2', document('b', 'en', NOW))];
    const taken = (name: string, one: DocumentPlan) => refusalOf(() => checkDateIsFree(versions, name, one, '/d'));
    expect(taken('2', document('a', 'de', NOW))).toEqual({
      code: 'effective_date_taken',
      detail: `The document a of version 1 takes effect in de at ${text(NOW)} too.`,
      places: [['/d/effectiveDate', expect.any(String)]],
    });
    expect(taken('1', document('c', 'de', NOW))?.code).toBe('effective_date_taken');
    expect(taken('1', document('a', 'de', NOW))).toBeUndefined(); // itself
    expect(taken('1', document('c', 'de', NOW + 1))).toBeUndefined();
    expect(taken('1', document('c', 'fr', NOW))).toBeUndefined();
  });
});

test('what is served is by name, without the archived, and cannot be changed', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ minLength: 1 })), fc.array(fc.boolean()), (names, archived) => {
      const stored = names.map((name, i) => ({ name, archived: archived[i] === true, versions: [] }));
      const served = definitionsOf(stored as unknown as StoredDefinition[]);
      expect([...served.keys()]).toEqual(stored.filter((one) => !one.archived).map(({ name }) => name));
    }),
  );
  const endOfLife = { startDate: NOW, endDate: NOW + 1, gracePeriod: 'P1M' };
  const versions = [{ ...version('1', document('a', 'de', NOW)), endOfLife }];
  const [served] = [
    ...definitionsOf([{ name: 'terms', archived: false, versions } as unknown as StoredDefinition]).values(),
  ];
  const [one] = served?.versions ?? [];
  expect(one?.documents).toEqual([{ version: 'a', language: 'de', effectiveDate: NOW }]);
  expect(one?.endOfLife).toMatchObject({ startDate: NOW, endDate: NOW + 1, gracePeriod: { months: 1 } });
  const parts = [served, served?.versions, one, one?.endOfLife, one?.documents, one?.documents[0]];
  expect(parts.map((part) => Object.isFrozen(part))).toEqual(parts.map(() => true));
});
