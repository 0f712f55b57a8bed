/** The Config API of the revisions of libraries and data documents. */
import { shownName } from '../core/auth/mask.ts';
import type { Role } from '../core/auth/schema.ts';
import { answerWritten, Empty, IfMatch, preconditionsOf, writerOf } from '../http/config-api.ts';
import { type App, memberOf, whileConnected } from '../http/fastify.ts';
import { decodeCursor, encodeCursor, PAGE_ITEMS, PageQuery, pageOfRows } from '../http/paging.ts';
import { restorePart } from './part-actions.ts';
import { kinds, nameOf, readersOf, revisionOf, writersOf } from './part-kinds.ts';
import { DocumentRevisionView, LibraryRevisionView, type PartRevisionRow, PartRevisionsPage } from './part-schema.ts';
import { listPartRevisions, readPartRevision } from './part-store.ts';
import type { PartKind } from './parts.ts';
import { policyProblem } from './problems.ts';
import type { PolicyRouteServices } from './routes.ts';

const NUMBER = /^\d{1,15}$/;

export function registerPartHistory(app: App, services: PolicyRouteServices, kind: PartKind): void {
  const { list, noun, param, params } = kinds[kind];
  const url = `/tenants/:tenant/${list}/:${param}/revisions`;
  app.route({
    method: 'GET',
    url,
    config: readersOf(kind),
    schema: {
      summary: `List the revisions of a ${noun}, newest first`,
      ...{ params, querystring: PageQuery, response: { 200: PartRevisionsPage } },
    },
    handler: async (request, reply) => {
      const { tenant, name } = nameOf(kind, request.params);
      const { cursor, limit = PAGE_ITEMS } = request.query;
      const before = cursor === undefined ? {} : { before: Number(decodeCursor(cursor, 'revisions', NUMBER)) };
      const rows = await services.database.tenantSnapshot(tenant, (tx) =>
        listPartRevisions(tx, tenant, name, { ...before, limit: limit + 1 }),
      );
      if (rows.length === 0 && cursor === undefined) throw policyProblem('policy_part_not_found');
      const { page, onward } = pageOfRows({ request, reply }, rows, limit, ({ number }) =>
        encodeCursor(String(number), 'revisions'),
      );
      const { role } = memberOf(request);
      return { revisions: page.map((row) => view(row, role)), ...onward };
    },
  });
  registerOne(app, services, kind, url);
}

function registerOne(app: App, services: PolicyRouteServices, kind: PartKind, url: string): void {
  const { noun, numbered: params } = kinds[kind];
  app.route({
    method: 'GET',
    url: `${url}/:number`,
    config: readersOf(kind),
    schema: {
      summary: `Read one revision of a ${noun}`,
      ...{ params, querystring: Empty },
      response: { 200: kind === 'library' ? LibraryRevisionView : DocumentRevisionView },
    },
    handler: async (request) => {
      const { tenant, revision } = revisionOf(kind, request.params);
      const row = await services.database.read(tenant, (tx) => readPartRevision(tx, tenant, revision));
      if (row === undefined) throw policyProblem('policy_part_revision_not_found');
      const held = row.content === null ? {} : { [kind === 'library' ? 'modules' : 'value']: JSON.parse(row.content) };
      return { ...view(row, memberOf(request).role), ...held };
    },
  });
  app.route({
    method: 'POST',
    url: `${url}/:number/restore`,
    config: { ...writersOf(kind), idempotency: {} },
    schema: {
      summary: `Restore an earlier revision of a ${noun}, and compile and test the policies that use it with it`,
      ...{ params, headers: IfMatch, response: { 200: Empty } },
    },
    handler: async (request, reply) => {
      const { tenant, revision } = revisionOf(kind, request.params);
      const options = { ...preconditionsOf(request.headers), signal: whileConnected(reply) };
      const written = await restorePart(services, writerOf(request), tenant, revision, options);
      return answerWritten(reply, services, tenant, { revision: written.revision, object: written.result.number });
    },
  });
}

function view({ number, action, updated_at, updated_by }: PartRevisionRow, role: Role) {
  return { revision: number, action, updatedAt: updated_at, updatedBy: shownName(role, updated_by) };
}
