/**
 * Fills in the defaults that a schema states, exactly as the API server does, so that both sources store the same spec.
 * That includes null, which YAML reads from a field without a value: none of our fields is nullable.
 */
interface Node {
  readonly properties?: Record<string, Node>;
  readonly additionalProperties?: Node | boolean;
  readonly items?: Node;
  readonly default?: unknown;
}
type JsonObject = Record<string, unknown>;

/**
 * @param value JSON; it is not changed
 * @returns a copy in which each named field that is absent or null holds its default, and a null without a default is gone.
 *   A default is filled in only where its parent object is present or has a default itself. Entries of lists and what is
 *   below a free-form field stay as they are.
 */
export function applyDefaults(schema: object, value: unknown): unknown {
  const copy = structuredClone(value);
  fill(schema as Node, copy);
  return copy;
}

function fill(schema: Node, value: unknown): void {
  if (Array.isArray(value)) {
    if (schema.items !== undefined) for (const item of value) fill(schema.items, item);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const object = value as JsonObject;
  for (const [name, field] of fieldsOf(schema, object)) {
    if (Object.hasOwn(object, name) && object[name] === null) delete object[name];
    if (!Object.hasOwn(object, name) && field.default !== undefined) object[name] = structuredClone(field.default);
    if (Object.hasOwn(object, name)) fill(field, object[name]);
  }
}

/** The named fields of an object, or the entries of a map, with their schemas. */
function fieldsOf(schema: Node, object: JsonObject): [string, Node][] {
  if (schema.properties !== undefined) return Object.entries(schema.properties);
  const { additionalProperties } = schema;
  return typeof additionalProperties === 'object' ? Object.keys(object).map((key) => [key, additionalProperties]) : [];
}
