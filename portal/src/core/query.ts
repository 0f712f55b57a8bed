/** The cache of what was read, and lists that come page by page. */
import { type keepPreviousData, type Query, QueryCache, QueryClient, useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { ApiProblem, isMissing } from './problem.ts';
import type { Session, Tenant } from './session.ts';

const tries = 2;

/** Each request of support is audited: what nobody asked for is not sent. */
export const isAudited = ({ queryKey: [, code] }: Pick<Query, 'queryKey'>) => {
  const session = queryClient.getQueryData<Partial<Session>>(['session']);
  return session?.tenants?.some((one) => one.code === code && one.role === 'support') ?? false;
};
const isUnaudited = (query: Query) => !isAudited(query);

/** A role that was taken away is noticed at the first refusal; of refusals that follow one another the first asks. */
const onError = (error: Error) => {
  if (error instanceof ApiProblem && error.status === 403)
    void queryClient.refetchQueries({
      queryKey: ['session'],
      predicate: ({ state }) => state.dataUpdatedAt < Date.now() - 5_000,
    });
};

/** Queries of a tenant's configuration, by room and part: what people write is made from them. */
const configuration: Record<string, true | readonly unknown[]> = {
  ...{ session: true, templates: true, issuers: true, clients: true, branding: true, limits: true, keys: true },
  ...{ subscriptions: true, manifests: true },
  policies: [undefined, 'one', 'stored', 'found', 'vocabulary', 'library', 'revisions', 'revision', 'servers'],
  model: ['types', 'policy-names'],
  consents: ['definitions', 'tree', 'text'],
};
const isOfRecords = ({ queryKey: [room, , part] }: Pick<Query, 'queryKey'>) => {
  const parts = configuration[String(room)];
  return parts !== true && !parts?.includes(part);
};

/** Who may not see records any more keeps none: they are asked for again, and refused. */
export const forgetRecords = () => void queryClient.resetQueries({ predicate: isOfRecords });

/** For what the server writes down at each reading, and for what is being edited: it is read when the page asks, and at no other time. */
export const readOnce = {
  ...{ staleTime: Number.POSITIVE_INFINITY, gcTime: 0 },
  ...{ refetchOnWindowFocus: false, refetchOnReconnect: false },
} as const;

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      refetchOnWindowFocus: isUnaudited,
      refetchOnReconnect: isUnaudited,
      // An answer that refuses is not asked for again; one that says "later" or none at all is.
      retry: (failures, error) => failures < tries && !(error instanceof ApiProblem && error.status < 500),
    },
  },
});

export type Page<T> = { rows: T[]; after: string | undefined };
/** What DataTable shows. */
export type Pages<T, P extends Page<T> = Page<T>> = {
  rows: T[];
  /** For what answers say beside their rows. */
  pages: readonly P[];
  error: Error | null;
  isLoading: boolean;
  hasMore: boolean;
  isLoadingMore: boolean;
  loadMore(): void;
  reload(): void;
  /** What failed, once more: the next page, or what is shown. */
  retry(): void;
};

type Options = Partial<typeof readOnce> & {
  enabled?: boolean;
  refetchInterval?: number;
  placeholderData?: typeof keepPreviousData;
};

/** @param load one page, from after a cursor on */
export function usePages<T, P extends Page<T> = Page<T>>(
  key: readonly unknown[],
  load: (after: string | undefined, signal: AbortSignal) => Promise<P & Page<T>>,
  options: Options = {},
): Pages<T, P> {
  const found = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.after,
    ...options,
  });
  // The same array until other rows arrive: pictures are laid out by it.
  const rows = useMemo(() => found.data?.pages.flatMap((page) => page.rows) ?? [], [found.data]);
  const loadMore = () => void found.fetchNextPage();
  // One that is under way is not begun anew: of a slow list none would end.
  const reload = () => void found.refetch({ cancelRefetch: false });
  return {
    rows,
    pages: found.data?.pages ?? [],
    error: found.error,
    isLoading: found.isLoading,
    hasMore: found.hasNextPage,
    isLoadingMore: found.isFetchingNextPage,
    loadMore,
    reload,
    retry: found.isFetchNextPageError ? loadMore : reload,
  };
}

function ifMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

/** The objects of a list that has names alone. Support is given the names: each of its requests is audited. */
export async function withObjects<T>(
  names: readonly string[],
  tenant: Tenant,
  load: (name: string) => Promise<{ data: T }>,
) {
  const isLoaded = tenant.role !== 'support';
  return Promise.all(
    names.map(async (name): Promise<{ name: string; of?: T }> => {
      // One that is gone since is a name.
      const found = isLoaded ? await load(name).catch(ifMissing) : undefined;
      return found === undefined ? { name } : { name, of: found.data };
    }),
  );
}

/** A page of GraphQL. */
export type Connection<T> = { nodes: T[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } };
export const pageOf = <T>({ nodes, pageInfo }: Connection<T>): Page<T> => ({
  rows: nodes,
  after: pageInfo.hasNextPage ? (pageInfo.endCursor ?? undefined) : undefined,
});
