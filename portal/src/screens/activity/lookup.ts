/** Records by an id that somebody has: of themselves, or of the request that made them. */
import { segment, type TenantApi } from '../../core/api.ts';
import { mayDo, type Role } from '../../core/session.ts';

export type LookupResult = {
  kind: 'decision' | 'audit' | 'consent' | 'event' | 'invitation' | 'mail';
  id: string;
  at: string;
  what: string;
  action?: string;
  name?: string;
  objectKind?: string;
  invitationId?: string;
  by?: string;
};

export const lookUp = async (api: TenantApi, id: string, signal?: AbortSignal): Promise<LookupResult[]> =>
  (await api.get<{ found: LookupResult[] }>('/lookup', { query: { id }, ...(signal && { signal }) })).data.found;

/** Where it is in the portal. */
export function placeOf(found: LookupResult, role: Role): string {
  switch (found.kind) {
    case 'decision':
      // Support is not told an action that no policy has.
      return found.action === undefined || found.action === '***'
        ? '/activity'
        : `/policies/${segment(found.action)}?decision=${segment(found.id)}`;
    case 'audit': {
      // Support sees no names of objects, and cannot ask for one.
      const named = mayDo(role, 'admin') && found.name !== undefined ? `&name=${segment(found.name)}` : '';
      return `/settings/audit?kind=${segment(found.objectKind ?? '')}&action=${segment(found.what)}${named}`;
    }
    case 'consent':
      return `/consents/ledger?type=${segment(found.what)}${found.name === undefined ? '' : `&name=${segment(found.name)}`}`;
    case 'event':
      return '/activity/events';
    case 'invitation':
      return `/model/invitations?open=${segment(found.invitationId ?? found.id)}`;
    case 'mail':
      return '/activity/mail';
  }
}
