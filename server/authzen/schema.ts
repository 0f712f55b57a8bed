/**
 * Shapes of AuthZEN 1.0 (sections 5 to 8). Unlike all other bodies they may have members that the specification does not
 * name: a receiver must ignore them (section 10.1.1), so rules.ts picks what is named here, and nothing else goes on.
 */
import { type Static, type TSchema, Type } from 'typebox';
import { limits } from '../core/limits.ts';

const free = (description: string) => Type.Record(Type.String({ maxLength: 256 }), Type.Unknown(), { description });
/** Documented, and checked later: where one of many is wrong, the others are answered. */
const unchecked = (schema: TSchema) => Type.Optional(Type.Union([schema, Type.Unknown()]));

const type = Type.String({ minLength: 1, maxLength: 256 });
const id = Type.String({ minLength: 1, maxLength: 1024 });
const properties = Type.Optional(
  free('Attributes. The policy reads them as members of input.subject or input.resource.'),
);
const entity = Type.Object({ type, id, properties });
/** Of what is searched for: its id is ignored, as the specification says. */
const searched = Type.Object({ type, properties });
const action = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: 1024,
    description:
      'Selects the policy {resource.type}:{name}. A name that contains a colon is the full name of the policy.',
  }),
  properties: Type.Optional(free('The policy reads them as input.context.actionProperties.')),
});
const context = Type.Optional(free('As in POST /authz/{tenant}.'));

export const EvaluationRequest = Type.Object({ subject: entity, action, resource: entity, context });
export type EvaluationRequest = Static<typeof EvaluationRequest>;

const parts = {
  subject: unchecked(entity),
  action: unchecked(action),
  resource: unchecked(entity),
  context: unchecked(free('As in POST /authz/{tenant}.')),
};
export const EvaluationsRequest = Type.Object({
  ...parts,
  evaluations: Type.Optional(
    Type.Array(Type.Union([Type.Object(parts), Type.Unknown()]), {
      maxItems: limits.batchRequestsMax,
      description:
        'Members that an evaluation omits are taken from the request. An invalid evaluation is denied at its position.',
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
  outcome: Type.Optional(free('The outcome, if it is an object. An object does not permit the request.')),
  error: Type.Optional(
    Type.Object(
      { status: Type.Integer(), message: Type.String() },
      { description: 'For one of several evaluations: why it could not be evaluated.' },
    ),
  ),
});
export const EvaluationResponse = Type.Object({
  decision: Type.Boolean({ description: 'true only if the outcome of the policy is allow.' }),
  context: Type.Optional(decisionContext),
});
export type EvaluationResponse = Static<typeof EvaluationResponse>;
export const EvaluationsResponse = Type.Union([
  Type.Object({ evaluations: Type.Array(EvaluationResponse) }),
  EvaluationResponse,
]);

const page = Type.Optional(
  Type.Object({
    token: Type.Optional(Type.String({ maxLength: limits.searchTokenCharsMax })),
    limit: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: `Maximum number of results, up to ${limits.pageItemsMax}. With 0, next_token tells whether there are any.`,
      }),
    ),
  }),
);
export type Page = Static<typeof page>;
export const SubjectSearchRequest = Type.Object({ subject: searched, action, resource: entity, context, page });
export const ResourceSearchRequest = Type.Object({ subject: entity, action, resource: searched, context, page });
export const ActionSearchRequest = Type.Object({ subject: entity, resource: entity, context, page });

const responsePage = Type.Object({
  next_token: Type.String({
    description: 'Empty on the last page. Earlier pages may have fewer results than the limit, or none.',
  }),
  count: Type.Integer(),
});
const searchContext = Type.Optional(
  Type.Object(
    {
      undecided: Type.Array(
        Type.Object({
          reason: Type.String({ description: 'As of a decision.' }),
          count: Type.Optional(
            Type.Integer({ description: 'How many. Absent for end users, who may not know of them.' }),
          ),
        }),
      ),
    },
    {
      description:
        'There where candidates of this page were not decided, because a bound was reached or an evaluation failed: they are not among the results, and might be allowed. By reason.',
    },
  ),
);
export const EntitySearchResponse = Type.Object({
  page: responsePage,
  context: searchContext,
  results: Type.Array(Type.Object({ type: Type.String(), id: Type.String() })),
});
export const ActionSearchResponse = Type.Object({
  page: responsePage,
  context: searchContext,
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
