/** Says in the reader's words what a schema refused and where: one sentence that reads on from the place. */
import type { ErrorObject } from 'ajv';
import { patternInWords } from './patterns.ts';
import { nearest } from './similar.ts';
import { pointerStep } from './values.ts';

/** One refusal: JSON Pointer into the manifest, and what is wrong there. */
export interface ManifestError {
  readonly pointer: string;
  readonly detail: string;
}

/** What a refusal says of the refused value. A manifest has no secrets; a request may, so only the type is told, or nothing. */
type Tells = 'value' | 'type' | 'nothing';

/**
 * @param prefix where the checked value stands in the manifest
 * @param error of an Ajv with `verbose`, so that the value and its schema are there
 */
export function describeError(prefix: string, error: ErrorObject, tells: Tells = 'value'): ManifestError {
  const at = (name?: unknown) =>
    `${prefix}${error.instancePath}${name === undefined ? '' : `/${pointerStep(String(name))}`}`;
  const { params } = error;
  switch (error.keyword) {
    case 'required':
      return { pointer: at(params.missingProperty), detail: 'is required' };
    case 'additionalProperties':
      return {
        pointer: at(params.additionalProperty),
        detail: unknownField(params.additionalProperty, knownFields(error), error.data as object),
      };
    case 'uniqueItems':
      return { pointer: at(Math.max(params.i, params.j)), detail: `repeats entry ${Math.min(params.i, params.j)}` };
    default:
      return { pointer: at(), detail: sentence(error, tells) };
  }
}

/**
 * For a field that no one reads: the one that was probably meant, or all that there are.
 * @param present the object that has it: a field that it has too was not meant, unless in other letters
 */
export function unknownField(name: string, known: readonly string[], present?: object): string {
  if (known.length === 0) return 'is an unknown field; there are no fields here';
  const missing = known.filter((field) => present === undefined || !Object.hasOwn(present, field));
  const alike = known.find((field) => field.toLowerCase() === name.toLowerCase()) ?? nearest(name, missing);
  return `is an unknown field; ${alike === undefined ? `the fields here are ${known.join(', ')}` : `did you mean ${alike}?`}`;
}

/** What is wrong with a place, as a sentence that stands for itself. */
export function asSentence(detail: string): string {
  const noun = detail.startsWith('is an ') ? detail.slice('is an '.length) : detail;
  const whole = noun.startsWith('is ') ? `This field ${noun}` : noun.charAt(0).toUpperCase() + noun.slice(1);
  return /[.?]$/.test(whole) ? whole : `${whole}.`;
}

/** A value as a message shows it: its JSON, cut to a readable length. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (value !== null && typeof value === 'object') return 'an object';
  const text = JSON.stringify(value) ?? String(value);
  const characters = [...text];
  return `${typeName(value)}${characters.length > 60 ? `${characters.slice(0, 60).join('')}…` : text}`;
}

/** The type of a value, for a message that must not quote it. */
function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function typeName(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? '' : `the ${typeof value} `;
}

function knownFields(error: ErrorObject): string[] {
  const properties = (error.parentSchema as { properties?: object } | undefined)?.properties;
  return Object.keys(properties ?? {});
}

const articles: Record<string, string> = {
  string: 'a string',
  object: 'an object',
  array: 'a list',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
};

function butIs({ keyword, data }: ErrorObject, tells: Tells): string {
  if (tells === 'value') return `, but is ${shown(data)}`;
  return tells === 'type' && keyword === 'type' ? `, but is ${typeOf(data)}` : '';
}

function sentence(error: ErrorObject, tells: Tells): string {
  const { keyword, params, data, message } = error;
  const got = butIs(error, tells);
  switch (keyword) {
    case 'type':
      return `must be ${articles[params.type] ?? params.type}${got}${tells === 'value' && data === null ? ' (empty)' : ''}`;
    case 'enum': {
      const hint =
        tells === 'value' && typeof data === 'boolean'
          ? ' (YAML reads a bare on, off, yes or no as a boolean: quote it)'
          : '';
      return `must be one of ${params.allowedValues.join(', ')}${got}${hint}${meant(data, params.allowedValues)}`;
    }
    case 'const':
      return `must be ${JSON.stringify(params.allowedValue)}${got}`;
    case 'pattern': {
      const words = patternInWords(params.pattern);
      return `${words === undefined ? `must match ${params.pattern}` : `must be ${words}`}${got}`;
    }
    case 'minLength':
      return params.limit === 1 ? 'must not be empty' : `must have at least ${params.limit} characters`;
    case 'maxLength':
      return `must have at most ${params.limit} characters, but has ${[...(data as string)].length}`;
    case 'minItems':
      return params.limit === 1 ? 'must not be an empty list' : `must have at least ${params.limit} entries`;
    case 'maxItems':
      return `must have at most ${params.limit} entries, but has ${(data as unknown[]).length}`;
    case 'minProperties':
      return params.limit === 1 ? 'must not be an empty object' : `must have at least ${params.limit} fields`;
    case 'maxProperties':
      return `must have at most ${params.limit} fields, but has ${Object.keys(data as object).length}`;
    case 'minimum':
      return `must be at least ${params.limit}${got}`;
    case 'maximum':
      return `must be at most ${params.limit}${got}`;
    default:
      return message ?? `breaks ${keyword}`;
  }
}

/** In a long list nobody sees the right one. */
function meant(data: unknown, allowed: readonly unknown[]): string {
  if (typeof data !== 'string' || allowed.length <= 8) return '';
  const alike = nearest(data, allowed.map(String));
  return alike === undefined ? '' : `; did you mean ${alike}?`;
}
