/** Types of events: each has a schema that its example follows, and each operation is in the tables of docs/events.md. */
import { readFileSync } from 'node:fs';
import { Value } from 'typebox/value';
import { describe, expect, test } from 'vitest';
import { eventTables, operationsOf } from '../../docs/event-types.ts';
import { silentOperations } from '../../server/events/operations.ts';
import { allEventTypes } from '../../server/room/catalogue.ts';
import { rooms } from '../../server/rooms.ts';

const types = [...allEventTypes(rooms).values()];
const read = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const document = JSON.parse(read('openapi.json'));

test.each(types)('$name has an example that its schema allows, and a key', (type) => {
  expect([...Value.Errors(type.data, type.example)]).toEqual([]);
  expect(type.keyOf(type.example)).toMatch(/^[a-z_]+(\/.+)?$/);
  expect(type.when).toMatch(/^[A-Z].*\.$/s);
});

describe('docs/events.md', () => {
  test('names every operation that may change something: with its events, or with why there are none', () => {
    const page = read('events.md');
    expect(page).toContain(eventTables(types, document));
    const operations = operationsOf(document);
    expect(operations.length).toBeGreaterThan(100);
    for (const operation of operations.filter((one) => !one.startsWith('GET ')))
      expect(page).toContain(`| \`${operation}\` |`);
  });

  test.each([
    [
      'an operation that says nothing',
      { paths: { ...document.paths, '/new': { post: {} } } },
      'POST /new states no type',
    ],
    ['one that is not there', { paths: {} }, 'is no operation'],
  ])('is not made with %s', (_, other, error) => {
    expect(() => eventTables(types, other)).toThrow(error);
  });

  test('is not made with an operation that is said to emit and not to', () => {
    const [silent] = Object.keys(silentOperations) as [string];
    const both = { ...types[0], operations: [silent] } as (typeof types)[number];
    expect(() => eventTables([...types.slice(1), both], document)).toThrow(
      'emits, and is listed among those that do not',
    );
  });
});
