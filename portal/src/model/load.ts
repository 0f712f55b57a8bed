/** The whole model of the tenant: it is small, and the picture needs all of it. */
import { useQuery } from '@tanstack/react-query';
import type { TenantApi } from '../core/api.ts';
import { queryClient } from '../core/query.ts';
import { useTenant } from '../core/session.ts';
import type { Kind, Model, RelationshipObject, TypeObject } from './shapes.ts';

/** With what they say: one answer for all of a kind, not one for each. */
async function ofKind<K extends Kind, T extends TypeObject | RelationshipObject>(
  api: TenantApi,
  kind: K,
  signal: AbortSignal,
) {
  const all: { kind: K; etag: string; spec: T }[] = [];
  let cursor: string | undefined;
  do {
    const query = { objects: true, limit: 200, cursor };
    const { data } = await api.get<{ resources: string[]; objects: T[]; cursor?: string }>(`/${kind}`, {
      query,
      signal,
    });
    for (const [index, object] of data.objects.entries()) {
      // Of a relationship type the answer has the parts of the name; here it is From:relationship:To.
      const spec = { ...object, name: data.resources[index] ?? object.name };
      all.push({ kind, etag: `"${object.revision}"`, spec });
    }
    cursor = data.cursor;
  } while (cursor !== undefined);
  return all;
}

export function useModel() {
  const { tenant, api } = useTenant();
  return useQuery({
    queryKey: ['model', tenant.code, 'types'],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<Model> => {
      const [actors, resources, relationships] = await Promise.all([
        ofKind<'actor-types', TypeObject>(api, 'actor-types', signal),
        ofKind<'resource-types', TypeObject>(api, 'resource-types', signal),
        ofKind<'relationship-types', RelationshipObject>(api, 'relationship-types', signal),
      ]);
      return { types: [...actors, ...resources], relationships };
    },
  });
}

/** Of resources alone: a type may be of both. False until the model is known. */
export const isResourceType = (model: Model | undefined, type: string): boolean => {
  const kinds = (model?.types ?? []).filter(({ spec }) => spec.name === type).map(({ kind }) => kind);
  return kinds.includes('resource-types') && !kinds.includes('actor-types');
};

export const reloadModel = (tenant: string) => queryClient.invalidateQueries({ queryKey: ['model', tenant] });
