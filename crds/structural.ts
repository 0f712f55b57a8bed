/**
 * Turns our JSON Schemas into the structural schemas that a CustomResourceDefinition takes. It refuses what has no
 * structural form instead of losing it: a rule that silently disappears from the cluster would be a hole.
 */

import { applyDefaults } from './defaults.ts';

/** A JSON Schema as plain data. */
export interface SchemaNode {
  readonly [keyword: string]: unknown;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly enum?: readonly unknown[];
}

/** A structural schema; its keys are in the order in which they are written. */
export type Structural = { [keyword: string]: unknown };

const copied = new Set([
  'description',
  'default',
  'enum',
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
]);
const translated = new Set(['type', 'properties', 'required', 'items', 'additionalProperties', 'uniqueItems']);

/**
 * @param at JSON Pointer for messages
 * @throws Error naming the place and the keyword that a structural schema cannot hold
 */
export function structural(schema: SchemaNode, at = ''): Structural {
  for (const keyword of Object.keys(schema)) {
    if (!copied.has(keyword) && !translated.has(keyword)) {
      throw new Error(`${at || '/'}: a structural schema has no ${keyword}`);
    }
  }
  for (const bound of [schema.minimum, schema.maximum]) {
    // Measured: `rate: 0` passes `minimum: 0.0001`, because the API server cuts the bound to compare it with a whole number.
    if (bound !== undefined && !Number.isInteger(bound))
      throw new Error(`${at}: the bound ${bound} is not a whole number`);
  }
  const type = schema.type ?? typeOfEnum(schema, at);
  const kept = Object.fromEntries(Object.entries(schema).filter(([keyword]) => copied.has(keyword)));
  // The API server holds a default against the rules as it stands, without the defaults inside it.
  if ('default' in kept) kept.default = applyDefaults(schema, kept.default);
  const node: Structural = { ...(type === undefined ? {} : { type }), ...kept };
  if (type === undefined) return { ...node, 'x-kubernetes-preserve-unknown-fields': true };
  if (type === 'object') return { ...node, ...objectKeywords(schema, at) };
  if (type === 'array') return { ...node, ...arrayKeywords(schema, at) };
  if (!['string', 'integer', 'number', 'boolean'].includes(type)) throw new Error(`${at}: type ${type}`);
  return node;
}

/** An enumeration without a type is one of strings; a schema with neither holds any value. */
function typeOfEnum(schema: SchemaNode, at: string): 'string' | undefined {
  if (schema.enum === undefined) return undefined;
  if (schema.enum.every((value) => typeof value === 'string')) return 'string';
  throw new Error(`${at}: an enumeration of anything but strings`);
}

function objectKeywords(schema: SchemaNode, at: string): Structural {
  const { properties, additionalProperties } = schema;
  if (properties === undefined) {
    if (typeof additionalProperties === 'object') {
      return { additionalProperties: structural(additionalProperties, `${at}/*`) };
    }
    return { 'x-kubernetes-preserve-unknown-fields': true };
  }
  if (additionalProperties !== false) throw new Error(`${at}: an object with named fields must refuse others`);
  // A field with a default is never absent: the API server fills it in before it validates.
  const required = (schema.required ?? []).filter((name) => properties[name]?.default === undefined);
  const fields = Object.entries(properties).map(([name, field]) => [name, structural(field, `${at}/${name}`)] as const);
  return { ...(required.length > 0 ? { required } : {}), properties: Object.fromEntries(fields) };
}

function arrayKeywords(schema: SchemaNode, at: string): Structural {
  if (schema.items === undefined) throw new Error(`${at}: a list without items`);
  const items = structural(schema.items, `${at}/*`);
  if (schema.uniqueItems !== true) return { items };
  if (items.type === 'object' || items.type === 'array') throw new Error(`${at}: uniqueItems of anything but scalars`);
  return { 'x-kubernetes-list-type': 'set', items };
}
