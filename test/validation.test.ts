/** What arrives as text is judged as Ajv alone would judge it: the short way past Ajv lets nothing in and keeps nothing out. */
import { Ajv } from 'ajv';
import { type TSchema, Type } from 'typebox';
import { expect, test } from 'vitest';
import { createValidatorCompiler } from '../server/validation.ts';

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
