/**
 * How requests are validated: bodies strictly (an unknown field is refused by name, nothing is coerced or dropped),
 * path and query by parsing their text. crds/describe-error.ts says what is wrong, for manifests too.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { asSentence, describeError } from '../../crds/describe-error.ts';
import { instantMs } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import type { ProblemPlace } from '../core/problems.ts';
import type { App } from './fastify.ts';

const formats = { 'date-time': (text: string) => instantMs(text) !== undefined };
// TypeBox 1.x and x-kubernetes-* keywords are annotations here.
const common = {
  ...{ strict: false, formats, removeAdditional: false, useDefaults: false },
  // The schemas are ours: checking each against the schema of schemas compiles that first.
  ...{ meta: false, validateSchema: false },
} as const;

/**
 * For Fastify: bodies strictly, and what arrives as text. A schema is compiled for the first request that needs it: compiling
 * all of them took a third of the time to start, and a server's callers use few routes.
 */
export function createValidatorCompiler(shared: Record<string, object>): FastifySchemaCompiler<TSchema> {
  const textual = new Ajv({ ...common, allErrors: true, verbose: true, coerceTypes: true });
  const make = (options: { allErrors: boolean; verbose: boolean }) => {
    const ajv = new Ajv({ ...common, ...options, coerceTypes: false });
    for (const schema of Object.values(shared)) ajv.addSchema(schema);
    return ajv;
  };
  // What most bodies pass collects nothing; the others collect the errors of what it refused (verbose: with the value and its schema).
  const passing = make({ allErrors: false, verbose: false });
  const [first, all] = [make({ allErrors: false, verbose: true }), make({ allErrors: true, verbose: true })];
  return ({ schema, httpPart }) =>
    httpPart === 'body'
      ? bodyValidator(
          lazily(() => compiled(passing, schema)),
          (ofAll) => compiled(ofAll ? all : first, schema),
        )
      : textValidator(
          lazily(() => textual.compile(schema)),
          schema,
        );
}

/** Compiles the serializer of an answer with the first answer that has its status; Fastify's own serializers, for app's routes. */
export function compileSerializersLazily(app: App): void {
  app.addHook('onRoute', (route) => {
    // Fastify makes its compiler for the first route that states none: the routes that are in no description.
    if (route.schema?.hide === true || route.serializerCompiler !== undefined) return;
    route.serializerCompiler = (definition) => {
      const serializer = lazily(() => app.serializerCompiler?.(definition as never) as (value: unknown) => string);
      return (value: unknown) => serializer()(value);
    };
  });
}

/**
 * Checks values that arrive in another way than as a body, by the same rules.
 * @returns for a value what is wrong and where, in a sentence; undefined: nothing
 */
export function createValueCheck(schema: TSchema): (value: unknown) => string | undefined {
  const validate = lazily(() => compiled(new Ajv({ ...common, allErrors: false, verbose: true }), schema));
  return (value) => (validate()(value) ? undefined : sentenceOf(validate().errors));
}

/** Errors of a body's validation as one text. */
export function sentenceOf(errors: readonly ErrorObject[] | null | undefined): string {
  return placesOf(errors ?? [], 'body')
    .map(({ pointer, detail }) => `${pointer}: ${detail}`)
    .join(' ');
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function compiled(ajv: Ajv, schema: TSchema): ValidateFunction {
  const id = (schema as { $id?: string }).$id;
  return (id === undefined ? undefined : ajv.getSchema(id)) ?? ajv.compile(schema);
}

/**
 * What arrives as text is often right by its nature: a query that is not there, a path's parameter that may be any text.
 * Only the rest is looked at: Ajv, with the object that Fastify makes for it, took 0.3 us of each decision.
 */
function textValidator(thoroughly: () => ValidateFunction, schema: TSchema) {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, TSchema>; required?: string[] };
  const anyText = new Set(Object.keys(properties).filter((name) => hasOnly(properties[name], textKeywords)));
  const isPlain = hasOnly(schema, partKeywords);
  const isRight = (part: Record<string, unknown>): boolean => {
    for (const name in part) if (!anyText.has(name) || typeof part[name] !== 'string') return false;
    for (const name of required) if (part[name] === undefined) return false;
    return true;
  };
  const validate = (part: unknown): boolean => {
    if (isPlain && isRight(part as Record<string, unknown>)) return true;
    const thorough = thoroughly();
    if (thorough(part)) return true;
    validate.errors = thorough.errors ?? [];
    return false;
  };
  validate.errors = [] as ErrorObject[];
  return validate;
}

const partKeywords = { type: 'object', properties: true, required: true, additionalProperties: true } as const;
const textKeywords = { type: 'string', description: true } as const;

/** Whether a schema is of the type and says nothing but what is named. */
function hasOnly(schema: unknown, keywords: { type: string }): boolean {
  const { type } = schema as { type?: unknown };
  return type === keywords.type && Object.keys(schema as object).every((keyword) => Object.hasOwn(keywords, keyword));
}

/**
 * Tells all that is wrong with a small body, and the first thing with a large one: finding everything in a batch of 4 MiB
 * took 5.4 s, in which no other request was answered.
 */
function bodyValidator(passing: () => ValidateFunction, collecting: (ofAll: boolean) => ValidateFunction) {
  const validate = (body: unknown): boolean => {
    const passes = passing();
    if (passes(body)) return true;
    const thorough = collecting(hasAtMost(limits.allErrorsBodyValuesMax, body));
    thorough(body);
    validate.errors = thorough.errors ?? passes.errors ?? [];
    return false;
  };
  validate.errors = [] as ErrorObject[];
  return validate;
}

function hasAtMost(count: number, value: unknown): boolean {
  const waiting = [value];
  for (let seen = 0; waiting.length > 0; seen++) {
    if (seen > count) return false;
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    const members = Object.values(next);
    if (members.length > count) return false;
    waiting.push(...members);
  }
  return true;
}

type Part = 'body' | 'querystring' | 'params' | 'headers';
const prefixes: Record<Part, string> = { body: '', querystring: '/query', params: '/params', headers: '/headers' };

/** Ajv's errors as places: where, and what is wrong there. What was sent may be a secret, and is not quoted. */
export function placesOf(errors: readonly ErrorObject[], part: string | undefined): ProblemPlace[] {
  const prefix = prefixes[part as Part] ?? '';
  const tells = prefix === '' ? 'type' : 'nothing'; // all that arrives as text is a string
  const places = errors
    .filter((error) => !['anyOf', 'oneOf', 'if'].includes(error.keyword))
    .map((error) => describeError(prefix, error, tells))
    .map(({ pointer, detail }) => ({ pointer: pointer || '/', detail: asSentence(detail) }));
  return places.length > 0
    ? places.slice(0, 20)
    : [{ pointer: prefix || '/', detail: 'The value does not match any of the allowed schemas.' }];
}
