/** The Config API's reading of the decision log: searching it, and explaining a decision of it. */

import { Type } from 'typebox';
import { patterns } from '../../crds/index.ts';
import { utc } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import { type App, memberOf, plainJson, TenantParams, tenantOf } from '../http/fastify.ts';
import { decodeRecordCursor, encodeRecordCursor, linkNext, PAGE_ITEMS, pageQuery } from '../http/paging.ts';
import { pseudonymOf, readErased } from '../pseudonyms/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import { withoutErasedPersons } from './being-erased.ts';
import { DecisionView, decisionView, isMasked, maskedExplanation, shownOutcome } from './decision-view.ts';
import { type ExplainedDecision, explainLogged, type LoggedServices } from './logged.ts';
import { type DecisionFilter, type EntityFilter, searchDecisions } from './store.ts';

export type DecisionRouteServices = LoggedServices;

// Records, not configuration: a config-viewer reads none.
const recordReaders = { access: { api: 'config', roles: ['security-admin', 'config-editor', 'support'] } } as const;

const { MAX_SAFE_INTEGER } = Number;
const instant = Type.String({ format: 'date-time', maxLength: 64 });
const idText = (whose: string) =>
  Type.Optional(
    Type.String({ minLength: 1, maxLength: 1024, description: `Only decisions about this id of ${whose}.` }),
  );
const typeText = (whose: string) =>
  Type.Optional(
    Type.String({ minLength: 1, maxLength: 256, description: `With ${whose}Id: the type that the request says.` }),
  );

const Query = Type.Object(
  {
    ...pageQuery,
    start: Type.Optional(instant),
    end: Type.Optional(instant),
    action: Type.Optional(Type.String({ maxLength: 1024 })),
    outcome: Type.Optional(Type.Union([Type.Literal('allow'), Type.Literal('deny')])),
    reason: Type.Optional(
      Type.String({ maxLength: limits.reasonCharsMax, description: 'Only decisions with exactly this reason.' }),
    ),
    ...{ subjectId: idText('the subject'), subjectType: typeText('subject') },
    ...{ resourceId: idText('the resource'), resourceType: typeText('resource') },
    policyRevision: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_SAFE_INTEGER,
        description: 'With action: only decisions of this revision of the policy.',
      }),
    ),
  },
  { additionalProperties: false },
);

export function registerDecisions(app: App, services: DecisionRouteServices): void {
  registerSearch(app, services);
  registerExplaining(app, services);
}

function registerSearch(app: App, services: DecisionRouteServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/decisions',
    config: recordReaders,
    schema: {
      summary: 'Search the decision log, newest first',
      description: `A request looks at ${limits.logEntriesLookedAtMax} records at most: a page may have fewer items than limit, or none, and a cursor with which the search goes on. Support may not search by ids or reasons, which it does not see.`,
      pseudonyms: ['Decisions'],
      params: TenantParams,
      querystring: Query,
      response: { 200: Type.Object({ decisions: Type.Array(DecisionView), cursor: Type.Optional(Type.String()) }) },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const { limit = PAGE_ITEMS, cursor, ...asked } = request.query;
      const { role } = memberOf(request);
      const filter = filterOf(asked, isMasked(role));
      const before = cursor === undefined ? {} : { before: decodeRecordCursor(cursor, 'decisions') };
      const { defaultActorType } = tenantOf(request).snapshot.spec.tokenMapping;
      const { rows, next } = await services.database.tenantSnapshot(tenant, async (tx) => {
        const erased = await erasedTypes(services, tx, tenant, filter);
        if (erased === 'all') return { rows: [], next: undefined };
        // A subject without a type has the default one.
        const isDefaultErased = erased.subject.includes(defaultActorType);
        const types = { ...erased, subject: isDefaultErased ? [...erased.subject, ''] : erased.subject };
        return searchDecisions(
          tx,
          tenant,
          { ...filter, erased: types, ...before, limit },
          limits.logEntriesLookedAtMax,
        );
      });
      const onward = next === undefined ? {} : { cursor: encodeRecordCursor(next, 'decisions') };
      if (onward.cursor !== undefined) linkNext(reply, request.url, { limit, cursor: onward.cursor });
      const shown = await withoutErasedPersons(services, tenant, rows);
      return { decisions: shown.map((row) => decisionView(row, role)), ...onward };
    },
  });
}

type Asked = {
  start?: string;
  end?: string;
  action?: string;
  outcome?: 'allow' | 'deny';
  reason?: string;
  subjectId?: string;
  subjectType?: string;
  resourceId?: string;
  resourceType?: string;
  policyRevision?: number;
};

