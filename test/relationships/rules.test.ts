/** Ids, expiry and attributes of records, and reading a line of an import. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { wrongId } from '../../server/core/ids.ts';
import { limits } from '../../server/core/limits.ts';
import { attributesOf, checkEntity, expiryOf, readLine } from '../../server/relationships/rules.ts';
import { refusalOf } from '../helpers/problem.ts';

const NOW = Date.UTC(2026, 0, 1);
const at = (ms: number) => new Date(ms).toISOString();

describe('an id', () => {
  const bytes = limits.entityIdBytesMax;

  test.each(['a', '...', ' ', 'a/b?c#d', 'ü', '🚗', 'a'.repeat(bytes)])('may be %j', (id) => {
    expect(wrongId(id)).toBeUndefined();
  });

  test.each(['', '.', '..', 'a\nb', '\u0000', '\ud800'])('may not be %j', (id) => {
    expect(wrongId(id)).toBe('An id must not be empty, contain control characters, or be . or ..');
  });

  test('is counted in bytes of UTF-8', () => {
    expect(wrongId('a'.repeat(bytes + 1))).toBe(`An id can have at most ${bytes} bytes; this one has ${bytes + 1}.`);
    const half = 'ü'.repeat(bytes / 2);
    expect([wrongId(half), wrongId(`${half}a`)]).toEqual([
      undefined,
      expect.stringContaining(`this one has ${bytes + 1}`),
    ]);
  });

  test('is refused where it stands', () => {
    expect(refusalOf(() => checkEntity({ type: 'car', id: '1' }, '/to'))).toBeUndefined();
    expect(refusalOf(() => checkEntity({ type: 'car', id: '..' }, '/to'))).toMatchObject({
      code: 'invalid_request',
      places: [['/to/id', expect.stringContaining('or be . or ..')]],
    });
  });
});

describe('an expiry', () => {
  test('lies in the future by a millisecond at least, and is stored in UTC', () => {
    expect(expiryOf(at(NOW + 1), NOW)).toEqual({ ok: true, at: at(NOW + 1) });
    expect(expiryOf('2026-01-01T03:00:00+02:00', NOW)).toEqual({ ok: true, at: '2026-01-01T01:00:00.000Z' });
    expect(expiryOf(at(NOW), NOW)).toEqual({
      ok: false,
      detail: `Must be in the future; the current time is ${at(NOW)}.`,
    });
  });

  test.each(['', 'tomorrow', '2030-01-31', '2030-02-30T00:00:00Z', '2030-01-31T12:00:00'])('is not %j', (text) => {
    expect(expiryOf(text, NOW)).toEqual({ ok: false, detail: expect.stringContaining('RFC 3339') });
  });
});

describe('attributes', () => {
  const car = { type: 'car', id: '1' };
  const spec = {
    attributes: {
      color: { type: 'string', required: true },
      seats: { type: 'number', required: false },
      sold: { type: 'boolean', required: false },
      since: { type: 'date', required: false },
    },
  } as const;
  const placesOf = (body: object) => refusalOf(() => attributesOf(car, spec, body as Record<string, unknown>))?.places;

  test('are those of the type; id and type may be repeated', () => {
    const color = 'c'.repeat(limits.attributeCharsMax);
    const attributes = { color, seats: 4, sold: false, since: '2026-01-01T00:00:00Z' };
    expect(attributesOf(car, spec, { ...car, ...attributes })).toEqual(attributes);
  });

  test.each<[object, [string, string][]]>([
    [{}, [['/color', 'This attribute is required.']]],
    [{ color: 'c'.repeat(limits.attributeCharsMax + 1) }, [['/color', 'Must be a string of at most 4096 characters.']]],
    [{ color: 'red', seats: '4' }, [['/seats', 'Must be a number.']]],
    [{ color: 'red', sold: 0 }, [['/sold', 'Must be true or false.']]],
    [{ color: 'red', since: '2026-01-01' }, [['/since', 'Must be an RFC 3339 instant.']]],
    [{ color: 'red', 'a/b~c': 1 }, [['/a~1b~0c', 'The type car does not declare this attribute.']]],
    [{ color: 'red', constructor: 1 }, [['/constructor', 'The type car does not declare this attribute.']]],
    [{ color: 'red', id: '2' }, [['/id', 'Must be 1, as in the path.']]],
    [
      { type: 'bus' },
      [
        ['/type', 'Must be car, as in the path.'],
        ['/color', 'This attribute is required.'],
      ],
    ],
  ])('%j are refused with every place', (body, places) => {
    expect(placesOf(body)).toEqual(places);
  });
});

describe('a line of an import', () => {
  const line = { from: { type: 'user', id: 'a' }, relationshipType: 'drives', to: { type: 'car', id: '1' } };

  test('is read as what an export wrote', () => {
    const id = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter((one) => wrongId(one) === undefined);
    const type = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,62}$/);
    const entity = fc.record({ type, id });
    const expiresAt = fc.date({ min: new Date(NOW + 1), max: new Date('2200-01-01'), noInvalidDate: true });
    const relationship = fc.record(
      { from: entity, relationshipType: type, to: entity, expiresAt: expiresAt.map((date) => date.toISOString()) },
      { requiredKeys: ['from', 'relationshipType', 'to'] },
    );
    fc.assert(
      fc.property(relationship, (one) => {
        expect(readLine(JSON.stringify(one), NOW)).toEqual({ ok: true, relationship: one });
      }),
    );
  });

  test.each<[object, string, string]>([
    [{ ...line, extra: 1 }, '/extra', 'Unknown field; the fields here are from, relationshipType, to, expiresAt.'],
    [{ ...line, from: 'user/a' }, '/from', 'Must be an object with type and id.'],
    [{ ...line, to: [] }, '/to', 'Must be an object with type and id.'],
    [{ ...line, from: { ...line.from, name: 'x' } }, '/from/name', 'Unknown field; the fields here are id, type.'],
    [{ ...line, from: { type: '1', id: 'a' } }, '/from/type', 'Must be the name of a type.'],
    [
      { ...line, to: { type: 'c'.repeat(limits.typeNameCharsMax + 1), id: '1' } },
      '/to/type',
      'Must be the name of a type.',
    ],
    [{ ...line, to: { type: 'car', id: 1 } }, '/to/id', 'Must be a string.'],
    [{ ...line, relationshipType: 'x:y' }, '/relationshipType', 'Must be the name of a relationship.'],
    [{ ...line, expiresAt: at(NOW) }, '/expiresAt', `Must be in the future; the current time is ${at(NOW)}.`],
    [{ ...line, expiresAt: null }, '/expiresAt', 'Must be an RFC 3339 instant, such as 2030-01-31T12:00:00Z.'],
  ])('%j is refused at %s', (value, pointer, detail) => {
    expect(readLine(JSON.stringify(value), NOW)).toEqual({ ok: false, pointer, detail });
  });

  test.each([
    ['[]', 'The line is not a JSON object.'],
    ['null', 'The line is not a JSON object.'],
    ['{', expect.stringMatching(/^The line is not JSON: /)],
  ])('%s is refused as a whole', (text, detail) => {
    expect(readLine(text, NOW)).toEqual({ ok: false, detail });
  });
});
