/** C/resources: the manifests of a tenant and their status, as `kubectl get` shows them; one of its objects as a manifest. */
import { Type } from 'typebox';
import { checkManifest } from '../../crds/index.ts';
import { type Role, roles } from '../core/auth/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import { type App, memberOf, TenantParams } from '../http/fastify.ts';
import { encodeCursor, pageAsked, pageOfRows, WholeQuery } from '../http/paging.ts';
import type { Only } from '../room/exporting.ts';
import { kindsOf, type LooseManifest, type ResourceKind } from '../room/resource-kind.ts';
import type { Room } from '../room/room.ts';
import { manifestOfObject } from './manifests.ts';
import { listResources, type Position, type ResourceRow } from './store.ts';

type ResourceRouteServices = { database: Database; clock: Clock; rooms: readonly Room[] };

const ResourceView = Type.Object({
  kind: Type.String(),
  namespace: Type.Optional(Type.String()),
  name: Type.String(),
  source: Type.String(),
  generation: Type.Integer(),
  status: Type.Unknown(),
  updatedAt: Type.String(),
});

const ManifestView = Type.Object({
  manifest: Type.Object({
    apiVersion: Type.String(),
    kind: Type.String(),
    metadata: Type.Object({ name: Type.String(), namespace: Type.Optional(Type.String()) }),
    spec: Type.Record(Type.String(), Type.Unknown()),
  }),
  plural: Type.String({ description: 'The kind as kubectl names it, such as policies.' }),
  comments: Type.Array(Type.String(), { description: 'What has to be known before it is applied.' }),
  managedBy: Type.String({ description: '`api`, or the manifest that owns it.' }),
});

export function registerResourceRoutes(app: App, services: ResourceRouteServices): void {
  registerList(app, services);
  registerManifest(app, services);
  registerCheck(app, services);
}

function registerList(app: App, { database }: ResourceRouteServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/resources',
    config: { access: { api: 'config', roles } },
    schema: {
      summary: "The tenant's manifests and their status",
      params: TenantParams,
      querystring: WholeQuery,
      response: {
        200: Type.Object({ resources: Type.Array(ResourceView), cursor: Type.Optional(Type.String()) }),
      },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const { limit } = request.query;
      const page = pageAsked(request.query, 'resources', positionOf);
      const rows = await database.read(tenant, (tx) => listResources(tx, tenant, page));
      if (limit === undefined) return { resources: rows.map(view) };
      const { page: shown, onward } = pageOfRows({ request, reply }, rows, limit, ({ kind, namespace, name, source }) =>
        encodeCursor(`${kind}/${namespace}/${name}/${source}`, 'resources'),
      );
      return { resources: shown.map(view), ...onward };
    },
  });
}

const text = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: limits.entityIdBytesMax, description }));

function registerManifest(app: App, { database, clock, rooms }: ResourceRouteServices): void {
  const kinds = kindsByName(rooms);
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/resources/manifest',
    config: { access: { api: 'config', roles } },
    schema: {
      summary: 'Read an object of the tenant as a manifest',
      description:
        'As accord export writes it, without secrets. The object is named by its name in the API, or by the manifest that owns it. A Tenant is read by security admins only, a data document not by support.',
      params: TenantParams,
      querystring: Type.Object(
        {
          kind: Type.Enum([...kinds.keys()], { description: 'The kind of the object.' }),
          name: text('Its name in the API, such as `user:drives:car`, or `invitation/en` of a mail template.'),
          manifest: text('The manifest that owns it: `NAMESPACE/NAME`, or `NAME` where it has no namespace.'),
        },
        { additionalProperties: false },
      ),
      response: { 200: ManifestView },
    },
    handler: async (request) => {
      const { tenant } = request.params;
      const { name, manifest } = request.query;
      const kind = readable(kinds, request.query.kind, memberOf(request).role);
      const reading = { only: onlyBy({ name, manifest }), now: clock.now() };
      const found = await database.tenantSnapshot(tenant, (tx) => manifestOfObject(tx, kind, tenant, reading));
      if (found === undefined) throw problem('not_found', { detail: `The tenant has no such ${request.query.kind}.` });
      return { ...found, comments: [...found.comments] };
    },
  });
}

const Refusal = Type.Object({ pointer: Type.String(), detail: Type.String() });

function registerCheck(app: App, { database, clock, rooms }: ResourceRouteServices): void {
  const kinds = kindsByName(rooms);
  app.route({
    method: 'POST',
    url: '/tenants/:tenant/resources/manifest/check',
    config: { access: { api: 'config', roles: ['security-admin', 'config-editor'] } },
    bodyLimit: limits.policyDataBodyBytesMax,
    schema: {
      summary: 'Check a manifest of the tenant',
      description:
        'Its schema, and what must not change of the object that is stored: what the API server of Kubernetes would refuse. What needs the tenant, such as compiling a policy, is checked when it is applied. Nothing is written.',
      params: TenantParams,
      body: Type.Object(
        { manifest: Type.Object({ kind: Type.Enum([...kinds.keys()]) }, { additionalProperties: true }) },
        { additionalProperties: false },
      ),
      response: { 200: Type.Object({ errors: Type.Array(Refusal, { description: 'None: it is good.' }) }) },
    },
    handler: async (request) => {
      const { tenant } = request.params;
      const { manifest } = request.body;
      const kind = readable(kinds, manifest.kind, memberOf(request).role);
      const checked = checkManifest(manifest);
      if (!checked.ok) return { errors: checked.errors };
      const claim = kind.claims(checked.manifest as unknown as LooseManifest);
      if (claim === undefined || claim.tenant !== tenant) {
        const pointer = manifest.kind === 'Tenant' ? '/metadata/name' : '/spec/tenantRef/name';
        return { errors: [{ pointer, detail: `must be ${tenant}` }] };
      }
      const reading = { only: { name: claim.name }, now: clock.now() };
      const found = await database.tenantSnapshot(tenant, (tx) => manifestOfObject(tx, kind, tenant, reading));
      const stored = found && checkManifest(found.manifest);
      const again = stored?.ok ? checkManifest(manifest, stored.manifest) : checked;
      return { errors: again.ok ? [] : again.errors };
    },
  });
}

type Kinds = ReadonlyMap<string, ResourceKind<unknown>>;

const kindsByName = (rooms: readonly Room[]): Kinds =>
  new Map(kindsOf(rooms).map(({ kind }) => [kind.definition.kind, kind]));

/** @throws Problem forbidden */
function readable(kinds: Kinds, name: string, role: Role): ResourceKind<unknown> {
  const kind = kinds.get(name);
  if (kind !== undefined && (kind.readers ?? roles).includes(role)) return kind;
  throw problem('forbidden', { detail: `Your role does not read manifests of the kind ${name}.` });
}

/** @throws Problem invalid_request */
function onlyBy({ name, manifest }: { name: string | undefined; manifest: string | undefined }): Only {
  if (name !== undefined && manifest === undefined) return { name };
  if (manifest !== undefined && name === undefined) return { manifest };
  const detail = 'Exactly one of name and manifest is required.';
  throw problem('invalid_request', { detail, errors: [{ pointer: '/query', detail }] });
}

function positionOf(text: string): Position {
  const [kind = '', namespace = '', name = '', ...source] = text.split('/');
  return { kind, namespace, name, source: source.join('/') };
}

function view(row: ResourceRow) {
  return {
    kind: row.kind,
    ...(row.namespace === '' ? {} : { namespace: row.namespace }),
    name: row.name,
    source: row.source,
    generation: row.generation,
    status: row.status,
    updatedAt: row.updated_at,
  };
}
