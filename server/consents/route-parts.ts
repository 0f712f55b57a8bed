/** What the room's routes share: parameters, and who may call. */
import { Type } from 'typebox';
import { UUID } from '../core/uuid.ts';

export const OneParams = Type.Object({ tenant: Type.String(), id: Type.String({ pattern: UUID.source }) });
export const readers = { access: { door: 'management', scope: 'consents:read', users: true } } as const;
export const writers = { access: { door: 'management', scope: 'consents:write', users: true } } as const;
export const tenantReaders = { access: { door: 'management', scope: 'consents:read', users: false } } as const;
export const tenantWriters = { access: { door: 'management', scope: 'consents:write', users: false } } as const;
