/** Says in the reader's words what a schema refused and where: one sentence that reads on from the place. */
import type { ErrorObject } from 'ajv';
import { patternInWords } from './patterns.ts';

/** One refusal: JSON Pointer into the manifest, and what is wrong there. */
export interface ManifestError {
  readonly pointer: string;
  readonly detail: string;
}

/**
 * @param prefix where the checked value stands in the manifest
 * @param error of an Ajv with `verbose`, so that the value and its schema are there
 */
export function explain(prefix: string, error: ErrorObject): ManifestError {
  const at = (name?: unknown) =>
    `${prefix}${error.instancePath}${name === undefined ? '' : `/${pointerStep(String(name))}`}`;
  const { params } = error;
  switch (error.keyword) {
    case 'required':
      return { pointer: at(params.missingProperty), detail: 'is required' };
    case 'additionalProperties':
      return {
        pointer: at(params.additionalProperty),
        detail: unknownField(params.additionalProperty, knownFields(error)),
      };
    case 'uniqueItems':
      return { pointer: at(Math.max(params.i, params.j)), detail: `repeats entry ${Math.min(params.i, params.j)}` };
    default:
      return { pointer: at(), detail: sentence(error) };
  }
}

/** Escapes one step of a JSON Pointer (RFC 6901 section 3). */
export function pointerStep(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** For a field that no one reads: names it, and those that there are. */
export function unknownField(name: string, known: readonly string[]): string {
  const alike = known.find((field) => field.toLowerCase() === name.toLowerCase());
  const hint = alike === undefined ? `the fields here are ${known.join(', ')}` : `is ${alike} meant?`;
  return `is an unknown field; ${hint}`;
}

/** A value as a message shows it: its JSON, cut to a readable length. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (value !== null && typeof value === 'object') return 'an object';
  const text = JSON.stringify(value) ?? String(value);
  const characters = [...text];
  return `${typeName(value)}${characters.length > 60 ? `${characters.slice(0, 60).join('')}…` : text}`;
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

function sentence({ keyword, params, data, message }: ErrorObject): string {
  const got = shown(data);
  switch (keyword) {
    case 'type':
      return `must be ${articles[params.type] ?? params.type}, but is ${got}${data === null ? ' (empty)' : ''}`;
    case 'enum': {
      const hint = typeof data === 'boolean' ? ' (YAML reads a bare on, off, yes or no as a boolean: quote it)' : '';
      return `must be one of ${params.allowedValues.join(', ')}, but is ${got}${hint}`;
    }
    case 'pattern': {
      const words = patternInWords(params.pattern);
      return `${words === undefined ? `must match ${params.pattern}` : `must be ${words}`}, but is ${got}`;
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
      return `must be at least ${params.limit}, but is ${got}`;
    case 'maximum':
      return `must be at most ${params.limit}, but is ${got}`;
    default:
      return message ?? `breaks ${keyword}`;
  }
}
