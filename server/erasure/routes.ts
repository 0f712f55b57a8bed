/** Erasing a person: for back ends of the tenant with pg:tenant:admin, and for security-admins. */
import { Type } from 'typebox';
import { callerName } from '../core/auth/name.ts';
import type { Caller } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import { optionalBody } from '../http/body.ts';
import type { App } from '../http/fastify.ts';
import { recordWriters } from '../http/member-access.ts';
import { actedBy } from '../ledger/index.ts';
import { type ErasureServices, eraseActor, previewErasure } from './actions.ts';

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
            'Addresses of the person. Invitations to them are erased too; Accord stores invited addresses only as digests and cannot find them otherwise. The addresses are stored, encrypted, until the erasure is complete, so later requests need not repeat them. Digests of them stay, so decisions that are recorded later do not contain the addresses.',
        },
      ),
    ),
  },
  { additionalProperties: false },
);

const Report = Type.Object({
  status: Type.Enum(['erased', 'running'], {
    description: 'running: part of the work is done. Send the same request again until the state is erased.',
  }),
  removed: Type.Record(Type.String(), Type.Integer(), {
    description: 'Number of records of each kind that were removed or rewritten since the erasure started.',
  }),
  kept: Type.Array(Type.Object({ what: Type.String(), why: Type.String(), until: Type.String() }), {
    description: 'What is retained, why, and for how long.',
  }),
});

const routes = [
  { url: '/:tenant/actors/:type/:id/erase', access: { api: 'management', scope: 'pg:tenant:admin', users: false } },
  { url: '/tenants/:tenant/actors/:type/:id/erase', access: { api: 'config', roles: ['security-admin'] } },
] as const;

const Preview = Type.Object({
  removed: Type.Record(Type.String(), Type.Integer(), {
    description: 'How many records of each kind an erasure would remove or rewrite now.',
  }),
  complete: Type.Boolean({ description: 'false: the time was up; there are at least so many.' }),
  kept: Report.properties.kept,
});

export function registerErasureRoutes(app: App, services: ErasureServices): void {
  registerErasing(app, services);
  app.route({
    method: 'POST',
    url: '/tenants/:tenant/actors/:type/:id/erase/preview',
    config: recordWriters,
    bodyLimit: limits.smallBodyBytesMax,
    schema: {
      summary: 'Count what erasing the personal data of an actor would remove',
      description: `Nothing is changed. After ${limits.erasePreviewMs / 1000} s it answers what it has counted, with complete: false.`,
      params: Params,
      body: ErasureBody,
      response: { 200: Preview },
    },
    onRequest: optionalBody,
    handler: async (request, reply) => {
      const { tenant, type, id } = request.params;
      const contacts = (request.body.contacts ?? []).map(({ value }) => value);
      reply.header('cache-control', 'no-store');
      return previewErasure(services, tenant, { type, id, contacts }, limits.erasePreviewMs);
    },
  });
}

function registerErasing(app: App, services: ErasureServices): void {
  for (const { url, access } of routes) {
    app.route({
      method: 'POST',
      url,
      config: { access },
      bodyLimit: limits.smallBodyBytesMax,
      schema: {
        summary: 'Erase the personal data of an actor',
        description:
          'Erases consents, relationships in both directions, invitations, attributes, decisions, and the id in the ledger and the audit log. 200: complete. 202: more is left; send the request again. A repeated request erases what was recorded since.',
        params: Params,
        body: ErasureBody,
        response: { 200: Report, 202: Report },
      },
      onRequest: optionalBody,
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
