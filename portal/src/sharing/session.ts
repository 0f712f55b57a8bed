/** Who is logged in at the account, and the management APIs (M) of its tenant, which are asked as that person. */
import { createContext, useContext } from 'react';
import { type Ask, api } from '../core/api.ts';
import { ownTenant } from '../core/page.ts';

export type Session = {
  email: string;
  emailVerified: boolean;
  displayName?: string;
  expiresAt: string;
  actor: { type: string; id: string };
  accountUrl: string;
};

export const SessionContext = createContext<Session | undefined>(undefined);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('useSession is used outside of a session.');
  return session;
}

const m = (path: string) => `/${ownTenant}${path}`;

export const own = {
  get: async <T>(path: string, options?: Ask) => (await api.get<T>(m(path), options)).data,
  post: async <T>(path: string, options?: Ask) => (await api.post<T>(m(path), options)).data,
  delete: async (path: string) => void (await api.delete<unknown>(m(path))),
};
