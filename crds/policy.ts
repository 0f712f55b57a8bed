/** Policy: a named rule set of a tenant, as Rego text or as a drawn graph, with the tests that it must pass. */
import Type, { type Static } from 'typebox';
import { bounds } from './bounds.ts';
import { DataSubjects } from './data-subjects.ts';
import { freeObject, ownershipFields, strictObject, TenantRef, text } from './fields.ts';
import { GraphSchema } from './graph.ts';
import { column, columns, type Kind, Status } from './kind.ts';
import { patterns } from './patterns.ts';
import { immutable, type Rule, rule } from './rule.ts';

const Expectation = Type.Object(
  {
    outcome: Type.Optional(
      Type.Unsafe<string | Record<string, unknown>>({
        description: 'The outcome: allow, deny, or the object that the policy returns.',
      }),
    ),
    reason: Type.Optional(Type.String({ maxLength: bounds.reasonCharsMax, description: 'The reason.' })),
    obligations: Type.Optional(
      Type.Array(Type.String({ maxLength: bounds.obligationCharsMax, description: 'One obligation.' }), {
        maxItems: bounds.obligationsMax,
        description: 'The obligations, in any order.',
      }),
    ),
  },
  {
    additionalProperties: false,
    minProperties: 1,
    description: 'What the policy must answer; only what is named here is compared.',
  },
);

const PolicyTest = strictObject(
  {
    name: text(patterns.oneLine, bounds.testNameCharsMax, 'What the test shows; unique in the policy.'),
    input: freeObject({
      maxProperties: bounds.testInputFieldsMax,
      description:
        'The input of the policy: subject, action, resource, context, graph, consents, dataSubjects and so on.',
    }),
    expect: Expectation,
  },
  { description: 'One input and the expected answer.' },
);

export const PolicyTests = Type.Array(PolicyTest, {
  maxItems: bounds.policyTestsMax,
  description: 'Tests that run before the policy is activated; when one fails, the policy that was active stays.',
});

export const PolicySpec = strictObject(
  {
    tenantRef: TenantRef,
    name: text(
      patterns.policyName,
      bounds.policyNameCharsMax,
      'Name of the policy, by convention targetType:action, such as document:read. It is the action of an authorization request. Immutable.',
    ),
    rego: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: bounds.regoSourceBytesMax,
        description:
          'The policy in Rego (v1 or the older v0 syntax), at most 64 KiB. When graph is there too, graph applies.',
      }),
    ),
    graph: Type.Optional(GraphSchema),
    dataSubjects: Type.Optional(DataSubjects),
    tests: Type.Optional(PolicyTests),
    ...ownershipFields,
  },
  { description: 'The desired state of the policy.' },
);
export type PolicySpec = Static<typeof PolicySpec>;

const rules: readonly Rule[] = [
  immutable('/spec/tenantRef/name', 'must not change: delete the policy and make it in the other tenant'),
  immutable('/spec/name', 'must not change: delete the policy and make one with the other name'),
  rule<string>({
    at: '/spec/name',
    cel: "self != '.' && self != '..'",
    message: 'must not be . or .., which no path can hold',
    check: (self) => self !== '.' && self !== '..',
  }),
  rule<{ rego?: string; graph?: object }>({
    at: '/spec',
    cel: 'has(self.rego) || has(self.graph)',
    message: 'must have rego or graph',
    check: (self) => self.rego !== undefined || self.graph !== undefined,
  }),
  rule<string>({
    at: '/spec/rego',
    // maxLength counts characters; 64 KiB are bytes of UTF-8.
    cel: `size(bytes(self)) <= ${bounds.regoSourceBytesMax}`,
    message: `must have at most ${bounds.regoSourceBytesMax} bytes`,
    check: (self) => Buffer.byteLength(self) <= bounds.regoSourceBytesMax,
  }),
];

export const policy = {
  kind: 'Policy',
  plural: 'policies',
  singular: 'policy',
  shortNames: ['apol'],
  scope: 'Namespaced',
  description: 'A named rule set of a tenant, which decides authorization requests for the action of its name.',
  specSchema: PolicySpec,
  statusSchema: Status,
  printerColumns: columns({
    tenant: true,
    own: [column('Policy', '.spec.name', 'Name of the policy: the action of an authorization request.')],
  }),
  rules,
  listKeys: [{ at: '/spec/tests', fields: ['name'] }],
} as const satisfies Kind;
