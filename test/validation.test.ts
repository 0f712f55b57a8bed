/** What arrives as text is judged as Ajv alone would judge it: the short way past Ajv lets nothing in and keeps nothing out. */
import { Ajv, type ErrorObject } from 'ajv';
import { type TSchema, Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { createValidatorCompiler, placesOf } from '../server/http/validation.ts';

const compile = createValidatorCompiler({});
const schemas: Record<string, TSchema> = {
  'a path': Type.Object({ tenant: Type.String(), name: Type.String() }),
  'a path with a bounded text': Type.Object({ tenant: Type.String({ maxLength: 3 }) }),
  'an optional flag': Type.Object(
    { explain: Type.Optional(Type.Union([Type.Literal('true'), Type.Literal('false')])) },
    { additionalProperties: false },
  ),
  'an optional text and a number': Type.Object(
    { q: Type.Optional(Type.String({ description: 'any' })), limit: Type.Optional(Type.Integer({ minimum: 1 })) },
    { additionalProperties: false },
  ),
  'at least one': Type.Object({ a: Type.Optional(Type.String()) }, { minProperties: 1 }),
  'a pattern': Type.Object({ a: Type.Optional(Type.String({ pattern: '^x' })) }),
};
const parts = [
  {},
  { tenant: 'demo' },
  { tenant: 'demo', name: 'a' },
  { tenant: 'abc', name: ['a', 'b'] },
  { explain: 'true' },
  { explain: 'maybe' },
  { q: 'text' },
  { q: ['one', 'two'] },
  { q: '', limit: '7' },
  { limit: '0' },
  { a: 'y' },
  { a: 'x', other: '1' },
];

test.each(Object.keys(schemas))('%s', (name) => {
  const schema = schemas[name] as TSchema;
  const judge = (httpPart: string) =>
    compile({ schema, method: 'GET', url: '/', httpPart }) as unknown as { (part: unknown): boolean; errors: unknown };
  const ajv = new Ajv({ strict: false, allErrors: true, coerceTypes: true }).compile(schema);
  for (const httpPart of ['params', 'querystring']) {
    const ours = judge(httpPart);
    const verdicts = parts.map((part) => {
      const [mine, plain] = [structuredClone(part), structuredClone(part)];
      expect(ours(mine), JSON.stringify(part)).toBe(ajv(plain));
      expect(mine).toEqual(plain);
      if (!ajv(structuredClone(part))) expect(ours.errors).not.toEqual([]);
      return ajv(structuredClone(part));
    });
    expect(new Set(verdicts)).toEqual(new Set([true, false]));
  }
});

describe('a refusal says what was expected and quotes nothing of what was sent, which may be a secret', () => {
  const said = (schema: TSchema, value: unknown, httpPart = 'body') => {
    const validate = compile({ schema, method: 'POST', url: '/', httpPart }) as unknown as {
      (part: unknown): boolean;
      errors: ErrorObject[];
    };
    expect(validate(value)).toBe(false);
    return placesOf(validate.errors, httpPart);
  };
  const secrets = ['918273645', 918273645, ['918273645'], { a: '918273645' }];
  const schemas: [string, TSchema, string | undefined][] = [
    ['string', Type.String(), undefined],
    ['boolean', Type.Boolean(), undefined],
    ['integer', Type.Integer({ minimum: 5, maximum: 9 }), undefined],
    ['small', Type.Number({ minimum: 1e12 }), undefined],
    ['list', Type.Array(Type.Boolean()), undefined],
    ['object', Type.Object({ b: Type.Boolean() }, { additionalProperties: false }), undefined],
    ['enum', Type.Unsafe({ enum: ['a', 'b'] }), 'Must be one of a, b.'],
    ['const', Type.Literal('a'), undefined],
    ['pattern', Type.String({ pattern: '^x+$' }), undefined],
    ['format', Type.String({ format: 'date-time' }), undefined],
    ['short', Type.String({ minLength: 50 }), undefined],
    ['long', Type.String({ maxLength: 2 }), undefined],
    ['choice', Type.Union([Type.Literal('a'), Type.Boolean()]), undefined],
  ];

  test.each(schemas)('%s', (_, schema, detail) => {
    for (const secret of secrets) {
      const whole = Type.Object({ requestToken: schema });
      const judge = new Ajv({ strict: false, formats: { 'date-time': /T/ } }).compile(whole);
      if (judge({ requestToken: secret })) continue;
      const places = said(whole, { requestToken: secret });
      expect(places.length).toBeGreaterThan(0);
      expect(JSON.stringify(places)).not.toContain('918273645');
      if (detail !== undefined) expect(places[0]?.detail).toBe(detail);
    }
  });

  test('the type is told of what has a wrong one', () => {
    const schema = Type.Object({ a: Type.String() });
    const details = [1, true, null, [], {}].map((a) => said(schema, { a })[0]?.detail);
    expect(details).toEqual(
      ['a number', 'a boolean', 'null', 'a list', 'an object'].map((type) => `Must be a string, but is ${type}.`),
    );
  });

  test('in a query, where all is text, only what was expected', () => {
    const schema = Type.Object({ limit: Type.Integer({ minimum: 1 }), on: Type.Boolean() });
    expect(said(schema, { limit: 'secret', on: 'secret' }, 'querystring')).toEqual([
      { pointer: '/query/limit', detail: 'Must be a whole number.' },
      { pointer: '/query/on', detail: 'Must be true or false.' },
    ]);
    expect(said(schema, { limit: '0', on: 'true' }, 'querystring')).toEqual([
      { pointer: '/query/limit', detail: 'Must be at least 1.' },
    ]);
  });
});
