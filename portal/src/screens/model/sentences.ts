/** What stands in the picture, and what inheritance says in words. */
import type { Box, Line } from './flow.tsx';
import { type Inheritance, type Model, partsOf, type Related, words } from './shapes.ts';
import type { Texts } from './texts.en.ts';

/** "a user may use a car when it lives in a household that keeps the car" */
export function sentenceOf(name: string, { relationship, from }: Inheritance, t: Texts): string {
  const [own, first, second] = [partsOf(name), partsOf(relationship), partsOf(from)];
  return t.inherits(own.from, words(own.relation), own.to, words(first.relation), first.to, words(second.relation));
}

export const idOf = ({ kind, spec }: { kind: string; spec: { name: string } }) => `${kind}/${spec.name}`;

function detailOf({ spec }: Related, t: Texts): string | undefined {
  const through = spec.inheritedThrough ?? [];
  const short = through.map(({ relationship, from }) =>
    t.throughShort(words(partsOf(relationship).relation), partsOf(relationship).to, words(partsOf(from).relation)),
  );
  const isShared = spec.invitation !== undefined && spec.invitation.enabled !== false;
  const lines = [...short, ...(isShared ? [t.sharedShort] : [])];
  return lines.length === 0 ? undefined : lines.join(' · ');
}

export function pictureOf({ types, relationships }: Model, t: Texts): { boxes: Box[]; lines: Line[] } {
  const boxOf = new Map(types.map((one) => [one.spec.name, idOf(one)]));
  const known = new Set(relationships.map(({ spec }) => spec.name));
  const boxes = [
    ...types.map((one): Box => ({ id: idOf(one), title: one.spec.name, detail: t.kindNames[one.kind], look: 'type' })),
    ...relationships.map(
      (one): Box => ({
        id: idOf(one),
        title: words(partsOf(one.spec.name).relation),
        detail: detailOf(one, t),
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
