import { plural } from '../../core/texts.ts';

type Need = { count: number; subject: string; reason: string; until: string };
const people = (count: number) => plural('en', count, { one: '# person', other: '# people' });

export const en = {
  title: 'Overview',
  about: 'What happens in this tenant now, and what needs somebody.',

  whatTitle: 'What Accord answers',
  what: 'Accord answers one question of your applications: may this subject do this to that resource now? Policies decide. They look at who shares what with whom, and at what users have agreed to.',
  decides: 'This tenant decides on:',
  allPolicies: 'All policies',
  asked: (subject: string, action: string, resource: string) =>
    `May ${subject === '' ? 'somebody' : subject} do ${action}${resource === '' ? '' : ` on ${resource}`}?`,
  why: 'See why',
  tryIt: (policy: string) => `Ask ${policy} a question, and see why it answers so`,

  attention: 'What needs somebody',
  nothing: 'Nothing needs anybody now.',
  nothingConfigured: 'Nothing in the configuration needs anybody now.',
  noRecords: 'Your role shows the configuration. What users do is shown to other roles.',
  needs: {
    manifest_failed: ({ subject, reason }: Need) =>
      `Mend ${subject}: it was not accepted${reason}. What was accepted before stays in effect.`,
    deletion_held: ({ subject, reason }: Need) =>
      `Decide on ${subject}: it is to be deleted, and that is held${reason}.`,
    subscription_disabled: ({ subject, reason }: Need) =>
      `Enable the subscription ${subject} again: its endpoint failed${reason}. Its events are kept.`,
    key_rotation: ({ subject, until }: Need) => `Expect a new key (${subject}): it signs ${until}.`,
    grace_ending: ({ count, subject, until }: Need) =>
      `Remind ${people(count)}: the grace for ${subject} ends, for the first of them ${until}.`,
    invitations_unanswered: ({ count, until }: Need) =>
      `Remind who was invited: ${plural('en', count, { one: '# invitation is', other: '# invitations are' })} unanswered for three days or more. The first ends ${until}.`,
  },

  lastDay: 'The last 24 hours',
  decisions: 'Decisions',
  outcomes: { allow: 'allow', deny: 'deny', other: 'other' },
  decisionLogs: {
    off: 'The decision log is off: decisions are answered, and none is counted or can be explained later. The Tenant’s decisionLog turns it on.',
    denies: 'The decision log keeps denials only: what was allowed is not counted.',
    sampled: 'The decision log keeps a sample.',
    all: '',
  },
  sharing: 'Sharing',
  invited: { created: 'invited', accepted: 'accepted' },
  related: { created: 'related', ended: 'ended' },
  consents: 'Consents',
  agreed: { registered: 'agreed', revoked: 'taken back', refused: 'refused' },
  deliveries: 'Deliveries of events',
  delivered: { delivered: 'delivered', failed: 'failed' },
  countedSince: 'There are many: counted since',
  denies: 'Denied, by reason',
  reason: 'Reason',
  noReason: 'the policy gave no reason',
  count: 'Decisions',

  begin: 'Five steps',
  beginAbout: (done: number) => `${done} of 5 done. Each ticks itself off when it has happened.`,
  done: (title: string) => `Done: ${title}`,
  command: 'By a command',
  steps: {
    policy: {
      title: 'Write the first policy',
      about: 'It says who may do what, in Rego or as a drawing.',
      page: 'Write it here',
    },
    decision: {
      title: 'Ask for the first decision',
      about: 'A back end asks with a token that has the scope authz:evaluate. A test in the editor does not count.',
      page: '',
    },
    relationship: {
      title: 'Make the first relationship',
      about: 'Such as: alice reads document 1. Policies read them. Its types come first, in Model.',
      page: 'Make it here',
    },
    invitation: {
      title: 'Send the first invitation',
      about: 'Users share what they have by invitation. Whoever accepts gets the relationship.',
      page: '',
    },
    consent: {
      title: 'Register the first consent',
      about: 'Define what users are asked to agree to. What they answer is kept in a ledger that shows each change.',
      page: 'Define it here',
    },
  },
};
export type Texts = typeof en;
