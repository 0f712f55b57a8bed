/** What the room's routes share: parameters, who may call, and the record of what is refused. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { UUID } from '../core/uuid.ts';
import { type ConsentServices, recordRefusal } from './governing.ts';

export const tags = ['Consents'];
export const OneParams = Type.Object({ tenant: Type.String(), id: Type.String({ pattern: UUID.source }) });
export const readers = { access: { door: 'management', scope: 'consents:read', users: true } } as const;
export const writers = { access: { door: 'management', scope: 'consents:write', users: true } } as const;
export const tenantReaders = { access: { door: 'management', scope: 'consents:read', users: false } } as const;
export const tenantWriters = { access: { door: 'management', scope: 'consents:write', users: false } } as const;

/** Records the refusal, then leaves it to the application's error handler. */
export function recorded(services: ConsentServices) {
  return async (error: unknown, request: FastifyRequest, _reply: FastifyReply): Promise<never> => {
    await recordRefusal(services, request, error);
    throw error;
  };
}
