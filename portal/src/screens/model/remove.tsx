/** Asks before a type is deleted, or a relationship type is no longer inherited through two others; both can be undone. */
import { useQuery } from '@tanstack/react-query';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { useNames } from '../../model/names.tsx';
import { isSameInheritance, type Model, partsOf, type Related, type Typed } from '../../model/shapes.ts';
import { Confirm } from '../../ui/index.ts';
import { useChanges } from './changes.ts';
import { bodyOf } from './manifest.ts';
import { type Bracket, sentenceOf } from './sentences.ts';
import { texts } from './texts.ts';

/** The relationship types that name a type, as one of their ends. */
export const usersOf = (name: string, { relationships }: Model) =>
  relationships.filter(({ spec }) => [partsOf(spec.name).from, partsOf(spec.name).to].includes(name));

/** The names of the policies that have the name of a relationship type in theirs. */
export function usePoliciesOf(name: string, isWanted = true) {
  const { tenant, api } = useTenant();
  return useQuery({
    queryKey: ['model', tenant.code, 'policies-of', name],
    queryFn: async ({ signal }) =>
      (await api.get<{ resources: string[] }>('/policies', { query: { q: name, limit: 200 }, signal })).data.resources,
    enabled: isWanted,
  });
}

type Props = { of: Typed | Related; model: Model; onClose: () => void; onDone: () => void };

export function RemoveType({ of, model, onClose, onDone }: Props) {
  const t = useTexts(texts);
  const { remove } = useChanges();
  const { kind, spec } = of;
  const isRelationship = kind === 'relationship-types';
  const policies = usePoliciesOf(spec.name, isRelationship).data?.length;
  const heirs = model.relationships.filter((one) =>
    one.spec.inheritedThrough?.some(({ relationship, from }) => [relationship, from].includes(spec.name)),
  );
  return (
    <Confirm
      title={t.removeTitle(spec.name)}
      consequences={
        isRelationship
          ? t.removeRelationshipWhat(heirs.length, policies)
          : t.removeTypeWhat(usersOf(spec.name, model).length)
      }
      action={t.remove}
      onClose={onClose}
      onConfirm={async () => {
        await remove(of);
        onDone();
      }}
    />
  );
}

export function RemoveInheritance({ of, model, onClose }: { of: Bracket; model: Model; onClose: () => void }) {
  const t = useTexts(texts);
  const names = useNames(model);
  const { put } = useChanges();
  const { heir, pair } = of;
  const { name, inheritedThrough = [] } = heir.spec;
  const left = inheritedThrough.filter((one) => !isSameInheritance(one, pair));
  return (
    <Confirm
      title={t.uninheritTitle(name)}
      consequences={[sentenceOf(name, pair, t, names), t.uninheritWhat(left.length)]}
      action={t.uninherit}
      onClose={onClose}
      onConfirm={() => {
        const { inheritedThrough: _, ...rest } = heir.spec;
        const spec = { ...rest, ...(left.length > 0 && { inheritedThrough: left }) };
        return put('relationship-types', name, bodyOf('relationship-types', spec), heir);
      }}
    />
  );
}
