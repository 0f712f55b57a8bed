/**
 * RelationshipType: which relationships there are between entities of two types, how many of them, whether they are shared by
 * invitation, and through which others they hold.
 */
import Type, { type Static } from 'typebox';
import { bounds } from './bounds.ts';
import { DisplayNames, displayNamesKey, ownershipFields, strictObject, TenantRef, TypeName, text } from './fields.ts';
import { column, columns, type Kind, Status } from './kind.ts';
import { patterns } from './patterns.ts';
import { fetchableUrl, immutable, type Rule, rule } from './rule.ts';

const Invitation = strictObject(
  {
    enabled: Type.Boolean({ default: true, description: 'Whether the relationship is shared by invitation.' }),
    ttl: text(
      patterns.invitationTtl,
      bounds.durationCharsMax,
      'How long an invitation can be accepted: an ISO 8601 duration of one unit, at most P30D.',
      { default: 'P7D' },
    ),
    binding: Type.Enum(['none', 'contact'], {
      default: 'none',
      description:
        'Who may accept an invitation. none: whoever has its requestToken. contact: of those, only a user whose access token has the invited mail address as a verified one (contactClaims of its issuer). An invitation that was made with contact stays bound when this becomes none.',
    }),
    maxUses: Type.Integer({
      minimum: 1,
      maximum: bounds.invitationUsesMax,
      default: 1,
      description: 'How many actors may accept one invitation.',
    }),
    template: Type.Optional(
      text(
        patterns.policyName,
        bounds.labelCharsMax,
        'Name of the mail template. Defaults to relationship-invitation. It has no effect yet: mails use the built-in template.',
      ),
    ),
    redirectUris: Type.Optional(
      Type.Array(text(patterns.visible, bounds.urlCharsMax, 'One address, compared exactly.'), {
        maxItems: bounds.redirectUrisMax,
        uniqueItems: true,
        description: 'Addresses that an accepted invitation may redirect to.',
      }),
    ),
  },
  { description: 'How the relationship is shared by invitation. If absent, it is not.' },
);

const TypeKey = (description: string) =>
  text(patterns.relationshipTypeKey, bounds.relationshipTypeKeyCharsMax, description);

const Inheritance = strictObject(
  {
    relationship: TypeKey(
      'The first step, From:relationship:Middle, from the type of this relationship to an intermediate type.',
    ),
    from: TypeKey(
      'The second step, Middle:relationship:To, from the intermediate type to the other end of this relationship.',
    ),
  },
  { description: 'A pair of relationships through which this relationship also holds.' },
);

export const RelationshipTypeSpec = strictObject(
  {
    tenantRef: TenantRef,
    from: TypeName('Type of the actors or resources that have the relationship. Immutable.'),
    name: TypeName('Name of the relationship, such as is_owner_of. Immutable.'),
    to: TypeName('Type of the other end of the relationship. Immutable.'),
    displayNames: DisplayNames,
    inverse: Type.Optional(TypeName('Display name of the relationship as seen from the other end.')),
    maxPerTarget: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: bounds.maxPerTargetMax,
        description: 'Maximum number of such relationships to one target at a time.',
      }),
    ),
    invitation: Type.Optional(Invitation),
    inheritedThrough: Type.Optional(
      Type.Array(Inheritance, {
        maxItems: bounds.inheritancesMax,
        description:
          'Pairs of relationship types through which this relationship also holds: user:drives:car through user:member_of:group and group:owns:car. Types may be inherited through inherited ones, and through themselves, to any depth; a decision that meets more than 4,000 stored relationships, or more than 10,000 ways in which two make a third, is a deny, graph_too_large.',
      }),
    ),
    ...ownershipFields,
  },
  { description: 'The desired state of the relationship type.' },
);
export type RelationshipTypeSpec = Static<typeof RelationshipTypeSpec>;

type Steps = { from: string; to: string; inheritedThrough?: { relationship: string; from: string }[] };

const rules: readonly Rule[] = [
  immutable('/spec/tenantRef/name', 'must not change: delete the relationship type and make it in the other tenant'),
  ...(['from', 'name', 'to'] as const).map((field) =>
    immutable(`/spec/${field}`, `must not change: delete the relationship type and make one with the other ${field}`),
  ),
  rule<Steps>({
    at: '/spec',
    field: '/inheritedThrough',
    cel: "!has(self.inheritedThrough) || self.inheritedThrough.all(i, i.relationship.startsWith(self.from + ':') && i.from.endsWith(':' + self.to) && i.relationship.split(':')[2] == i.from.split(':')[0])",
    message:
      "must lead from this type's from to its to: relationship is From:name:Middle, from is Middle:name:To, with one type in the middle",
    check: (self) =>
      (self.inheritedThrough ?? []).every(
        ({ relationship, from }) =>
          relationship.startsWith(`${self.from}:`) &&
          from.endsWith(`:${self.to}`) &&
          relationship.split(':')[2] === from.split(':')[0],
      ),
  }),
  fetchableUrl('/spec/invitation/redirectUris/*', 'withQuery'),
];

export const relationshipType = {
  kind: 'RelationshipType',
  plural: 'relationshiptypes',
  singular: 'relationshiptype',
  shortNames: ['arel'],
  scope: 'Namespaced',
  description: 'A kind of relationship between entities of two types, such as user:is_owner_of:car.',
  specSchema: RelationshipTypeSpec,
  statusSchema: Status,
  printerColumns: columns({
    tenant: true,
    own: [
      column('From', '.spec.from', 'Type of the actor that has the relationship.'),
      column('Relationship', '.spec.name', 'Name of the relationship.'),
      column('To', '.spec.to', 'Type that the relationship leads to.'),
    ],
  }),
  rules,
  notes: ({ invitation }: RelationshipTypeSpec) =>
    invitation?.template === undefined
      ? []
      : ['spec.invitation.template has no effect yet: mails use the built-in template.'],
  listKeys: [displayNamesKey, { at: '/spec/inheritedThrough', fields: ['relationship', 'from'] }],
} as const satisfies Kind;
