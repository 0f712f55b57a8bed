/** /portal chooses a tenant; /portal/t/{tenant}/{screen}/… are the pages of screens/index.ts. */
import {
  type AnyRoute,
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  lazyRouteComponent,
  Navigate,
  Outlet,
} from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { useRouteParams } from './core/address.ts';
import { base } from './core/page.ts';
import { GuideContext, type Screen } from './core/screen.ts';
import { mayDo, TenantContext, tenantContext, useSession, useTenant } from './core/session.ts';
import { screens } from './screens/index.ts';
import { ChooseTenant, NotFound } from './ui/choose-tenant.tsx';
import { MayNot } from './ui/may-not.tsx';
import { ProblemAlert } from './ui/problem-alert.tsx';
import { Shell } from './ui/shell.tsx';

function TenantPages() {
  const code = useRouteParams().tenant ?? '';
  const { tenants } = useSession();
  const tenant = tenants.find((one) => one.code === code);
  const context = useMemo(() => (tenant === undefined ? undefined : tenantContext(tenant)), [tenant]);
  if (context === undefined) return <ChooseTenant missing={code} />;
  return (
    // Another tenant is another page: nothing of the one before stays.
    <TenantContext value={context} key={code}>
      <Shell />
    </TenantContext>
  );
}

const Broken = ({ error, reset }: ErrorComponentProps) => <ProblemAlert error={error} onRetry={reset} />;

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });
const tenantRoute = createRoute({ getParentRoute: () => root, path: '/t/$tenant', component: TenantPages });
/** A page that is not for each role asks the server nothing for those that may not see it. */
function pageFor({ texts }: Screen, { load, may, guide }: Screen['routes'][number]) {
  const Page = lazyRouteComponent(load as () => Promise<{ default: () => ReactNode }>);
  const Guarded = () => {
    const { tenant } = useTenant();
    const isOpen = may === undefined || mayDo(tenant.role, may);
    return <GuideContext value={guide}>{isOpen ? <Page /> : <MayNot may={may} texts={texts} />}</GuideContext>;
  };
  return Object.assign(Guarded, { preload: Page.preload });
}

const pages = screens.flatMap((screen) =>
  screen.routes.map((page) =>
    createRoute({
      getParentRoute: () => tenantRoute,
      path: `/${screen.id}${page.path === '/' ? '' : page.path}`,
      component: pageFor(screen, page),
    }),
  ),
);
const first = createRoute({
  getParentRoute: () => tenantRoute,
  path: '/',
  component: () => <Navigate to={'./overview' as never} replace />,
});
/** Only in the development server and in tests: what the component that explains decisions draws for answers of each kind. */
const gallery: AnyRoute[] =
  import.meta.env.DEV || import.meta.env.MODE === 'test'
    ? [
        createRoute({
          getParentRoute: () => root,
          path: '/t/gallery/why',
          component: lazyRouteComponent(() => import('./why/gallery.tsx')),
        }),
      ]
    : [];

export const router = createRouter({
  routeTree: root.addChildren([
    createRoute({ getParentRoute: () => root, path: '/', component: () => <ChooseTenant /> }),
    ...gallery,
    tenantRoute.addChildren([first, ...pages] as AnyRoute[]),
  ] as AnyRoute[]),
  basepath: `${base}/portal`,
  defaultPreload: 'intent',
  defaultErrorComponent: Broken,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: false,
  // Filters are texts: ?type=user, never quoted as JSON.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const set = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
    const text = new URLSearchParams(set.map(([name, value]) => [name, String(value)])).toString();
    return text === '' ? '' : `?${text}`;
  },
});
