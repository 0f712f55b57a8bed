/** Who reads the whole ledger of a tenant, and at which addresses. */
import { recordViewers } from '../http/member-access.ts';

export const backends = { access: { api: 'management', scope: 'consents:read', users: false } } as const;

/** Back ends of the tenant, and its members. */
export const readers = [
  { prefix: '/:tenant', config: backends },
  { prefix: '/tenants/:tenant', config: recordViewers },
] as const;
