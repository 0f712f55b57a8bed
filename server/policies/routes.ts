/** The Config API of policies. */
import { Type } from 'typebox';
import { DataSubjects } from '../../crds/data-subjects.ts';
import { shownName } from '../core/auth/mask.ts';
import { type Role, roles } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import { describeOwner } from '../core/ownership.ts';
import {
  answerWritten,
  type ConfigServing,
  Empty,
  etagOf,
  IfMatch,
  preconditionsOf,
  WriteHeaders,
  writerOf,
} from '../http/config-api.ts';
import { type App, memberOf, TenantParams } from '../http/fastify.ts';
import {
  decodeCursor,
  encodeCursor,
  NamesPage,
  PAGE_ITEMS,
  PageQuery,
  pageAsked,
  pageOfNames,
  pageOfRows,
  wholeQuery,
} from '../http/paging.ts';
import { RelationshipsRead, relationshipsRead } from '../rego/index.ts';
import {
  ALLOW_NOT_TESTED,
  deletePolicy,
  findPolicy,
  type PolicyServices,
  putPolicy,
  restorePolicy,
} from './actions.ts';
import { linesOfNodes } from './graph/index.ts';
import { policyProblem } from './problems.ts';
import { statedBody } from './rules.ts';
import { PolicyBody, type PolicyRow, PolicyView, type RevisionRow } from './schema.ts';
import { listPolicies, listRevisions, readRevision } from './store.ts';

const PolicyParams = Type.Object({ tenant: Type.String(), policyName: Type.String() });
const RevisionParams = Type.Object({
  tenant: Type.String(),
  policyName: Type.String(),
  number: Type.String({ pattern: '^[1-9]\\d{0,14}$' }),
});

const readers = { access: { api: 'config', roles } } as const;
const writers = { access: { api: 'config', roles: ['security-admin', 'config-editor'] } } as const;

export type PolicyRouteServices = PolicyServices & ConfigServing;

export function registerPolicyRoutes(app: App, services: PolicyRouteServices): void {
  registerReading(app, services);
  registerWriting(app, services);
  registerHistory(app, services);
}

function registerReading(app: App, services: PolicyRouteServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/policies',
    config: readers,
    schema: {
      summary: 'List policies',
      params: TenantParams,
      querystring: Type.Object(
        {
          ...wholeQuery,
          q: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 200,
              description: 'Only policies whose name or source contains this text.',
            }),
          ),
        },
        { additionalProperties: false },
      ),
      response: { 200: NamesPage },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const { q, limit } = request.query;
      const page = { ...(q === undefined ? {} : { search: q }), ...pageAsked(request.query, 'policies') };
      const names = await services.database.read(tenant, (tx) => listPolicies(tx, tenant, page));
      const self = `/tenants/${tenant}/policies`;
      return pageOfNames(reply, names, { self, list: 'policies', limit, filter: q === undefined ? {} : { q } });
    },
  });
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/policies/:policyName',
    config: readers,
    schema: { summary: 'Read a policy', params: PolicyParams, querystring: Empty, response: { 200: PolicyView } },
    handler: async (request, reply) => {
      const { tenant, policyName } = request.params;
      const row = await findPolicy(services.database, tenant, policyName);
      if (row === undefined) throw policyProblem('policy_not_found');
      reply.header('etag', etagOf(row.number));
      return view(row, memberOf(request).role);
    },
  });
}

function registerWriting(app: App, services: PolicyRouteServices): void {
  app.route({
    method: 'PUT',
    url: '/tenants/:tenant/policies/:policyName',
    config: writers,
    bodyLimit: limits.bodyBytesMax,
    schema: {
      summary: 'Create or replace a policy',
      params: PolicyParams,
      headers: WriteHeaders,
      querystring: Type.Object(
        {
          dryRun: Type.Optional(
            Type.Union([Type.Literal('true'), Type.Literal('false')], {
              description: 'true: validate and compile the policy without storing it.',
            }),
          ),
        },
        { additionalProperties: false },
      ),
      body: PolicyBody,
      response: { 200: PolicyWritten },
    },
    handler: async (request, reply) => {
      const { tenant, policyName } = request.params;
      const options = { ...preconditionsOf(request.headers), dryRun: request.query.dryRun === 'true' };
      const { tests = [], ...body } = request.body;
      const written = await putPolicy(services, writerOf(request), tenant, policyName, body, { ...options, tests });
      const { number, reads, allowTested, notes } = written.result;
      const object = options.dryRun ? undefined : number;
      const answer = await answerWritten(reply, services, tenant, { revision: written.revision, object });
      if (!options.dryRun) return answer;
      const all = [...notes, ...(allowTested === false ? [ALLOW_NOT_TESTED] : [])];
      return { ...answer, relationships: relationshipsRead(reads), ...(all.length > 0 ? { notes: all } : {}) };
    },
  });
  app.route({
    method: 'DELETE',
    url: '/tenants/:tenant/policies/:policyName',
    config: writers,
    schema: {
      summary: 'Remove a policy',
      params: PolicyParams,
      headers: IfMatch,
      response: { 200: Empty },
    },
    handler: async (request, reply) => {
      const { tenant, policyName } = request.params;
      const options = preconditionsOf(request.headers);
      const written = await deletePolicy(services, writerOf(request), tenant, policyName, options);
      return answerWritten(reply, services, tenant, written);
    },
  });
}

