/** C/lookup: what carries an id that somebody pasted. */
import { Type } from 'typebox';
import type { Role } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import { type App, memberOf, TenantParams, tenantOf } from '../http/fastify.ts';
import { recordViewers } from '../http/member-access.ts';
import type { PeopleServices } from './actions.ts';
import { readFound } from './lookup-store.ts';
import { type RecordKind, RecordView, recordKinds } from './schema.ts';
import { itemView } from './view.ts';

const FOUND_MAX = 50;

/** The audit log is for those who read it elsewhere; events and invitations are not masked, and so not for support. */
const notFor: Partial<Record<Role, readonly RecordKind[]>> = {
  'config-editor': ['audit'],
  support: ['event', 'invitation'],
};
const nobody = { type: '', id: '' };

export function registerLookup(app: App, { database }: PeopleServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/lookup',
    config: recordViewers,
    schema: {
      summary: 'Find what carries an id: of a record, of a request, or the number of an event',
      description: `The id of a decision, an invitation, a mail, an event, or an entry of the ledger or the audit log; or a request id (X-Request-Id), which decisions and entries have: of those the newest ${limits.decisionsLookedAtMax} of each log are looked through. At most ${FOUND_MAX} are answered, newest first. Editors find no entries of the audit log; support finds neither events nor invitations, and sees no ids of actors and resources.`,
      params: TenantParams,
      querystring: Type.Object(
        {
          id: Type.String({
            minLength: 1,
            maxLength: 128,
            pattern: '^[\\x21-\\x7e]+$',
            description: 'What was pasted.',
          }),
        },
        { additionalProperties: false },
      ),
      response: { 200: Type.Object({ found: Type.Array(RecordView) }) },
    },
    handler: async (request) => {
      const { tenant } = request.params;
      const { role } = memberOf(request);
      const kinds = new Set(recordKinds.filter((kind) => !notFor[role]?.includes(kind)));
      const asked = { id: request.query.id, kinds, limit: FOUND_MAX };
      const rows = await database.tenantSnapshot(tenant, (tx) => readFound(tx, tenant, asked));
      const reading = { role, person: nobody, types: tenantOf(request).snapshot.types.attributes };
      // A record that was found by its own id may have been made by a request of the same name.
      const once = rows.filter(({ id }, n) => rows.findIndex((other) => other.id === id) === n);
      return { found: once.map((row) => itemView(row, reading)) };
    },
  });
}
