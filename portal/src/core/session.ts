/** Who is logged in, as GET /portal/session tells. */
import { createContext, useContext } from 'react';
import { type TenantApi, tenantApi } from './api.ts';
import { base, ownTenant } from './page.ts';

export type Role = 'security-admin' | 'config-editor' | 'config-viewer' | 'support';
export type Tenant = { code: string; name: string; role: Role };
export type Session = {
  email: string;
  displayName?: string;
  authenticatedAt: string;
  expiresAt: string;
  tenants: Tenant[];
  /** ACCORD_ENVIRONMENT, such as production. */
  environment?: string;
  /** The address of the local mailbox, when `accord start` runs. */
  mailbox?: string;
  /** The address of the documentation, below the base URL, where the server has it. */
  guide?: string;
};

/** Who is logged in, by the address, also on a tenant's sharing page: what is kept in the browser is kept for that person. */
export const PersonContext = createContext('');
export const SessionContext = createContext<Session | undefined>(undefined);
export const TenantContext = createContext<{ tenant: Tenant; api: TenantApi } | undefined>(undefined);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('useSession is used outside of a session.');
  return session;
}

/** The tenant of the page, with the member's role, and its API. */
export function useTenant(): { tenant: Tenant; api: TenantApi } {
  const value = useContext(TenantContext);
  if (value === undefined) throw new Error('useTenant is used outside of a tenant.');
  return value;
}

export const tenantContext = (tenant: Tenant) => ({ tenant, api: tenantApi(tenant.code) });

/** Whether somebody with this session is a member of the tenant of this page; of an account's page there are no members. */
export function isMemberHere({ tenants = [] }: { tenants?: readonly { code: string }[] }): boolean {
  const isHere = ({ code }: { code: string }) =>
    `${location.pathname}/`.startsWith(`${base}/portal/t/${encodeURIComponent(code)}/`);
  return ownTenant !== '' || tenants.some(isHere);
}

/** Where somebody logs in and comes back to this page. */
export function logInPath(): string {
  if (ownTenant === '')
    return `${base}/portal/log-in?to=${encodeURIComponent(location.pathname.slice(base.length) + location.search)}`;
  const [, page = 'shares'] = /\/(invitations|consents)\/?$/.exec(location.pathname) ?? [];
  return `${base}/${ownTenant}/account/log-in?to=${page}`;
}

export type Power = 'edit' | 'admin' | 'records' | 'audit';
/** Which roles may do it. */
export const may: Record<Power, readonly Role[]> = {
  edit: ['security-admin', 'config-editor'],
  admin: ['security-admin'],
  records: ['security-admin', 'config-editor', 'support'],
  audit: ['security-admin', 'support'],
};

/** What to offer. The server decides: what is hidden here is refused there, too. */
export const mayDo = (role: Role, what: Power) => may[what].includes(role);