/** `{}` as for every write; a dry run says what is worth knowing before the policy is stored. */
const PolicyWritten = Type.Object({
  relationships: Type.Optional(RelationshipsRead),
  notes: Type.Optional(Type.Array(Type.String(), { description: 'What may be a mistake.' })),
});

const RevisionView = Type.Object({
  revision: Type.Integer(),
  action: Type.String(),
  rego: Type.Optional(Type.String()),
  graph: Type.Optional(Type.Unknown()),
  dataSubjects: Type.Optional(DataSubjects),
  effectiveRego: Type.Optional(Type.String()),
  updatedAt: Type.String(),
  updatedBy: Type.String(),
});

function registerHistory(app: App, services: PolicyRouteServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/policies/:policyName/revisions',
    config: readers,
    schema: {
      summary: "List a policy's revisions, newest first",
      params: PolicyParams,
      querystring: PageQuery,
      response: {
        200: Type.Object({
          revisions: Type.Array(Type.Omit(RevisionView, ['rego', 'graph', 'dataSubjects', 'effectiveRego'])),
          cursor: Type.Optional(Type.String()),
        }),
      },
    },
    handler: async (request, reply) => {
      const { tenant, policyName } = request.params;
      const limit = request.query.limit ?? PAGE_ITEMS;
      const before =
        request.query.cursor === undefined
          ? {}
          : { before: Number(decodeCursor(request.query.cursor, 'revisions', /^\d{1,15}$/)) };
      const rows = await services.database.tenantSnapshot(tenant, (tx) =>
        listRevisions(tx, tenant, policyName, { ...before, limit: limit + 1 }),
      );
      if (rows.length === 0 && request.query.cursor === undefined) throw policyProblem('policy_not_found');
      const { page, onward } = pageOfRows({ request, reply }, rows, limit, ({ number }) =>
        encodeCursor(String(number), 'revisions'),
      );
      const { role } = memberOf(request);
      return { revisions: page.map((row) => historyView(row, role)), ...onward };
    },
  });
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/policies/:policyName/revisions/:number',
    config: readers,
    schema: {
      summary: 'Read one revision of a policy',
      params: RevisionParams,
      querystring: Empty,
      response: { 200: RevisionView },
    },
    handler: async (request) => {
      const { tenant, policyName, number } = request.params;
      const row = await services.database.read(tenant, (tx) => readRevision(tx, tenant, policyName, Number(number)));
      if (row === undefined) throw policyProblem('policy_revision_not_found');
      return revisionView(row, memberOf(request).role);
    },
  });
  app.route({
    method: 'POST',
    url: '/tenants/:tenant/policies/:policyName/revisions/:number/restore',
    config: { ...writers, idempotency: {} },
    schema: {
      summary: 'Restore an earlier revision',
      params: RevisionParams,
      headers: IfMatch,
      response: { 200: Empty },
    },
    handler: async (request, reply) => {
      const { tenant, policyName, number } = request.params;
      const written = await restorePolicy(
        services,
        writerOf(request),
        tenant,
        policyName,
        Number(number),
        preconditionsOf(request.headers),
      );
      return answerWritten(reply, services, tenant, { revision: written.revision, object: written.result.number });
    },
  });
}

function view(row: PolicyRow, role: Role) {
  const nodeLines = row.graph ? linesOfNodes(row.graph, row.effective_rego) : undefined;
  return {
    name: row.name,
    ...sources(row),
    effectiveRego: row.effective_rego,
    ...(nodeLines && { nodeLines }),
    revision: row.number,
    updatedAt: row.updated_at,
    updatedBy: shownName(role, row.updated_by),
    managedBy: describeOwner(row.owner),
    relationships: relationshipsRead(row.reads),
    ...(row.tests === null ? {} : { tests: row.tests }),
  };
}

function historyView(row: Pick<RevisionRow, 'number' | 'action' | 'updated_at' | 'updated_by'>, role: Role) {
  return {
    revision: row.number,
    action: row.action,
    updatedAt: row.updated_at,
    updatedBy: shownName(role, row.updated_by),
  };
}

function revisionView(row: RevisionRow, role: Role) {
  return {
    revision: row.number,
    action: row.action,
    ...sources(row),
    ...(row.effective_rego === null ? {} : { effectiveRego: row.effective_rego }),
    updatedAt: row.updated_at,
    updatedBy: shownName(role, row.updated_by),
  };
}

function sources({ rego, graph, data_subjects }: Pick<PolicyRow, 'rego' | 'graph' | 'data_subjects'>) {
  return statedBody({ rego, graph, dataSubjects: data_subjects });
}
