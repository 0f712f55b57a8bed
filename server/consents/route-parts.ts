import { Type } from 'typebox';
import { UUID } from '../core/uuid.ts';

export const OneParams = Type.Object({ tenant: Type.String(), id: Type.String({ pattern: UUID.source }) });
export const readers = {
  access: { api: 'management', scope: 'consents:read', users: true, session: true },
} as const;
export const writers = {
  access: { api: 'management', scope: 'consents:write', users: true, session: true },
} as const;
export const tenantReaders = { access: { api: 'management', scope: 'consents:read', users: false } } as const;
export const tenantWriters = { access: { api: 'management', scope: 'consents:write', users: false } } as const;
