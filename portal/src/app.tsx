/** The session, the language, and what is around every page. */
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { type ReactNode, StrictMode, Suspense, useEffect } from 'react';
import { api } from './core/api.ts';
import { nonce } from './core/page.ts';
import { ApiProblem } from './core/problem.ts';
import { queryClient } from './core/query.ts';
import { logInPath, type Session, SessionContext } from './core/session.ts';
import { router } from './router.tsx';
import { ProblemAlert } from './ui/problem-alert.tsx';
import { SessionOver } from './ui/session-over.tsx';
import { resolver, theme } from './ui/theme.ts';
import { Toasts } from './ui/toasts.tsx';
import { WithLanguage } from './ui/with-language.tsx';

function WithSession({ children }: { children: ReactNode }) {
  const session = useQuery({
    queryKey: ['session'],
    queryFn: async ({ signal }) => (await api.get<Session>('/portal/session', { signal })).data,
    staleTime: 60_000,
  });
  const isLoggedOut = session.error instanceof ApiProblem && session.error.status === 401 && session.data === undefined;
  useEffect(() => {
    if (isLoggedOut) location.replace(logInPath());
  }, [isLoggedOut]);
  if (session.data !== undefined) {
    return (
      <SessionContext value={session.data}>
        {children}
        <SessionOver />
      </SessionContext>
    );
  }
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
      theme={theme}
      cssVariablesResolver={resolver}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        <WithLanguage>
          <Suspense>
            <WithSession>
              <RouterProvider router={router} />
            </WithSession>
            <Toasts />
          </Suspense>
        </WithLanguage>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>
);
