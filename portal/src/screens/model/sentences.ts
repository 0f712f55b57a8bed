/** What stands in the picture, and what inheritance says in words. */
import type { Names } from '../../model/names.tsx';
import { type Inheritance, type Model, partsOf, type Related, words } from '../../model/shapes.ts';
import type { Box, Line } from './flow.tsx';
import type { Texts } from './texts.en.ts';

/** "a user may use a car when it lives in a household that keeps the car" */
export function sentenceOf(name: string, { relationship, from }: Inheritance, t: Texts, names: Names): string {
  const [own, first] = [partsOf(name), partsOf(relationship)];
  return t.inherits(names(own.from), names(name), names(own.to), names(relationship), names(first.to), names(from));
}

export const idOf = ({ kind, spec }: { kind: string; spec: { name: string } }) => `${kind}/${spec.name}`;

function detailOf({ spec }: Related, t: Texts, names: Names): string | undefined {
  const through = spec.inheritedThrough ?? [];
  const short = through.map(({ relationship, from }) =>
    t.throughShort(names(relationship), names(partsOf(relationship).to), names(from)),
  );
  const isShared = spec.invitation !== undefined && spec.invitation.enabled !== false;
  const { relation } = partsOf(spec.name);
  const raw = names(spec.name) === words(relation) ? [] : [relation];
  const lines = [...raw, ...short, ...(isShared ? [t.sharedShort] : [])];
  return lines.length === 0 ? undefined : lines.join(' · ');
}

export function pictureOf({ types, relationships }: Model, t: Texts, names: Names): { boxes: Box[]; lines: Line[] } {
  const boxOf = new Map(types.map((one) => [one.spec.name, idOf(one)]));
  const known = new Set(relationships.map(({ spec }) => spec.name));
  const boxes = [
    ...types.map((one): Box => {
      const { name } = one.spec;
      const raw = names(name) === name ? [] : [name];
      return { id: idOf(one), title: names(name), detail: [...raw, t.kindNames[one.kind]].join(' · '), look: 'type' };
    }),
    ...relationships.map(
      (one): Box => ({
        id: idOf(one),
        title: names(one.spec.name),
        detail: detailOf(one, t, names),
        look: 'relation',
      }),
    ),
  ];
  const lines = relationships.flatMap(({ kind, spec }): Line[] => {
    const { from, to } = partsOf(spec.name);
    const id = `${kind}/${spec.name}`;
    const steps = (spec.inheritedThrough ?? []).flatMap((one) => [one.relationship, one.from]);
    return [
      ...[boxOf.get(from)].flatMap((one) => (one === undefined ? [] : [{ from: one, to: id }])),
      ...[boxOf.get(to)].flatMap((one) => (one === undefined ? [] : [{ from: id, to: one }])),
      ...[...new Set(steps)]
        .filter((step) => known.has(step))
        .map((step): Line => ({ from: `${kind}/${step}`, to: id, look: 'inherits' })),
    ];
  });
  return { boxes, lines };
}
