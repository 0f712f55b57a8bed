/** C/consent-definitions/{name}/tree: a definition with its versions and documents in one answer, for who shows them together. */
import { Type } from 'typebox';
import { roles } from '../core/auth/schema.ts';
import type { Database } from '../core/db/database.ts';
import { describeOwner } from '../core/ownership.ts';
import { etagOf } from '../http/config-api.ts';
import type { App } from '../http/fastify.ts';
import { requireDefinition } from './actions.ts';
import { DefinitionView, DocumentView, VersionView } from './schema.ts';
import { shownDefinition, shownDocument, shownVersion } from './views.ts';

const TreeView = Type.Object({
  managedBy: Type.String({ description: '`api`, or the manifest that owns it.' }),
  config: DefinitionView.properties.config,
  versions: Type.Array(
    Type.Object({
      config: VersionView.properties.config,
      documents: Type.Array(DocumentView, {
        description: 'By language and version. Their texts are not here: read the document.',
      }),
    }),
  ),
});

export function registerTreeRoute(app: App, { database }: { database: Database }): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/consent-definitions/:name/tree',
    config: { access: { api: 'config', roles } },
    schema: {
      summary: 'Read a consent definition with its versions and documents',
      params: Type.Object({ tenant: Type.String(), name: Type.String() }),
      response: { 200: TreeView },
    },
    handler: async (request, reply) => {
      const { tenant, name } = request.params;
      const row = await database.tenantSnapshot(tenant, (tx) => requireDefinition(tx, tenant, name));
      reply.header('etag', etagOf(row.revision));
      return {
        managedBy: describeOwner(row.owner),
        config: shownDefinition(row).config,
        versions: row.versions.map((version) => ({
          config: shownVersion(version).config,
          documents: version.documents.map((document) => shownDocument(document, undefined)),
        })),
      };
    },
  });
}
