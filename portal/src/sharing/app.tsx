/** The sharing page of a tenant's users: its session, language and addresses. */
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  RouterProvider,
} from '@tanstack/react-router';
import { type ReactNode, StrictMode, Suspense, useEffect } from 'react';
import { base, nonce, ownTenant } from '../core/page.ts';
import { ApiProblem } from '../core/problem.ts';
import { queryClient } from '../core/query.ts';
import { logInPath } from '../core/session.ts';
import { ProblemAlert } from '../ui/problem-alert.tsx';
import { SessionOver } from '../ui/session-over.tsx';
import { Toasts } from '../ui/toasts.tsx';
import { WithLanguage } from '../ui/with-language.tsx';
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

function WithSession({ children }: { children: ReactNode }) {
  const session = useQuery({
    queryKey: ['session'],
    queryFn: ({ signal }) => own.get<Session>('/account/sharing/session', { signal }),
    staleTime: 60_000,
  });
  const isLoggedOut = session.error instanceof ApiProblem && session.error.status === 401 && session.data === undefined;
  useEffect(() => {
    if (isLoggedOut) location.replace(logInPath());
  }, [isLoggedOut]);
  if (session.data !== undefined)
    return (
      <SessionContext value={session.data}>
        {children}
        <SessionOver />
      </SessionContext>
    );
  if (session.error === null || isLoggedOut) return null;
  return (
    <main className="choice">
      <ProblemAlert error={session.error} onRetry={() => void session.refetch()} />
    </main>
  );
}

export const App = () => (
  <StrictMode>
    <MantineProvider
      theme={brandTheme}
      cssVariablesResolver={brandResolver}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        <WithLanguage>
          <Suspense>
            <WithSession>
              <RouterProvider router={router as never} />
            </WithSession>
            <Toasts />
          </Suspense>
        </WithLanguage>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>
);
