/** What stands in the picture, and what inheritance says in words. */
import type { Names } from '../../model/names.tsx';
import { type Inheritance, type Model, partsOf, type Related, words } from '../../model/shapes.ts';
import type { Box, Line } from './flow-layout.ts';
import type { Texts } from './texts.en.ts';

/** "a user may use a car when it lives in a household that keeps the car" */
export function sentenceOf(name: string, { relationship, from }: Inheritance, t: Texts, names: Names): string {
  const [own, first] = [partsOf(name), partsOf(relationship)];
  return t.inherits(names(own.from), names(name), names(own.to), names(relationship), names(first.to), names(from));
}

export const idOf = ({ kind, spec }: { kind: string; spec: { name: string } }) => `${kind}/${spec.name}`;

function detailOf({ spec }: Related, t: Texts, names: Names): string | undefined {
  const isShared = spec.invitation !== undefined && spec.invitation.enabled !== false;
  const { relation } = partsOf(spec.name);
  const raw = names(spec.name) === words(relation) ? [] : [relation];
  const lines = [...raw, ...(isShared ? [t.sharedShort] : [])];
  return lines.length === 0 ? undefined : lines.join(' · ');
}

/** Between the two relationship types through which another one holds. */
export type Bracket = { heir: Related; pair: Inheritance };
export type Picture = { boxes: Box[]; lines: Line[]; brackets: ReadonlyMap<string, Bracket> };

export function pictureOf({ types, relationships }: Model, t: Texts, names: Names): Picture {
  const boxOf = new Map(types.map((one) => [one.spec.name, idOf(one)]));
  const known = new Map(relationships.map((one) => [one.spec.name, idOf(one)]));
  const owned = (owner: string) => (owner === 'api' ? {} : { owner });
  const brackets = new Map(
    relationships.flatMap((heir) =>
      (heir.spec.inheritedThrough ?? [])
        .filter(({ relationship, from }) => known.has(relationship) && known.has(from))
        .map((pair) => [`inherits/${heir.spec.name} ${pair.relationship} ${pair.from}`, { heir, pair }] as const),
    ),
  );
  const boxes = [
    ...types.map((one): Box => {
      const { name, managedBy } = one.spec;
      const raw = names(name) === name ? [] : [name];
      const detail = [...raw, t.kindNames[one.kind]].join(' · ');
      return { id: idOf(one), title: names(name), detail, look: 'type', ...owned(managedBy) };
    }),
    ...relationships.map((one): Box => {
      const detail = detailOf(one, t, names);
      return { id: idOf(one), title: names(one.spec.name), detail, look: 'relation', ...owned(one.spec.managedBy) };
    }),
    ...[...brackets].map(
      ([id, { heir, pair }]): Box => ({ id, title: sentenceOf(heir.spec.name, pair, t, names), look: 'bracket' }),
    ),
  ];
  const lines = relationships.flatMap((one): Line[] => {
    const { from, to } = partsOf(one.spec.name);
    const [begin, end] = [boxOf.get(from), boxOf.get(to)];
    return [
      ...(begin === undefined ? [] : [{ from: begin, to: idOf(one) }]),
      ...(end === undefined ? [] : [{ from: idOf(one), to: end }]),
    ];
  });
  const bracketed = [...brackets].flatMap(([id, { heir, pair }]): Line[] => [
    { from: known.get(pair.relationship) ?? '', to: id, look: 'begins' },
    { from: id, to: known.get(pair.from) ?? '', look: 'ends' },
    { from: id, to: idOf(heir), look: 'heir' },
  ]);
  return { boxes, lines: [...lines, ...bracketed], brackets };
}
