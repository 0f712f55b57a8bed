/** What the overview reads. */
export type Series = { at: string }[];
export type Attention = {
  kind:
    | 'manifest_failed'
    | 'deletion_held'
    | 'subscription_disabled'
    | 'key_rotation'
    | 'grace_ending'
    | 'invitations_unanswered';
  count: number;
  subject?: string;
  reason?: string;
  since?: string;
  until?: string;
  target: string;
};
export type Overview = {
  since: string;
  until: string;
  decisionLog: 'off' | 'denies' | 'sampled' | 'all';
  series?: Record<
    'decisions' | 'consents' | 'invitations' | 'relationships' | 'deliveries',
    ({ at: string } & Record<string, number | string>)[]
  >;
  deliveriesSince?: string;
  denies?: { decisions: number; since?: string; reasons: { reason: string; count: number }[] };
  attention: Attention[];
};

export type Decision = {
  at: string;
  rowId: string;
  action?: string;
  outcome?: string;
  reason?: string;
  subjectType?: string;
  subjectId?: string;
  resourceType?: string;
  resourceId?: string;
};
type Nodes<T> = { nodes: T[] };
/** The document `firsts`. */
export type Firsts = {
  allPolicies: Nodes<{ name: string }>;
  allRelationships: Nodes<unknown>;
  allInvitations: Nodes<unknown>;
  allConsents: Nodes<unknown>;
  allDecisions: Nodes<Decision>;
};

export const steps = ['policy', 'decision', 'relationship', 'invitation', 'consent'] as const;
export type Step = (typeof steps)[number];

export const doneOf = (firsts: Firsts): Record<Step, boolean> => ({
  policy: firsts.allPolicies.nodes.length > 0,
  decision: firsts.allDecisions.nodes.length > 0,
  relationship: firsts.allRelationships.nodes.length > 0,
  invitation: firsts.allInvitations.nodes.length > 0,
  consent: firsts.allConsents.nodes.length > 0,
});

/** Nothing happened yet: at the most there is a policy. */
export const isEmpty = (done: Record<Step, boolean>) => steps.every((step) => step === 'policy' || !done[step]);

/**
 * A tenant that decides needs no first steps, also when it never has an invitation or a consent. Where the log does not record all
 * decisions, what policies read tells that it is in use.
 */
export const isInUse = (done: Record<Step, boolean>, decisionLog: Overview['decisionLog']) =>
  done.policy && (done.decision || (decisionLog !== 'all' && !isEmpty(done)));
