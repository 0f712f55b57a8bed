/** What is being put together in the picture, box by box: a relationship type between two types, or what one is inherited through. Pure. */
import { type Inheritance, isSameInheritance, type Model, pairsOf, partsOf } from '../../model/shapes.ts';

export type Picking =
  | { kind: 'relate'; from: string }
  /** `heir`: the relationship type that is inherited; absent: the two are chosen first. */
  | { kind: 'inherit'; heir?: string; chosen: readonly string[] };
/** What it comes to: the form that is opened, filled in. */
export type Proposal =
  | { make: 'relationship'; from: string; to?: string; through?: Inheritance }
  | { heir: string; pair: Inheritance };

const relationshipId = (name: string) => `relationship-types/${name}`;

/** In the order in which they lead. */
export const pairOf = ([first = '', second = '']: readonly string[]): Inheritance =>
  partsOf(first).to === partsOf(second).from
    ? { relationship: first, from: second }
    : { relationship: second, from: first };

/** Those that an heir does not have yet. */
const openPairs = (heir: string, model: Model) => {
  const set = model.relationships.find(({ spec }) => spec.name === heir)?.spec.inheritedThrough ?? [];
  return pairsOf(heir, model).filter((pair) => !set.some((one) => isSameInheritance(one, pair)));
};
export const mayInherit = (heir: string, model: Model) => openPairs(heir, model).length > 0;

/** The names of relationship types that can be chosen next. */
function nextOf({ heir, chosen }: Extract<Picking, { kind: 'inherit' }>, model: Model): string[] {
  const [first] = chosen;
  if (chosen.length > 1) return [];
  if (heir !== undefined)
    return openPairs(heir, model).flatMap(({ relationship, from }) => {
      if (first === undefined) return [relationship, from];
      return first === relationship ? [from] : first === from ? [relationship] : [];
    });
  if (first === undefined) return model.relationships.map(({ spec }) => spec.name);
  const { from, to } = partsOf(first);
  const names = model.relationships.map(({ spec }) => spec.name).filter((one) => one !== first);
  return names.filter((one) => partsOf(one).from === to || partsOf(one).to === from);
}

/** The boxes that are chosen, and those that can be chosen next. */
export function boxesOf(picking: Picking, model: Model): { chosen: Set<string>; possible: Set<string> } {
  if (picking.kind === 'relate') {
    const types = model.types.map(({ kind, spec }) => [spec.name, `${kind}/${spec.name}`] as const);
    const from = types.filter(([name]) => name === picking.from).map(([, id]) => id);
    return { chosen: new Set(from), possible: new Set(types.map(([, id]) => id)) };
  }
  const { heir, chosen } = picking;
  const own = [...(heir === undefined ? [] : [heir]), ...chosen];
  return { chosen: new Set(own.map(relationshipId)), possible: new Set(nextOf(picking, model).map(relationshipId)) };
}

/** The next step, or what it comes to; undefined where the box cannot be chosen. */
export function choose(picking: Picking, id: string, model: Model): Picking | Proposal | undefined {
  if (!boxesOf(picking, model).possible.has(id)) return undefined;
  const name = id.slice(id.indexOf('/') + 1);
  if (picking.kind === 'relate') return { make: 'relationship', from: picking.from, to: name };
  const chosen = [...picking.chosen, name];
  const { heir } = picking;
  return heir !== undefined && chosen.length === 2 ? { heir, pair: pairOf(chosen) } : { ...picking, chosen };
}

/** The relationship types between the far ends of two that were chosen: each could be inherited through them. */
export function heirsOf(chosen: readonly string[], model: Model): string[] {
  const { relationship, from } = pairOf(chosen);
  const [begin, end] = [partsOf(relationship).from, partsOf(from).to];
  const free = model.relationships.filter(({ spec }) => spec.managedBy === 'api').map(({ spec }) => spec.name);
  return free.filter(
    (one) =>
      partsOf(one).from === begin &&
      partsOf(one).to === end &&
      openPairs(one, model).some((pair) => isSameInheritance(pair, { relationship, from })),
  );
}
