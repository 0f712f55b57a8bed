/** The rules of records, pure: attributes, instants, and reading a line of an import. */
import { asSentence, unknownField } from '../../crds/describe-error.ts';
import { isObject, pointerStep } from '../../crds/values.ts';
import { isTypeName, wrongId } from '../core/ids.ts';
import { instantMs } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import { type ProblemPlace, problem } from '../core/problems.ts';
import type { EntityTypeSpec } from '../types/index.ts';
import { relationshipProblem } from './problems.ts';
import type { Attributes, Entity, Relationship } from './schema.ts';

/** @throws Problem invalid_request */
export function checkEntity(entity: Entity, pointer: string): void {
  const detail = wrongId(entity.id);
  if (detail !== undefined)
    throw problem('invalid_request', { detail, errors: [{ pointer: `${pointer}/id`, detail }] });
}

/** Why a relationship cannot expire at it, or the instant as it is stored. @param now ms */
export function expiryOf(text: string, now: number): { ok: true; at: string } | { ok: false; detail: string } {
  const ms = instantMs(text);
  if (ms === undefined) return { ok: false, detail: 'Must be an RFC 3339 instant, such as 2030-01-31T12:00:00Z.' };
  if (ms <= now)
    return { ok: false, detail: `Must be in the future; the current time is ${new Date(now).toISOString()}.` };
  return { ok: true, at: new Date(ms).toISOString() };
}

/**
 * The attributes in a body that may repeat id and type.
 * @throws Problem attributes_invalid naming each that the type does not declare, that is missing, or of another type
 */
export function attributesOf(
  entity: Entity,
  spec: EntityTypeSpec,
  body: Readonly<Record<string, unknown>>,
): Attributes {
  const declared = spec.attributes ?? {};
  const errors: ProblemPlace[] = [];
  const refuse = (name: string, detail: string) => errors.push({ pointer: `/${pointerStep(name)}`, detail });
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(body)) {
    if (name === 'id' || name === 'type') {
      if (value !== entity[name]) refuse(name, `Must be ${entity[name]}, as in the path.`);
      continue;
    }
    const type = Object.hasOwn(declared, name) ? declared[name]?.type : undefined;
    if (type === undefined) refuse(name, `The type ${entity.type} does not declare this attribute.`);
    else if (!isOfType(type, value)) refuse(name, typeWords[type]);
    else attributes[name] = value;
  }
  for (const [name, { required }] of Object.entries(declared)) {
    if (required && !Object.hasOwn(body, name)) refuse(name, 'This attribute is required.');
  }
  if (errors.length === 0) return attributes;
  const detail = errors.map((error) => `${error.pointer}: ${error.detail}`).join(' ');
  throw relationshipProblem('attributes_invalid', { detail, errors });
}

type AttributeType = NonNullable<EntityTypeSpec['attributes']>[string]['type'];
const typeWords: Record<AttributeType, string> = {
  string: `Must be a string of at most ${limits.attributeCharsMax} characters.`,
  number: 'Must be a number.',
  boolean: 'Must be true or false.',
  date: 'Must be an RFC 3339 instant.',
};

function isOfType(type: AttributeType, value: unknown): value is Attributes[string] {
  if (type === 'string') return typeof value === 'string' && value.length <= limits.attributeCharsMax;
  if (type === 'date') return typeof value === 'string' && instantMs(value) !== undefined;
  return typeof value === type;
}

type ReadLine = { ok: true; relationship: Relationship } | { ok: false; pointer?: string; detail: string };
const lineFields = ['from', 'relationshipType', 'to', 'expiresAt'];
const entityFields = ['id', 'type'];

/** Reads one line of an import: the shape of an export's line, strictly. @param now ms */
export function readLine(text: string, now: number): ReadLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, detail: `The line is not JSON: ${(error as Error).message}` };
  }
  if (!isObject(value)) return { ok: false, detail: 'The line is not a JSON object.' };
  const unknown = unknownIn(value, '', lineFields);
  if (unknown !== undefined) return unknown;
  const { from, relationshipType, to, expiresAt } = value;
  const wrong = wrongEntity(from, '/from') ?? wrongEntity(to, '/to');
  if (wrong !== undefined) return wrong;
  if (!isTypeName(relationshipType))
    return { ok: false, pointer: '/relationshipType', detail: 'Must be the name of a relationship.' };
  const relationship = { from: from as Entity, relationshipType, to: to as Entity };
  if (expiresAt === undefined) return { ok: true, relationship };
  const expiry = expiryOf(String(expiresAt), now);
  if (!expiry.ok) return { ok: false, pointer: '/expiresAt', detail: expiry.detail };
  return { ok: true, relationship: { ...relationship, expiresAt: expiry.at } };
}

function wrongEntity(value: unknown, pointer: string): ReadLine | undefined {
  if (!isObject(value)) return { ok: false, pointer, detail: 'Must be an object with type and id.' };
  const unknown = unknownIn(value, pointer, entityFields);
  if (unknown !== undefined) return unknown;
  if (!isTypeName(value.type)) return { ok: false, pointer: `${pointer}/type`, detail: 'Must be the name of a type.' };
  const detail = typeof value.id === 'string' ? wrongId(value.id) : 'Must be a string.';
  return detail === undefined ? undefined : { ok: false, pointer: `${pointer}/id`, detail };
}

function unknownIn(value: object, pointer: string, known: readonly string[]): ReadLine | undefined {
  const name = Object.keys(value).find((one) => !known.includes(one));
  if (name === undefined) return undefined;
  const detail = asSentence(unknownField(name, known, value));
  return { ok: false, pointer: `${pointer}/${pointerStep(name)}`, detail };
}
