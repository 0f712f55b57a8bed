/** Names and specs of types, and what inheritance makes of relationship types. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nameIn } from '../../server/core/languages.ts';
import { limits } from '../../server/core/limits.ts';
import {
  checkTypeName,
  entityTypeOfManifest,
  entityTypeSpec,
  parseTypeKey,
  relationshipTypeOfManifest,
  relationshipTypeSpec,
  shownNamesOf,
  typeKeyOf,
  typesOf,
} from '../../server/types/rules.ts';
import { refusalOf } from '../helpers/problem.ts';

const longest = 'a'.repeat(limits.typeNameCharsMax);

describe('names', () => {
  test.each(['a', 'Car', 'may-use_2', longest])('%s is one', (name) => {
    expect(refusalOf(() => checkTypeName(name))).toBeUndefined();
  });

  test.each(['', '1car', '_car', 'car:read', 'cár', 'car\n', `${longest}a`])('%j is none', (name) => {
    expect(refusalOf(() => checkTypeName(name))).toMatchObject({
      code: 'type_name_invalid',
      detail: `${JSON.stringify(name)} is not a type name: letters, digits, _ and -, beginning with a letter and of at most 63 characters.`,
      places: [['/params/type', expect.any(String)]],
    });
  });

  test('a refusal repeats 80 characters of a name', () => {
    expect(refusalOf(() => checkTypeName('a'.repeat(1000)))?.detail).toContain(`"${'a'.repeat(80)}" `);
  });

  const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,62}$/);
  test('the key of three names is read as these three', () => {
    fc.assert(
      fc.property(name, name, name, (from, rel, to) => {
        const key = { from, name: rel, to };
        expect(parseTypeKey(typeKeyOf(key))).toEqual(key);
      }),
    );
  });

  test.each(['', 'car', 'user:drives', 'user:drives:car:x', ':drives:car', 'user::car', `user:drives:${longest}a`])(
    '%j is not the key of a relationship type',
    (text) => {
      const detail = `${JSON.stringify(text)} is not From:relationship:To.`;
      const places = [['/params/relationshipType', detail]];
      expect(refusalOf(() => parseTypeKey(text))).toEqual({ code: 'type_name_invalid', detail, places });
    },
  );
});

describe('display names', () => {
  const names = [
    { language: 'en', name: 'may drive' },
    { language: 'nl', name: 'mag rijden met' },
  ];

  test('are kept of bodies and of manifests; nothing is stored of none', () => {
    expect(entityTypeSpec({ displayNames: names })).toEqual({ displayNames: names });
    expect(entityTypeOfManifest({ displayNames: names })).toEqual({ displayNames: names });
    expect(relationshipTypeOfManifest({ displayNames: names })).toEqual({ displayNames: names });
    expect([entityTypeSpec({ displayNames: [] }), relationshipTypeOfManifest({ displayNames: [] })]).toEqual([{}, {}]);
  });

  test('are one for each language', () => {
    const twice = [...names, { language: 'en', name: 'drives' }];
    const refused = { code: 'invalid_request', places: [['/displayNames/2', expect.stringMatching(/repeats/i)]] };
    expect(refusalOf(() => entityTypeSpec({ displayNames: twice }))).toMatchObject(refused);
    const key = { from: 'user', name: 'drives', to: 'car' };
    expect(refusalOf(() => relationshipTypeSpec('acme', key, { displayNames: twice }))).toMatchObject(refused);
  });

  test('are read by name or key; without them the name without underscores is', () => {
    const row = { from_type: 'user', name: 'may_use', to_type: 'car', spec: { displayNames: names } };
    const types = typesOf([{ name: 'car', spec: {} }], [row]);
    expect(shownNamesOf(types, 'user:may_use:car')).toEqual(names);
    expect(shownNamesOf(types, 'user:lives_in:house')).toEqual([{ language: 'en', name: 'lives in' }]);
    expect(shownNamesOf(types, 'car')).toEqual([{ language: 'en', name: 'car' }]);
  });

  test.each([
    ['nl-BE', undefined, 'mag rijden met'],
    ['fr', 'nl', 'mag rijden met'],
    ['fr', undefined, 'may drive'],
  ])('in %s of a tenant whose language is %s: %s', (language, tenants, expected) => {
    expect(nameIn(names, language, tenants)).toBe(expected);
    expect(nameIn([{ language: 'de', name: 'darf fahren' }], language, tenants)).toBe('darf fahren');
  });
});

describe('attributes of a type', () => {
  const longestAttribute = 'a'.repeat(limits.attributeNameCharsMax);

  test('are optional unless said, and nothing is stored of none', () => {
    expect(
      entityTypeSpec({ attributes: { color: { type: 'string' }, seats: { type: 'number', required: true } } }),
    ).toEqual({
      attributes: { color: { type: 'string', required: false }, seats: { type: 'number', required: true } },
    });
    expect(entityTypeSpec({})).toEqual({});
    expect(entityTypeSpec({ attributes: {} })).toEqual({});
    expect(entityTypeSpec({ attributes: { [longestAttribute]: { type: 'date' } } }).attributes).toHaveProperty(
      longestAttribute,
    );
  });

  test.each(['id', 'type', `${longestAttribute}a`])('are not called %s', (name) => {
    const detail = 'An attribute has at most 63 characters and is not called id or type.';
    const places = [[`/attributes/${name}`, detail]];
    expect(refusalOf(() => entityTypeSpec({ attributes: { [name]: { type: 'string' } } }))).toEqual({
      ...{ code: 'invalid_request', detail, places },
    });
  });

  test('of a manifest are a list', () => {
    expect(entityTypeOfManifest({ attributes: [{ name: 'color', type: 'string', required: true }] })).toEqual({
      attributes: { color: { type: 'string', required: true } },
    });
    expect(entityTypeOfManifest({})).toEqual({});
  });
});

describe('the spec of a relationship type', () => {
  const key = { from: 'user', name: 'drives', to: 'car' };

  test('has the rules of manifests, with pointers into the body', () => {
    expect(relationshipTypeSpec('acme', key, { maxPerTarget: 1 })).toEqual({ maxPerTarget: 1 });
    const refusal = refusalOf(() => relationshipTypeSpec('acme', key, { maxPerTarget: 0 }));
    expect(refusal?.code).toBe('invalid_request');
    expect(refusal?.places.map(([pointer]) => pointer)).toEqual(['/maxPerTarget']);
    expect(refusal?.detail).toMatch(/^\/maxPerTarget /);
  });

  test('leaves out what a manifest says beside it', () => {
    const manifest = { ...key, tenantRef: { name: 'acme' }, inverse: 'driven_by', inheritedThrough: [] };
    expect(relationshipTypeOfManifest(manifest)).toEqual({ inverse: 'driven_by' });
  });
});

describe('a tenant’s types', () => {
  const row = (key: string, ...ways: [relationship: string, from: string][]) => {
    const [from_type = '', name = '', to_type = ''] = key.split(':');
    const inheritedThrough = ways.map(([relationship, from]) => ({ relationship, from }));
    return { from_type, name, to_type, spec: { inheritedThrough } };
  };

  test('name their attributes and relationships', () => {
    const color = { color: { type: 'string' as const, required: false } };
    const types = typesOf(
      [
        { name: 'car', spec: { attributes: color } },
        { name: 'user', spec: {} },
      ],
      [row('user:drives:car')],
    );
    expect(types.attributes.get('car')).toEqual(new Set(['color']));
    expect(types.attributes.get('user')).toEqual(new Set());
    expect(types.anyAttributes).toBe(true);
    expect(typesOf([{ name: 'user', spec: {} }], []).anyAttributes).toBe(false);
    expect([...types.relationships]).toEqual(['user:drives:car']);
    expect(types.follows).toEqual([]);
  });

  test('say which relationship may follow which on a way, through types that are inherited themselves', () => {
    const { inheritances, follows } = typesOf(
      [],
      [
        row('user:drives:car', ['user:member_of:group', 'group:owns:car']),
        row('user:member_of:group', ['user:member_of:group', 'group:part_of:group']),
        row('group:owns:car'),
        row('group:part_of:group'),
      ],
    );
    expect(inheritances).toContainEqual({
      ...{ makes: 'user:drives:car', through: 'user:member_of:group', next: 'group:owns:car' },
    });
    expect(follows.map((pair) => pair.join(' ')).sort()).toEqual([
      'group:part_of:group group:owns:car',
      'group:part_of:group group:part_of:group',
      'user:member_of:group group:owns:car',
      'user:member_of:group group:part_of:group',
    ]);
  });
});
