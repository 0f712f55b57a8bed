import { type Static, Type } from 'typebox';

const instant = Type.Optional(Type.String({ format: 'date-time' }));
const count = Type.Integer();
const at = Type.String({ format: 'date-time', description: 'The beginning of the hour.' });
const series = (...names: string[]) =>
  Type.Array(Type.Object({ at, ...Object.fromEntries(names.map((name) => [name, count])) }));

export const attentionKinds = [
  ...[
    'manifest_failed',
    'deletion_held',
    'subscription_disabled',
    'key_rotation',
    'grace_ending',
    'invitations_unanswered',
  ],
] as const;
type AttentionKind =
  | 'manifest_failed'
  | 'deletion_held'
  | 'subscription_disabled'
  | 'key_rotation'
  | 'grace_ending'
  | 'invitations_unanswered';

export const Attention = Type.Object({
  kind: Type.Unsafe<AttentionKind>(Type.Enum([...attentionKinds])),
  count: Type.Integer({ description: 'How many objects, users or invitations.' }),
  subject: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String()),
  since: instant,
  until: instant,
  target: Type.String({ description: "A path of the portal below the tenant's." }),
});
export type Attention = Static<typeof Attention>;

type Series = { at: string }[];
export type Overview = {
  since: string;
  until: string;
  stepMs: number;
  decisionLog: string;
  series?: Record<'decisions' | 'consents' | 'invitations' | 'relationships' | 'deliveries', Series>;
  deliveriesSince?: string;
  denies?: { decisions: number; since?: string; reasons: { reason: string; count: number }[] };
  attention: Attention[];
};

export const OverviewView = Type.Unsafe<Overview>(
  Type.Object({
    since: Type.String({ format: 'date-time' }),
    until: Type.String({ format: 'date-time' }),
    stepMs: count,
    decisionLog: Type.String({
      description: 'The mode of the decision log: decisions are counted where they are logged.',
    }),
    series: Type.Optional(
      Type.Object({
        decisions: series('allow', 'deny', 'other'),
        consents: series('registered', 'revoked', 'refused'),
        invitations: series('created', 'accepted', 'declined', 'revoked', 'expired'),
        relationships: series('created', 'deleted', 'expired'),
        deliveries: series('delivered', 'failed'),
      }),
    ),
    deliveriesSince: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'There are more deliveries than were looked at: those since this instant are counted.',
      }),
    ),
    denies: Type.Optional(
      Type.Object({
        decisions: Type.Integer({ description: 'How many of the newest decisions of the log were looked at.' }),
        since: instant,
        reasons: Type.Array(Type.Object({ reason: Type.String(), count })),
      }),
    ),
    attention: Type.Array(Attention),
  }),
);

const inUse = (what: string) => ({
  limit: Type.Optional(Type.Integer({ description: 'Absent: none.' })),
  used: Type.Integer({ description: what }),
});

export const LimitsView = Type.Object(
  {
    maxPolicies: Type.Object(inUse('Policies that there are.'), { description: 'A policy more is refused.' }),
    maxRelationships: Type.Object(inUse('Relationships that there are, expired ones too.'), {
      description: 'A relationship more is refused.',
    }),
    maxRequestsPerSecond: Type.Object(
      { limit: Type.Optional(Type.Integer({ description: 'Absent: none.' })) },
      { description: 'Of all callers of the tenant together, to each server.' },
    ),
    callerRequestsPerSecond: Type.Object(
      { limit: Type.Optional(Type.Integer({ description: 'Absent: none.' })) },
      { description: 'Of one caller to one server: of the installation, and alike for all tenants.' },
    ),
    managedBy: Type.String({ description: 'Who owns the Tenant, whose limits they are.' }),
  },
  {
    examples: [
      {
        maxPolicies: { limit: 200, used: 14 },
        maxRelationships: { used: 120_388 },
        maxRequestsPerSecond: { limit: 500 },
        callerRequestsPerSecond: { limit: 5000 },
        managedBy: 'kubernetes carshare',
      },
    ],
  },
);
