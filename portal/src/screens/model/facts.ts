/** The facts of one question as a policy is given them: relationships of both ends, and what is inherited through two of them. */
import { segment, type TenantApi } from '../../core/api.ts';
import type { Explanation } from '../../why/index.ts';
import { type Entity, type Model, partsOf, type Relationship, text } from './shapes.ts';

const readMax = 200;
type Page = { relationships: { relationshipType: string; from?: Entity; to?: Entity }[]; cursor?: string };
type Facts = NonNullable<Explanation['facts']>;

async function side(api: TenantApi, of: Entity, which: 'actors' | 'resources', signal: AbortSignal) {
  const path = `/${which}/${segment(of.type)}/${segment(of.id)}/relationships`;
  const { data } = await api.get<Page>(path, { query: { limit: readMax }, signal });
  const rows = data.relationships.map((one): Relationship => ({ from: of, to: of, ...one }));
  return { rows, isCut: data.cursor !== undefined };
}

/** The pairs of relationships that lead from the subject to the resource through a third thing, where the model says so. */
function inherited(model: Model, of: readonly Relationship[], to: readonly Relationship[]) {
  return model.relationships.flatMap(({ spec }) =>
    (spec.inheritedThrough ?? []).flatMap(({ relationship, from }) =>
      of
        .filter((first) => `${first.from.type}:${first.relationshipType}:${first.to.type}` === relationship)
        .flatMap((first) =>
          to
            .filter(
              (second) =>
                text(second.from) === text(first.to) &&
                `${second.from.type}:${second.relationshipType}:${second.to.type}` === from,
            )
            .map((second) => ({
              relationship: { from: first.from, relationshipType: partsOf(spec.name).relation, to: second.to },
              through: [first, second],
            })),
        ),
    ),
  );
}

export async function factsOf(api: TenantApi, model: Model, subject: Entity, resource: Entity, signal: AbortSignal) {
  const [own, into] = await Promise.all([
    side(api, subject, 'actors', signal),
    side(api, resource, 'resources', signal),
  ]);
  const through = inherited(model, own.rows, into.rows);
  const all = (rows: readonly Relationship[]) => [...rows, ...through.map((one) => one.relationship)];
  const named = (from: Entity, relationshipType: string, to: Entity) => `${from.type}:${relationshipType}:${to.type}`;
  const graph = {
    subject: all(own.rows).map(({ from, relationshipType, to }) => ({
      ...{ type: named(from, relationshipType, to), relationshipType, to },
    })),
    resource: all(into.rows).map(({ from, relationshipType, to }) => ({
      ...{ type: named(from, relationshipType, to), relationshipType, from },
    })),
  };
  const facts: Facts = { graph, inherited: through };
  return { graph, facts, isCut: own.isCut || into.isCut };
}
