/**
 * Narrowing, pure: which relationships of a side a policy can tell apart (rego/plan/narrowing.ts), for the subject and
 * resource of one question. Nothing else is fetched then, so that a subject with very many relationships costs a look-up.
 */
import { limits } from '../../core/limits.ts';
import type { RecordsQuery } from '../../facts/index.ts';
import type { GraphTerm, GraphUse } from '../../rego/schema.ts';
import type { Types } from '../../types/index.ts';
import { pathPatternOf } from './path-pattern.ts';
import type { Named } from './schema.ts';

/** A relationship of the root: its name, and the entity at its other end, or any entity of a type there. */
export type Pointer = { readonly name: string; readonly type: string; readonly id: string | undefined };

/**
 * What is asked of a side (`from`: relationships of the subject, `to`: those to the resource); undefined: all of it.
 * @param root the subject, or the resource
 */
export function pointersOf(recordsQuery: RecordsQuery, side: 'from' | 'to', root: Named): Pointer[] | undefined {
  const { needed, compared, types } = recordsQuery;
  const uses = needed.uses?.[side === 'from' ? 'subject' : 'resource'];
  if (uses === undefined || compared === undefined) return undefined;
  const found: Pointer[] = [];
  for (const use of uses) {
    const wanted = resolved(use, compared);
    if (wanted === undefined) continue;
    for (const pointer of spelledOut(types, side, root.type, wanted)) {
      // The walk to a place that is not known is the walk to everywhere.
      if (pointer.id === undefined && pathPatternOf(types, keyOf(side, root.type, pointer)) !== undefined)
        return undefined;
      if (!found.some((one) => one.name === pointer.name && one.type === pointer.type && one.id === pointer.id))
        found.push(pointer);
    }
    if (found.length > limits.factsPointersMax) return undefined;
  }
  return found;
}

/** Whether an entry is what one of them points to. */
export function isPointedTo(pointers: readonly Pointer[], name: string, node: Named): boolean {
  return pointers.some((one) => one.name === name && one.type === node.type && (one.id ?? node.id) === node.id);
}

/** From:rel:To of what a pointer points to. */
export function keyOf(side: 'from' | 'to', root: string, { name, type }: Pointer): string {
  return side === 'from' ? `${root}:${name}:${type}` : `${type}:${name}:${root}`;
}

type Wanted = { name: string | undefined; type: string | undefined; id: string | undefined };

/** Undefined: what the use compares with is not there, so no entry equals it. */
function resolved(use: GraphUse, compared: NonNullable<RecordsQuery['compared']>): Wanted | undefined {
  const said = (term: GraphTerm) => ('literal' in term ? term.literal : compared[term.of][term.member]);
  const type = use.type && said(use.type);
  const id = use.id && said(use.id);
  if ((use.type && type === undefined) || (use.id && id === undefined)) return undefined;
  return { name: use.name, type, id };
}

/** With every name and type that the tenant's relationship types allow, where the use leaves one open. */
function spelledOut(types: Types, side: 'from' | 'to', root: string, { name, type, id }: Wanted): Pointer[] {
  if (name !== undefined && type !== undefined) return [{ name, type, id }];
  const pointers: Pointer[] = [];
  for (const key of types.relationships) {
    const [from = '', rel = '', to = ''] = key.split(':');
    const [near, far] = side === 'from' ? [from, to] : [to, from];
    if (near === root && (name ?? rel) === rel && (type ?? far) === far) pointers.push({ name: rel, type: far, id });
  }
  return pointers;
}
