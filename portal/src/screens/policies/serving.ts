/** Which servers serve a policy as it is now, and which manifests are refused. */
import { useQuery } from '@tanstack/react-query';
import type { Connection } from '../../core/query.ts';
import { useTenant } from '../../core/session.ts';

type Server = { id: string; revision?: string };
type Change = { revision: string; kind: string; name: string };
const numberOf = (revision: string | undefined) => (revision === undefined ? -1 : Number(revision.slice(1)));

export type Serving = { current: number; all: number };

/**
 * How many servers serve the newest revision of a policy: those that serve the change that made it. Changes that are older than those
 * that are asked for are in all servers that serve the oldest of these.
 */
export function servingOf(servers: readonly Server[], changes: readonly Change[], policy: string): Serving {
  const change = changes.find(({ kind, name }) => kind === 'policy' && name === policy) ?? changes.at(-1);
  const needed = change === undefined ? 0 : Number(change.revision);
  return { current: servers.filter(({ revision }) => numberOf(revision) >= needed).length, all: servers.length };
}

/** undefined while it is not known, or where the role does not see the changes. */
export function useServing(): ((policy: string) => Serving) | undefined {
  const { tenant, api } = useTenant();
  const servers = useQuery({
    queryKey: ['policies', tenant.code, 'servers'],
    queryFn: async ({ signal }) => (await api.get<{ servers: Server[] }>('/servers', { signal })).data.servers,
    enabled: tenant.role !== 'support',
    refetchInterval: 15_000,
  });
  const changes = useQuery({
    queryKey: ['policies', tenant.code, 'changes'],
    queryFn: async ({ signal }) =>
      (await api.graphql<{ allConfigChanges: Connection<Change> }>('configChanges', {}, signal)).allConfigChanges.nodes,
    enabled: tenant.role !== 'support',
  });
  const [at, made] = [servers.data, changes.data];
  return at && made && ((policy) => servingOf(at, made, policy));
}

type Condition = { type: string; status: string; reason: string; message: string };
type Resource = {
  kind: string;
  namespace?: string;
  name: string;
  source: string;
  generation: number;
  status?: { conditions?: Condition[]; activeGeneration?: number };
};
export type Refused = { owner: string; reason: string; message: string; generation: number; serves?: number };

/** Manifests of policies that are not accepted; by their owner's name, as managedBy has it. */
export function useRefused(): readonly Refused[] {
  const { tenant, api } = useTenant();
  const { data = [] } = useQuery({
    queryKey: ['policies', tenant.code, 'refused'],
    queryFn: async ({ signal }) =>
      (await api.get<{ resources: Resource[] }>('/resources', { signal })).data.resources.flatMap(refusedOf),
  });
  return data;
}

function refusedOf({ kind, namespace, name, source, generation, status }: Resource): Refused[] {
  const accepted = status?.conditions?.find(({ type }) => type === 'Accepted');
  if (kind !== 'Policy' || accepted?.status !== 'False') return [];
  const owner = `${source} ${namespace ? `${namespace}/` : ''}${name}`;
  const { reason, message } = accepted;
  return [{ owner, reason, message, generation, ...(status?.activeGeneration && { serves: status.activeGeneration }) }];
}
