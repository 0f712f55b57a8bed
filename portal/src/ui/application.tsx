/** What is around every page of an application: its theme, language and cache, who is logged in, and what is told on top. */
import { type CSSVariablesResolver, MantineProvider, type MantineThemeOverride } from '@mantine/core';
import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { type Context, type ReactNode, StrictMode, Suspense, useEffect, useRef } from 'react';
import { nonce } from '../core/page.ts';
import { ApiProblem } from '../core/problem.ts';
import { queryClient } from '../core/query.ts';
import { isMemberHere, logInPath, PersonContext } from '../core/session.ts';
import { sessionEnded, sessionResumed, useSessionEnded } from '../core/session-end.ts';
import { ProblemAlert } from './problem-alert.tsx';
import { SessionOver } from './session-over.tsx';
import { Toasts } from './toasts.tsx';
import { WithLanguage } from './with-language.tsx';

type Person = { email: string; tenants?: readonly { code: string; role: string }[] };

/** Another person sees other things, and so does the same one in another role. */
function isAnother(before: Person, now: Person): boolean {
  const roleNow = (code: string) => now.tenants?.find((one) => one.code === code)?.role;
  const hasChanged = ({ code, role }: { code: string; role: string }) => (roleNow(code) ?? role) !== role;
  return before.email !== now.email || (before.tenants?.some(hasChanged) ?? false);
}

/** `read`: who is logged in; a 401 leads to the log-in. `context`: where pages find it. */
type WithSessionProps<Session> = {
  read: (signal: AbortSignal) => Promise<Session>;
  context: Context<Session | undefined>;
  children: ReactNode;
};

function WithSession<Session extends Person>({ read, context: SessionContext, children }: WithSessionProps<Session>) {
  const session = useQuery({
    queryKey: ['session'],
    queryFn: ({ signal }) => read(signal),
    staleTime: 60_000,
    // In another tab somebody else may have logged in.
    refetchOnWindowFocus: 'always',
  });
  const endedAt = useSessionEnded();
  const hasEnded = endedAt !== undefined;
  const known = useRef<Session>(undefined);
  const hasChanged =
    known.current !== undefined && session.data !== undefined && isAnother(known.current, session.data);
  // Who was removed from the tenant while the page was open keeps what was typed on it, and is told so over it.
  const isRemoved =
    known.current !== undefined &&
    session.data !== undefined &&
    isMemberHere(known.current) &&
    !isMemberHere(session.data);
  useEffect(() => {
    if (isRemoved) sessionEnded();
  }, [isRemoved]);
  if (!hasChanged && !isRemoved && !(hasEnded && known.current !== undefined)) known.current = session.data;
  useEffect(() => {
    // The cache has what the one before was shown.
    if (hasChanged) location.reload();
  }, [hasChanged]);
  const isBack =
    !hasChanged &&
    hasEnded &&
    session.data !== undefined &&
    session.dataUpdatedAt > endedAt &&
    isMemberHere(session.data);
  useEffect(() => {
    if (!isBack) return;
    sessionResumed();
    void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
  }, [isBack]);
  const isLoggedOut = session.error instanceof ApiProblem && session.error.status === 401 && session.data === undefined;
  useEffect(() => {
    if (isLoggedOut) location.replace(logInPath());
  }, [isLoggedOut]);
  if (hasChanged) return null;
  if (known.current !== undefined)
    return (
      <PersonContext value={known.current.email}>
        <SessionContext value={known.current}>
          {children}
          <SessionOver />
        </SessionContext>
      </PersonContext>
    );
  if (session.error === null || isLoggedOut) return null;
  return (
    <main className="choice">
      <ProblemAlert error={session.error} onRetry={() => void session.refetch()} />
    </main>
  );
}

type Looks = { theme: MantineThemeOverride; resolver: CSSVariablesResolver };

export function Application<Session extends Person>({
  theme,
  resolver,
  ...withSession
}: Looks & WithSessionProps<Session>) {
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
