/**
 * Owns how requests are validated: bodies strictly (an unknown field is refused by name, nothing is coerced or dropped),
 * path and query by parsing their text. Ajv's words become places and sentences of ours.
 */
import { Ajv, type ErrorObject } from 'ajv';
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import type { ProblemPlace } from './core/problems.ts';

const RFC3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;
const formats = { 'date-time': (text: string) => RFC3339.test(text) && !Number.isNaN(Date.parse(text)) };
// TypeBox 1.x and x-kubernetes-* keywords are annotations here.
const common = { allErrors: true, strict: false, formats, removeAdditional: false, useDefaults: false } as const;

/** For Fastify: one Ajv for bodies, one for what arrives as text. */
export function createValidatorCompiler(shared: Record<string, object>): FastifySchemaCompiler<TSchema> {
  const strict = new Ajv({ ...common, coerceTypes: false });
  const textual = new Ajv({ ...common, coerceTypes: true });
  for (const schema of Object.values(shared)) strict.addSchema(schema);
  return ({ schema, httpPart }) => {
    if (httpPart !== 'body') return textual.compile(schema);
    const id = (schema as { $id?: string }).$id;
    return (id === undefined ? undefined : strict.getSchema(id)) ?? strict.compile(schema);
  };
}

type Part = 'body' | 'querystring' | 'params' | 'headers';
const prefixes: Record<Part, string> = { body: '', querystring: '/query', params: '/params', headers: '/headers' };

/** Ajv's errors as places: where, and what is wrong there. */
export function placesOf(errors: readonly ErrorObject[], part: string | undefined): ProblemPlace[] {
  const prefix = prefixes[part as Part] ?? '';
  const places = errors
    .filter((error) => !['anyOf', 'oneOf', 'if'].includes(error.keyword))
    .map((error) => ({ pointer: `${prefix}${error.instancePath}${memberOf(error)}` || '/', detail: sentence(error) }));
  return places.length > 0
    ? places.slice(0, 20)
    : [{ pointer: prefix || '/', detail: 'The value fits none of the allowed shapes.' }];
}

function memberOf(error: ErrorObject): string {
  const member = error.params.additionalProperty ?? error.params.missingProperty;
  return typeof member === 'string' ? `/${member.replaceAll('~', '~0').replaceAll('/', '~1')}` : '';
}

function sentence(error: ErrorObject): string {
  switch (error.keyword) {
    case 'additionalProperties':
      return 'There is no such field.';
    case 'required':
      return 'This field is required.';
    case 'enum':
      return `Must be one of: ${(error.params.allowedValues as unknown[]).join(', ')}.`;
    case 'const':
      return `Must be ${JSON.stringify(error.params.allowedValue)}.`;
    default: {
      const message = error.message ?? 'is not valid';
      return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
    }
  }
}
