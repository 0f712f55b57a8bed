/** What has no structural form is refused when the definitions are generated, never lost. */
import Type from 'typebox';
import { expect, test } from 'vitest';
import { type SchemaNode, structural } from '../../crds/structural.ts';

const make = (schema: object) => structural(JSON.parse(JSON.stringify(schema)) as SchemaNode);
const strict = { additionalProperties: false };

test('translates what it can', () => {
  const schema = Type.Object(
    {
      a: Type.String({ maxLength: 3, description: 'd' }),
      b: Type.Enum(['x', 'y'], { default: 'x' }),
      c: Type.Optional(Type.Array(Type.String(), { uniqueItems: true })),
      d: Type.Unknown(),
      e: Type.Unsafe({ type: 'object', additionalProperties: Type.Integer() }),
      f: Type.Object({ g: Type.Boolean({ default: true }) }, { ...strict, default: {} }),
    },
    strict,
  );
  expect(make(schema)).toEqual({
    type: 'object',
    required: ['a', 'd', 'e'],
    properties: {
      a: { type: 'string', maxLength: 3, description: 'd' },
      b: { type: 'string', enum: ['x', 'y'], default: 'x' },
      c: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
      d: { 'x-kubernetes-preserve-unknown-fields': true },
      e: { type: 'object', additionalProperties: { type: 'integer' } },
      f: { type: 'object', default: { g: true }, properties: { g: { type: 'boolean', default: true } } },
    },
  });
});

test.each([
  [
    'a union',
    Type.Object({ a: Type.Union([Type.String(), Type.Integer()]) }, strict),
    '/a: a structural schema has no anyOf',
  ],
  ['a reference', Type.Object({ a: Type.Ref('other') }, strict), '/a: a structural schema has no $ref'],
  ['a constant', Type.Object({ a: Type.Literal(1) }, strict), '/a: a structural schema has no const'],
  [
    'a numeric enumeration',
    Type.Object({ a: Type.Unsafe({ enum: [1] }) }, strict),
    '/a: an enumeration of anything but strings',
  ],
  ['free fields beside named ones', Type.Object({ a: Type.String() }), 'must refuse others'],
  [
    'a map with named fields',
    Type.Object({ a: Type.String() }, { additionalProperties: Type.String() }),
    'must refuse others',
  ],
  [
    'a set of objects',
    Type.Array(Type.Object({}, strict), { uniqueItems: true }),
    'uniqueItems of anything but scalars',
  ],
  ['an exclusive bound', Type.Number({ exclusiveMinimum: 0 }), 'has no exclusiveMinimum'],
  ['a fractional bound', Type.Number({ minimum: 0.5 }), 'the bound 0.5 is not a whole number'],
  ['a null', Type.Null(), 'type null'],
  ['a pattern of keys', Type.Record(Type.String(), Type.String()), 'has no patternProperties'],
])('refuses %s', (_, schema, message) => {
  expect(() => make(schema)).toThrow(message);
});
