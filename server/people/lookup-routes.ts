/** C/lookup: finding records by an id. */
import { Type } from 'typebox';
import type { Role } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import { type App, memberOf, TenantParams, tenantOf } from '../http/fastify.ts';
import { recordViewers } from '../http/member-access.ts';
import type { PeopleServices } from './actions.ts';
import { withoutErasedDecisions } from './erased.ts';
import { readRecordsById } from './lookup-store.ts';
import { type RecordKind, RecordView, recordKinds } from './schema.ts';
import { itemView } from './view.ts';

/** The audit log is for those who read it elsewhere; events and invitations are not masked, and so not for support. */
const notFor: Partial<Record<Role, readonly RecordKind[]>> = {
  'config-editor': ['audit'],
  support: ['event', 'invitation'],
};
const nobody = { type: '', id: '' };

export function registerLookup(app: App, services: PeopleServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/lookup',
    config: recordViewers,
    schema: {
      summary: 'Find records by id: their own, that of a request, or the number of an event',
      description: `The id of a decision, an invitation, a mail, an event, or an entry of the ledger or the audit log; or a request id (X-Request-Id), which decisions and entries have: of those the newest ${limits.logEntriesLookedAtMax} of each log are looked through. At most ${limits.lookupRecordsMax} are answered, newest first. Editors find no entries of the audit log; support finds neither events nor invitations, and sees no ids of actors and resources.`,
      params: TenantParams,
      querystring: Type.Object(
        {
          id: Type.String({
            minLength: 1,
            maxLength: 128,
            pattern: '^[\\x21-\\x7e]+$',
            description: 'The id, or the number of an event.',
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
      const asked = { id: request.query.id, kinds, limit: limits.lookupRecordsMax };
      const rows = await services.database.tenantSnapshot(tenant, (tx) => readRecordsById(tx, tenant, asked));
      const reading = { role, person: nobody, types: tenantOf(request).snapshot.types.attributes };
      // A record that was found by its own id may have been made by a request of the same name.
      const once = rows.filter(({ id }, n) => rows.findIndex((other) => other.id === id) === n);
      const kept = await withoutErasedDecisions(services, tenant, once);
      return { found: kept.map((row) => itemView(row, reading)) };
    },
  });
}
