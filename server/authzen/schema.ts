/**
 * Shapes of AuthZEN 1.0 (sections 5 to 8), strict as all bodies are: what the specification does not name is refused, but
 * for properties, context and options, which it leaves free.
 */
import { type Static, type TSchema, Type } from 'typebox';
import { limits } from '../core/limits.ts';

const free = (description: string) => Type.Record(Type.String({ maxLength: 256 }), Type.Unknown(), { description });
const strict = <Fields extends Record<string, TSchema>>(fields: Fields, description?: string) =>
  Type.Object(fields, { additionalProperties: false, ...(description ? { description } : {}) });

const type = Type.String({ minLength: 1, maxLength: 256 });
const id = Type.String({ minLength: 1, maxLength: 1024 });
const properties = Type.Optional(free('Attributes: members of the policy’s input.subject or input.resource.'));
const entity = strict({ type, id, properties });
/** Of what is searched for: its id is ignored, as the specification says. */
const searched = strict({ type, id: Type.Optional(id), properties });
const action = strict({
  name: Type.String({
    minLength: 1,
    maxLength: 1024,
    description: 'The policy {resource.type}:{name}; with a colon in it, the policy of this name.',
  }),
  properties: Type.Optional(free('context.actionProperties of the policy’s input.')),
});
const context = Type.Optional(free('As in POST /authz/{tenant}.'));

export const EvaluationRequest = strict({ subject: entity, action, resource: entity, context });
export type EvaluationRequest = Static<typeof EvaluationRequest>;

const parts = {
  subject: Type.Optional(entity),
  action: Type.Optional(action),
  resource: Type.Optional(entity),
  context,
};
export const EvaluationsRequest = strict({
  ...parts,
  evaluations: Type.Optional(
    Type.Array(strict(parts), {
      maxItems: limits.batchRequestsMax,
      description: 'What one of them leaves out it has from above.',
    }),
  ),
  options: Type.Optional(
    Type.Object({
      evaluations_semantic: Type.Optional(Type.Enum(['execute_all', 'deny_on_first_deny', 'permit_on_first_permit'])),
    }),
  ),
});
export type EvaluationsRequest = Static<typeof EvaluationsRequest>;

const decisionContext = Type.Object({
  reason: Type.Optional(Type.String()),
  obligations: Type.Optional(Type.Array(Type.String())),
  outcome: Type.Optional(free('The outcome, when the policy made an object: that is no permission.')),
});
export const EvaluationResponse = Type.Object({
  decision: Type.Boolean({ description: 'true only when the policy says allow.' }),
  context: Type.Optional(decisionContext),
});
export type EvaluationResponse = Static<typeof EvaluationResponse>;
export const EvaluationsResponse = Type.Union([
  Type.Object({ evaluations: Type.Array(EvaluationResponse) }),
  EvaluationResponse,
]);

const page = Type.Optional(
  strict({
    token: Type.Optional(Type.String({ maxLength: limits.searchTokenCharsMax })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, description: `At most so many results; never more than ${limits.pageItemsMax}.` }),
    ),
    properties: Type.Optional(free('Ignored.')),
  }),
);
export type Page = Static<typeof page>;
export const SubjectSearchRequest = strict({ subject: searched, action, resource: entity, context, page });
export const ResourceSearchRequest = strict({ subject: entity, action, resource: searched, context, page });
export const ActionSearchRequest = strict({ subject: entity, resource: entity, context, page });

const responsePage = Type.Object({
  next_token: Type.String({ description: 'Empty on the last page. A page before it may have few results, or none.' }),
  count: Type.Integer(),
});
export const EntitySearchResponse = Type.Object({
  page: responsePage,
  results: Type.Array(Type.Object({ type: Type.String(), id: Type.String() })),
});
export const ActionSearchResponse = Type.Object({
  page: responsePage,
  results: Type.Array(Type.Object({ name: Type.String() })),
});

export const Metadata = Type.Object({
  policy_decision_point: Type.String(),
  access_evaluation_endpoint: Type.String(),
  access_evaluations_endpoint: Type.String(),
  search_subject_endpoint: Type.String(),
  search_resource_endpoint: Type.String(),
  search_action_endpoint: Type.String(),
});
export type Metadata = Static<typeof Metadata>;
