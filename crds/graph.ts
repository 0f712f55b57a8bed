/**
 * The shape of a drawn policy. One source for the API's body check, OpenAPI and the Policy resource's structural schema,
 * therefore flat, bounded and without recursion; what a shape cannot say (which fields go with which type, cycles,
 * zones, address ranges) is in server/policies/graph/check.ts. The descriptions become the reference's text.
 */
import Type, { type Static } from 'typebox';
import { bounds } from './bounds.ts';

const strict = { additionalProperties: false };

const text = (description: string) => Type.String({ description, minLength: 1, maxLength: bounds.graphTextCharsMax });

const nodeId = (description: string) =>
  Type.String({ description, pattern: '^[A-Za-z0-9_][A-Za-z0-9_.:-]*$', maxLength: bounds.graphNodeIdCharsMax });

const instant = (description: string) => Type.String({ description, maxLength: 35 });

const path = (description: string) =>
  Type.String({ description, pattern: '^[^.]+(\\.[^.]+)*$', maxLength: bounds.graphTextCharsMax });

const timeOfDay = (description: string) =>
  Type.String({ description, pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', maxLength: 5 });

const scalarText = 'a string, a number or a boolean';

const ConditionSchema = Type.Object(
  {
    type: Type.Enum(['relationship', 'attribute', 'consent', 'invitation', 'time', 'ipRange'], {
      description:
        'What is tested. relationship: the subject has one of `relationshipType`. attribute: a value of the input. consent: the consent `name` of the subject, or of all data subjects (`whose`), is sufficient. invitation: the request carries a valid invitation for this resource. time: the instant of the request. ipRange: an address lies in one of `ranges`. A fact that is absent, null or of an unexpected type makes the condition false, never an error.',
    }),
    relationshipType: Type.Optional(
      text('relationship: the type that the subject must have. invitation: if given, the type that it must offer.'),
    ),
    target: Type.Optional(
      Type.Enum(['resource', 'entity', 'anyOfType'], {
        description:
          'relationship: to the resource of the request (the default), to the entity `targetType` and `targetId`, or to anything of `targetType`.',
      }),
    ),
    targetType: Type.Optional(text('relationship to an entity or to anyOfType: its type.')),
    targetId: Type.Optional(text('relationship to an entity: its id.')),
    path: Type.Optional(
      path(
        'attribute: the value tested, names joined by dots, such as subject.department or invitation.contactMatches; the first is subject, action, resource, context, tenant or invitation. ipRange: where the address is; defaults to context.ip.',
      ),
    ),
    operator: Type.Optional(
      Type.Enum(['eq', 'ne', 'in', 'contains', 'startsWith', 'lt', 'lte', 'gt', 'gte', 'exists'], {
        description:
          'attribute: how it is compared. Only values of one type compare: 1 and "1" are neither equal (eq) nor different (ne). in: it is one of `values`, or of the list at `valuePath`. contains: it is a list that has the value. startsWith: it is a string that begins so. lt, lte, gt, gte: numbers by size, strings by code point. exists: it is there and not null.',
      }),
    ),
    value: Type.Optional(Type.Unknown({ description: `attribute: what it is compared with: ${scalarText}.` })),
    values: Type.Optional(
      Type.Array(Type.Unknown({ description: `${scalarText}.` }), {
        description: 'attribute with operator in: the values that it may have.',
        minItems: 1,
        maxItems: bounds.graphListItemsMax,
      }),
    ),
    valuePath: Type.Optional(path('attribute: instead of `value` or `values`, where in the input it is found.')),
    name: Type.Optional(text('consent: the name of the consent definition.')),
    whose: Type.Optional(
      Type.Enum(['subject', 'dataSubjects'], {
        description:
          'consent: whose consent. subject (the default): the subject of the request. dataSubjects: all data subjects, at least one.',
      }),
    ),
    after: Type.Optional(instant('time: true from this instant on (RFC 3339, with a zone, at most milliseconds).')),
    before: Type.Optional(instant('time: true until just before this instant (RFC 3339, with a zone).')),
    fromTime: Type.Optional(timeOfDay('time: with `toTime`, the part of the day, from this minute (HH:MM) on.')),
    toTime: Type.Optional(
      timeOfDay(
        'time: until just before this minute (HH:MM). Earlier than `fromTime`, the range passes midnight and belongs to the weekday on which it begins.',
      ),
    ),
    weekdays: Type.Optional(
      Type.Array(Type.Enum(['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']), {
        description: 'time: the days of the week on which it is true.',
        minItems: 1,
        maxItems: 7,
      }),
    ),
    timezone: Type.Optional(
      Type.String({
        description: 'time: the IANA zone of `fromTime`, `toTime` and `weekdays`, such as Europe/Amsterdam.',
        minLength: 1,
        maxLength: 64,
      }),
    ),
    ranges: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 43 }), {
        description:
          'ipRange: address ranges in CIDR notation, IPv4 or IPv6, such as 192.0.2.0/24. An IPv4 address written as IPv6 (::ffff:192.0.2.1) lies in the ranges of both kinds.',
        minItems: 1,
        maxItems: bounds.graphListItemsMax,
      }),
    ),
  },
  { ...strict, description: 'A test of the input of the decision.' },
);

