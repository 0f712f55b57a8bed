/** Addresses in the portal: below the tenant of the page, and filters that stand in them. */
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { useTenant } from './session.ts';

export const tenantPath = (tenant: string, path: string) => `/t/${encodeURIComponent(tenant)}${path}`;

/** Goes to a path below the tenant: go('/policies/car-drive'). */
export function useGo(): (path: string, options?: { replace?: boolean }) => void {
  const navigate = useNavigate();
  const { tenant } = useTenant();
  return useCallback(
    (path, options = {}) => {
      const { pathname, search } = new URL(tenantPath(tenant.code, path), location.origin);
      void navigate({ to: pathname, search: Object.fromEntries(new URLSearchParams(search)), ...options } as never);
    },
    [navigate, tenant.code],
  );
}

/** What the `$name` parts of the route's path are. */
export const useRouteParams = () => useParams({ strict: false }) as Record<string, string | undefined>;

type Values<N extends string> = { [K in N]?: string };

/** Named filters of a page, kept in its address. Setting one to undefined or '' takes it away; others stay. */
export function useFilters<const N extends string>(names: readonly N[]) {
  const search = useSearch({ strict: false }) as Record<string, string | undefined>;
  const navigate = useNavigate();
  const key = names.map((name) => search[name] ?? '').join('\n');
  // biome-ignore lint/correctness/useExhaustiveDependencies: key has the values of the names
  const values = useMemo(
    () => Object.fromEntries(names.filter((name) => search[name]).map((name) => [name, search[name]])) as Values<N>,
    [key],
  );
  const set = useCallback(
    (changed: Values<N>) => {
      const next = (before: Record<string, unknown>) =>
        Object.fromEntries(Object.entries({ ...before, ...changed }).filter(([, value]) => value));
      void navigate({ to: '.', search: next, replace: true } as never);
    },
    [navigate],
  );
  return [values, set] as const;
}
