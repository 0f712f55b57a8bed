/** Erasing a person: for back ends of the tenant with pg:tenant:admin, and for security-admins. */
import { Type } from 'typebox';
import { callerName } from '../core/auth/name.ts';
import type { Caller } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import type { App } from '../http/fastify.ts';
import { actedBy } from '../ledger/index.ts';
import { type ErasureServices, eraseActor } from './actions.ts';

const Params = Type.Object({ tenant: Type.String(), type: Type.String(), id: Type.String() });

const ErasureBody = Type.Object(
  {
    contacts: Type.Optional(
      Type.Array(
        Type.Object(
          { type: Type.Literal('email'), value: Type.String({ minLength: 3, maxLength: 320 }) },
          { additionalProperties: false },
        ),
        {
          maxItems: limits.eraseContactsMax,
          description:
            'Addresses of the person: invitations to them are erased too. They are known as digests only. They are kept, encrypted, until the erasure is done: a request that goes on with it need not name them again.',
        },
      ),
    ),
  },
  { additionalProperties: false },
);

const Report = Type.Object({
  status: Type.Enum(['erased', 'running'], {
    description: 'running: as much as fits into one request is done. Send the same request again until it is erased.',
  }),
  removed: Type.Record(Type.String(), Type.Integer(), {
    description: 'How many of each kind were removed or rewritten, since this erasure was begun.',
  }),
  kept: Type.Array(Type.Object({ what: Type.String(), why: Type.String(), until: Type.String() }), {
    description: 'What stays, why, and how long.',
  }),
});

const doors = [
  { url: '/:tenant/actors/:type/:id/erase', access: { door: 'management', scope: 'pg:tenant:admin', users: false } },
  { url: '/tenants/:tenant/actors/:type/:id/erase', access: { door: 'config', roles: ['security-admin'] } },
] as const;

export function registerErasureRoutes(app: App, services: ErasureServices): void {
  for (const { url, access } of doors) {
    app.route({
      method: 'POST',
      url,
      config: { access },
      bodyLimit: limits.smallBodyBytesMax,
      schema: {
        summary: 'Erase a person: all that the tenant holds of an actor',
        description:
          'Consents, relationships both ways, invitations, attributes, decisions, and its name in the ledger and the audit. 200 when it is done; 202 when more is left: send it again. Repeated, it erases what came since.',
        params: Params,
        body: ErasureBody,
        response: { 200: Report, 202: Report },
      },
      // The body is optional; body.ts puts what is sent in its place.
      onRequest: (request, _reply, done) => {
        request.body = {};
        done();
      },
      handler: async (request, reply) => {
        const { tenant, type, id } = request.params;
        const caller = request.caller as Caller;
        const by = { ...actedBy(caller), name: callerName(caller), requestId: request.id };
        const contacts = (request.body.contacts ?? []).map(({ value }) => value);
        const { revision, ...report } = await eraseActor(
          services,
          tenant,
          by,
          { type, id, contacts },
          limits.eraseRequestMs,
        );
        reply.header('accord-revision', revision).header('cache-control', 'no-store');
        if (report.status === 'running') reply.status(202).header('retry-after', '1');
        return report;
      },
    });
  }
}