const NodeSchema = Type.Object(
  {
    id: nodeId('Unique in the graph; errors and explanations name the node by it.'),
    type: Type.Enum(['start', 'condition', 'outcome'], {
      description:
        'start: where a decision begins, exactly one. condition: goes on by its true or its false edge. outcome: the decision.',
    }),
    match: Type.Optional(
      Type.Enum(['all', 'any', 'none'], {
        description:
          'condition: true when all (the default), any or none of its conditions are true. A condition whose fact is absent is false, so none is true when all facts are absent.',
      }),
    ),
    conditions: Type.Optional(
      Type.Array(ConditionSchema, {
        description: 'condition: what is tested.',
        minItems: 1,
        maxItems: bounds.graphConditionsPerNodeMax,
      }),
    ),
    outcome: Type.Optional(Type.Enum(['allow', 'deny'], { description: 'outcome: the answer.' })),
    reason: Type.Optional(text('outcome: a clarification for the caller.')),
    obligations: Type.Optional(
      Type.Array(text('An obligation.'), {
        description: 'outcome: what the caller must fulfil.',
        maxItems: bounds.graphObligationsMax,
      }),
    ),
    position: Type.Optional(
      Type.Object(
        {
          x: Type.Number({ description: 'Distance from the left.', minimum: -1_000_000, maximum: 1_000_000 }),
          y: Type.Number({ description: 'Distance from the top.', minimum: -1_000_000, maximum: 1_000_000 }),
        },
        { ...strict, description: 'Where the editor draws the node; it has no meaning for decisions.' },
      ),
    ),
  },
  { ...strict, description: 'A step of the decision.' },
);

const EdgeSchema = Type.Object(
  {
    from: nodeId('The node that it leaves.'),
    to: nodeId('The node that it leads to.'),
    on: Type.Optional(
      Type.Enum(['true', 'false'], {
        description: 'Which answer of a condition node it follows; not on the edge of the start.',
      }),
    ),
  },
  { ...strict, description: 'An edge from one node to another.' },
);

export const GraphSchema = Type.Object(
  {
    nodes: Type.Array(NodeSchema, {
      description: 'The steps of the decision.',
      minItems: 1,
      maxItems: bounds.graphNodesMax,
    }),
    edges: Type.Array(EdgeSchema, {
      description: 'The edges between the nodes. An answer of a condition node without an edge denies.',
      maxItems: bounds.graphEdgesMax,
    }),
  },
  {
    ...strict,
    description:
      'A policy drawn as a decision graph: from the start along the answers of its condition nodes to one outcome. It has no cycle, and every node can be reached from the start. It is converted to Rego.',
  },
);

export type Condition = Static<typeof ConditionSchema>;
export type GraphNode = Static<typeof NodeSchema>;
export type GraphEdge = Static<typeof EdgeSchema>;
export type PolicyGraph = Static<typeof GraphSchema>;
