/** The whole model of the tenant: it is small, and the picture needs all of it. */
import { useQuery } from '@tanstack/react-query';
import { segment, type TenantApi } from '../../core/api.ts';
import { queryClient } from '../../core/query.ts';
import { useTenant } from '../../core/session.ts';
import type { Kind, Model, RelationshipObject, TypeObject } from './shapes.ts';

async function namesOf(api: TenantApi, kind: Kind, signal: AbortSignal): Promise<string[]> {
  const all: string[] = [];
  let cursor: string | undefined;
  do {
    const { data } = await api.get<{ resources: string[]; cursor?: string }>(`/${kind}`, {
      query: { limit: 200, cursor },
      signal,
    });
    all.push(...data.resources);
    cursor = data.cursor;
  } while (cursor !== undefined);
  return all;
}

const ofKind = async <K extends Kind, T>(api: TenantApi, kind: K, signal: AbortSignal) =>
  Promise.all(
    (await namesOf(api, kind, signal)).map(async (name) => {
      const { data, etag } = await api.get<T>(`/${kind}/${segment(name)}`, { signal });
      // Of a relationship type the answer has the parts of the name; here it is From:relationship:To.
      return { kind, etag, spec: { ...data, name } };
    }),
  );

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

export const reloadModel = (tenant: string) => queryClient.invalidateQueries({ queryKey: ['model', tenant] });
