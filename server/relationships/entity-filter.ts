/** What a list of actors or resources is asked for, pure: a prefix of ids, and values of attributes. */
import { asSentence } from '../../crds/describe-error.ts';
import { nearest } from '../../crds/similar.ts';
import { limits } from '../core/limits.ts';
import { type Problem, problem } from '../core/problems.ts';
import type { EntityTypeSpec } from '../types/index.ts';
import type { Attributes } from './schema.ts';

const LAST = 0x10ffff;

/** The ids that begin with a prefix, in byte order: from it, and before the least text that comes after all of them. */
export function rangeOf(prefix: string): { from: string; until: string | undefined } {
  const points = [...prefix].map((character) => character.codePointAt(0) as number);
  while (points.at(-1) === LAST) points.pop();
  const last = points.pop();
  if (last === undefined) return { from: prefix, until: undefined };
  // Surrogates are no characters; UTF-8 has the order of code points.
  const next = last === 0xd7ff ? 0xe000 : last + 1;
  return { from: prefix, until: String.fromCodePoint(...points, next) };
}

/**
 * The attributes of filters that read name=value, each by the type of its declaration.
 * @throws Problem invalid_request
 */
export function attributeFilters(given: readonly string[], typeName: string, spec: EntityTypeSpec): Attributes {
  if (given.length > limits.attributeFiltersMax)
    throw refused(`must be sent at most ${limits.attributeFiltersMax} times, but was sent ${given.length} times`);
  const declared = spec.attributes ?? {};
  const filters: Attributes = {};
  for (const text of given) {
    const at = text.indexOf('=');
    if (at < 1) throw refused('must be NAME=VALUE');
    const [name, value] = [text.slice(0, at), text.slice(at + 1)];
    const type = Object.hasOwn(declared, name) ? declared[name]?.type : undefined;
    if (type === undefined) {
      const alike = nearest(name, Object.keys(declared));
      const all = Object.keys(declared).join(', ');
      const there = all === '' ? '; it declares none' : `: ${all}`;
      const hint = alike === undefined ? there : `; did you mean ${alike}?`;
      throw refused(`must name an attribute that the type ${typeName} declares${hint}`);
    }
    if (Object.hasOwn(filters, name)) throw refused(`must name each attribute once; ${name} is there twice`);
    filters[name] = typedValue(type, name, value);
  }
  return filters;
}

type AttributeType = NonNullable<EntityTypeSpec['attributes']>[string]['type'];

function typedValue(type: AttributeType, name: string, text: string): Attributes[string] {
  if (type === 'boolean') {
    if (text !== 'true' && text !== 'false') throw refused(`must have true or false as the value of ${name}`);
    return text === 'true';
  }
  if (type !== 'number') return text;
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number)) throw refused(`must have a number as the value of ${name}`);
  return number;
}

function refused(detail: string): Problem {
  const said = asSentence(detail);
  return problem('invalid_request', { detail: said, errors: [{ pointer: '/query/attribute', detail: said }] });
}
