/**
 * Applying JSON Patch operations to a value. The value was read from the policy's memory for this one call, so it
 * is changed in place; `copy` clones, and everything whose cost grows with the value is charged.
 */
import { pointerName } from '../../../crds/values.ts';
import { distinct, identity } from '../compare.ts';
import { type RegoObject, RegoSet, type Value } from '../value.ts';
import { type BuiltinContext, refuse, stringOf } from './arguments.ts';

export class Patch {
  root: Value;
  readonly #context: BuiltinContext;

  constructor(context: BuiltinContext, root: Value) {
    this.#context = context;
    this.root = root;
  }

  /** Applies one operation object. Refuses one that is malformed, or whose path or test fails. */
  apply(operation: RegoObject): void {
    const path = pathOf(operation.get('path'));
    const value = () => operation.get('value') ?? need(operation, 'value');
    switch (stringOf(operation.get('op'))) {
      case 'add':
        this.#insert(path, value());
        break;
      case 'remove':
        this.#remove(path);
        break;
      case 'replace':
        this.#remove(path);
        this.#insert(path, value());
        break;
      case 'move': {
        const from = pathOf(operation.get('from'));
        const moved = this.#get(from);
        this.#remove(from);
        this.#insert(path, moved);
        break;
      }
      case 'copy':
        this.#insert(path, this.#clone(this.#get(pathOf(operation.get('from')))));
        break;
      case 'test':
        this.#test(this.#get(path), value());
        break;
      default:
        refuse();
    }
  }

  #test(found: Value, wanted: Value): void {
    if (identity(this.#context, found) !== identity(this.#context, wanted)) refuse();
  }

  #get(path: Value[]): Value {
    let value: Value = this.root;
    for (const segment of path) {
      const child = this.#child(value, segment);
      value = child === undefined ? refuse() : child;
    }
    return value;
  }

  #child(value: Value, segment: Value): Value | undefined {
    this.#context.charge(2);
    if (Array.isArray(value)) return value[indexOf(segment, value.length - 1)];
    if (value instanceof Map) return value.get(this.#key(value, segment));
    return value instanceof RegoSet ? value.items[this.#position(value, segment)] : undefined;
  }

  #insert(path: Value[], value: Value): void {
    if (path.length === 0) {
      this.root = value;
      return;
    }
    const parent = this.#get(path.slice(0, -1));
    const segment = path.at(-1)!;
    if (parent instanceof Map) parent.set(this.#key(parent, segment), value);
    else if (Array.isArray(parent)) {
      this.#context.charge(parent.length / 64);
      parent.splice(segment === '-' ? parent.length : indexOf(segment, parent.length), 0, value);
    } else if (parent instanceof RegoSet) {
      if (identity(this.#context, segment) !== identity(this.#context, value)) refuse(); // a set's item is its own path segment
      this.#context.charge(parent.items.length * 4);
      this.#replace(path.slice(0, -1), distinct(this.#context, [...parent.items, value]));
    } else refuse();
  }

  #remove(path: Value[]): void {
    if (path.length === 0) {
      this.root = null;
      return;
    }
    const parent = this.#get(path.slice(0, -1));
    const segment = path.at(-1)!;
    if (parent instanceof Map) {
      if (!parent.delete(this.#key(parent, segment))) refuse();
    } else if (Array.isArray(parent)) {
      this.#context.charge(parent.length / 64);
      parent.splice(indexOf(segment, parent.length - 1), 1);
    } else if (parent instanceof RegoSet) {
      const position = this.#position(parent, segment);
      if (position < 0) refuse();
      this.#replace(path.slice(0, -1), new RegoSet(parent.items.toSpliced(position, 1)));
    } else refuse();
  }

  /** Puts a changed set in the place of the old one. Sets inside sets are not followed further. */
  #replace(path: Value[], set: RegoSet): void {
    if (path.length === 0) {
      this.root = set;
      return;
    }
    const parent = this.#get(path.slice(0, -1));
    const segment = path.at(-1)!;
    if (parent instanceof Map) parent.set(this.#key(parent, segment), set);
    else if (Array.isArray(parent)) parent[indexOf(segment, parent.length - 1)] = set;
    else refuse();
  }

  /** The key of `object` that equals `segment`; composite ones are distinct objects here, so they are searched for. */
  #key(object: RegoObject, segment: Value): Value {
    if (object.has(segment) || segment === null || typeof segment !== 'object') return segment;
    const wanted = identity(this.#context, segment);
    for (const key of object.keys()) if (identity(this.#context, key) === wanted) return key;
    return segment;
  }

  #position(set: RegoSet, segment: Value): number {
    const wanted = identity(this.#context, segment);
    return set.items.findIndex((item) => identity(this.#context, item) === wanted);
  }

  /** Everything but keys, which are never changed: what two places shared could be put inside itself. */
  #clone(value: Value): Value {
    this.#context.charge(12);
    if (Array.isArray(value)) return value.map((item) => this.#clone(item));
    if (value instanceof Map) return new Map(Array.from(value, ([key, item]) => [key, this.#clone(item)]));
    if (value instanceof RegoSet) return new RegoSet(value.items.map((item) => this.#clone(item)));
    return value;
  }
}

/** `null` is a value; a missing member is not. */
function need(operation: RegoObject, name: string): Value {
  return operation.has(name) ? null : refuse();
}

/** A JSON pointer (OPA strips all leading slashes, and allows none) or an array of segments. */
function pathOf(value: Value | undefined): Value[] {
  if (Array.isArray(value)) return value;
  const text = stringOf(value);
  if (text === '') return [];
  return text.replace(/^\/+/, '').split('/').map(pointerName);
}

/** An array index of at most `last`. */
function indexOf(segment: Value, last: number): number {
  const index = typeof segment === 'string' && /^(?:0|[1-9]\d{0,8})$/.test(segment) ? Number(segment) : segment;
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 && index <= last ? index : refuse();
}