function filterOf(asked: Asked, masked: boolean): DecisionFilter {
  const { start, end, subjectId, subjectType, resourceId, resourceType, ...rest } = asked;
  const { reason, policyRevision, action } = rest;
  if (masked && (subjectId ?? resourceId ?? reason) !== undefined)
    throw problem('forbidden', { detail: 'support sees neither ids nor reasons, and may not search by them.' });
  const lone = (name: string, needed: string) =>
    problem('invalid_request', { errors: [{ pointer: `/query/${name}`, detail: `goes only with ${needed}` }] });
  if (subjectType !== undefined && subjectId === undefined) throw lone('subjectType', 'subjectId');
  if (resourceType !== undefined && resourceId === undefined) throw lone('resourceType', 'resourceId');
  if (policyRevision !== undefined && action === undefined) throw lone('policyRevision', 'action');
  const entity = (id: string, type: string | undefined): EntityFilter => ({
    id,
    ...(type === undefined ? {} : { type }),
  });
  return {
    ...rest,
    // It does not see other actions (decisionView), and so does not find them by a guess.
    ...(masked && action !== undefined ? { ofPolicy: true } : {}),
    ...(start === undefined ? {} : { start: utc(start) }),
    ...(end === undefined ? {} : { end: utc(end) }),
    ...(subjectId === undefined ? {} : { subject: entity(subjectId, subjectType) }),
    ...(resourceId === undefined ? {} : { resource: entity(resourceId, resourceType) }),
  };
}

type Reading = Parameters<typeof readErased>[0];

/** While a person is being erased, its records may still be there. An address of one stands for no type: then it is `all`. */
async function erasedTypes(
  { pseudonymizer }: DecisionRouteServices,
  tx: Reading,
  tenant: string,
  { subject, resource }: DecisionFilter,
): Promise<{ subject: string[]; resource: string[] } | 'all'> {
  const typesOf = async (entity: EntityFilter | undefined) => {
    if (entity === undefined) return [];
    const found = await readErased(tx, [{ tenant, pseudonym: pseudonymOf(pseudonymizer, tenant, entity.id) }]);
    return found.map(({ type }) => type);
  };
  const types = { subject: await typesOf(subject), resource: await typesOf(resource) };
  if ([...types.subject, ...types.resource].includes(null)) return 'all';
  const named = (of: readonly (string | null)[]) => of.filter((type) => type !== null);
  return { subject: named(types.subject), resource: named(types.resource) };
}

const ExplainedView = Type.Object({
  decision: DecisionView,
  facts: Type.Literal('current', {
    description: 'Relationships, attributes and consents are those of now: the log does not keep them.',
  }),
  answer: Type.Unknown({ description: 'What the revision that made the decision answers with these facts.' }),
  differs: Type.Array(
    Type.Object({
      member: Type.String({ description: 'outcome, reason or obligations.' }),
      recorded: Type.Optional(Type.Unknown()),
      now: Type.Optional(Type.Unknown()),
    }),
    { description: 'Where the answer is not the recorded one; empty where they are the same.' },
  ),
  notes: Type.Array(Type.String()),
  explain: Type.Optional(
    Type.Unknown({
      description:
        'As in an explained decision. Support sees the action and the types of the tenant in it, and no values and ids.',
    }),
  ),
});

function registerExplaining(app: App, services: DecisionRouteServices): void {
  app.route({
    method: 'POST',
    url: '/tenants/:tenant/decisions/:id/explain',
    config: recordReaders,
    schema: {
      summary: 'Explain a decision of the log by the revision of the policy that made it',
      description: 'Nothing is recorded. The request and the instant are those of the record.',
      pseudonyms: ['Decisions'],
      params: Type.Object({ tenant: Type.String(), id: Type.String({ pattern: patterns.uuid.source }) }),
      response: { 200: ExplainedView },
    },
    serializerCompiler: plainJson,
    handler: async (request) => {
      const { role } = memberOf(request);
      const { snapshot } = tenantOf(request);
      const explained = await explainLogged(services, snapshot, request.params.id);
      return isMasked(role) ? maskedView(explained, snapshot.types.attributes) : view(explained);
    },
  });
}

function view({ row, answer, explain, differs, notes }: ExplainedDecision) {
  const decision = decisionView(row, 'security-admin');
  return { decision, facts: 'current' as const, answer, differs, notes, ...(explain === undefined ? {} : { explain }) };
}

function maskedView(
  { row, source, answer, explain, differs, notes }: ExplainedDecision,
  types: TenantSnapshot['types']['attributes'],
) {
  return {
    decision: decisionView(row, 'support'),
    facts: 'current' as const,
    answer: { outcome: shownOutcome(answer.outcome) },
    differs: differs.map(({ member, recorded, now }) =>
      member === 'outcome' ? { member, recorded: shownOutcome(recorded), now: shownOutcome(now) } : { member },
    ),
    notes,
    ...(explain === undefined ? {} : { explain: maskedExplanation(explain, source, types) }),
  };
}
