/** The sharing page of a tenant's users: its session, language and addresses. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  RouterProvider,
} from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { base, ownTenant } from '../core/page.ts';
import { Application } from '../ui/application.tsx';
import { ProblemAlert } from '../ui/problem-alert.tsx';
import { brandResolver, brandTheme } from './brand.ts';
import { Consents } from './consents.tsx';
import { Invitations } from './invitations.tsx';
import { own, type Session, SessionContext } from './session.ts';
import { Shares } from './shares.tsx';
import { NotFound, Shell } from './shell.tsx';

const Broken = ({ error, reset }: ErrorComponentProps) => <ProblemAlert error={error} onRetry={reset} />;
const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });
const page = (path: string, component: () => ReactNode) => createRoute({ getParentRoute: () => root, path, component });
const router = createRouter({
  routeTree: root.addChildren([
    page('/sharing', Shares),
    page('/sharing/invitations', Invitations),
    page('/sharing/consents', Consents),
  ]),
  // Not /sharing: its first page would get a slash at the end.
  basepath: `${base}/${ownTenant}/account`,
  defaultErrorComponent: Broken,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: false,
});

const read = (signal: AbortSignal) => own.get<Session>('/account/sharing/session', { signal });

export const App = () => (
  <Application theme={brandTheme} resolver={brandResolver} read={read} context={SessionContext}>
    <RouterProvider router={router as never} />
  </Application>
);
