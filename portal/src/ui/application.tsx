/** What is around every page of an application: its theme, language and cache, who is logged in, and what is told on top. */
import { type CSSVariablesResolver, MantineProvider, type MantineThemeOverride } from '@mantine/core';
import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { type Context, type ReactNode, StrictMode, Suspense, useEffect } from 'react';
import { nonce } from '../core/page.ts';
import { ApiProblem } from '../core/problem.ts';
import { queryClient } from '../core/query.ts';
import { logInPath } from '../core/session.ts';
import { ProblemAlert } from './problem-alert.tsx';
import { SessionOver } from './session-over.tsx';
import { Toasts } from './toasts.tsx';
import { WithLanguage } from './with-language.tsx';

/** `read`: who is logged in; a 401 leads to the log-in. `context`: where pages find it. */
type WithSessionProps<Session> = {
  read: (signal: AbortSignal) => Promise<Session>;
  context: Context<Session | undefined>;
  children: ReactNode;
};

function WithSession<Session>({ read, context: SessionContext, children }: WithSessionProps<Session>) {
  const session = useQuery({ queryKey: ['session'], queryFn: ({ signal }) => read(signal), staleTime: 60_000 });
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

type Looks = { theme: MantineThemeOverride; resolver: CSSVariablesResolver };

export function Application<Session>({ theme, resolver, ...withSession }: Looks & WithSessionProps<Session>) {
  return (
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
              <WithSession {...withSession} />
              <Toasts />
            </Suspense>
          </WithLanguage>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>
  );
}
