/** The cache of what was read, and lists that come page by page. */
import { QueryClient, useInfiniteQuery } from '@tanstack/react-query';
import { ApiProblem } from './problem.ts';

const tries = 2;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // An answer that refuses is not asked for again; one that says "later" or none at all is.
      retry: (failures, error) => failures < tries && !(error instanceof ApiProblem && error.status < 500),
    },
  },
});

export type Page<T> = { rows: T[]; after: string | undefined };
/** What DataTable shows. */
export type Pages<T> = {
  rows: T[];
  error: Error | null;
  isLoading: boolean;
  hasMore: boolean;
  isLoadingMore: boolean;
  loadMore(): void;
  reload(): void;
};

/** @param load one page, from after a cursor on */
export function usePages<T>(
  key: readonly unknown[],
  load: (after: string | undefined, signal: AbortSignal) => Promise<Page<T>>,
  options: { enabled?: boolean } = {},
): Pages<T> {
  const found = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.after,
    ...options,
  });
  return {
    rows: found.data?.pages.flatMap((page) => page.rows) ?? [],
    error: found.error,
    isLoading: found.isLoading,
    hasMore: found.hasNextPage,
    isLoadingMore: found.isFetchingNextPage,
    loadMore: () => void found.fetchNextPage(),
    reload: () => void found.refetch(),
  };
}

/** A page of GraphQL. */
export type Connection<T> = { nodes: T[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } };
export const pageOf = <T>({ nodes, pageInfo }: Connection<T>): Page<T> => ({
  rows: nodes,
  after: pageInfo.hasNextPage ? (pageInfo.endCursor ?? undefined) : undefined,
});
