/** The portal: who is logged in, and its addresses. */
import { RouterProvider } from '@tanstack/react-router';
import { api } from './core/api.ts';
import { type Session, SessionContext } from './core/session.ts';
import { router } from './router.tsx';
import { Application } from './ui/application.tsx';
import { resolver, theme } from './ui/theme.ts';

const read = async (signal: AbortSignal) => (await api.get<Session>('/portal/session', { signal })).data;

export const App = () => (
  <Application theme={theme} resolver={resolver} read={read} context={SessionContext}>
    <RouterProvider router={router} />
  </Application>
);
