/** Answers of the server, as it gave them, for the gallery and the tests of what is drawn. */
import type { Answer, Explanation } from './schema.ts';

type Sample = { name: string; answer: Answer; explain: Explanation };
const subject = { type: 'user', id: 'alice' };
const resource = { type: 'record', id: 'rec-pat' };
const input = { subject, action: { name: 'records-read' }, resource };

const masked = (type: string) => ({ type, id: '***' });

const missingLink = {
  relationship: { relationshipType: 'is_owner_of', from: subject, to: resource },
  text: 'user:alice is_owner_of record:rec-pat',
};
const missingConsent = {
  consent: { name: 'research', subject, status: 'required' },
  text: 'user:alice agrees to research (status now: required)',
};

export const samples: readonly Sample[] = [
  {
    name: 'allow',
    answer: { outcome: 'allow', reason: 'owner', obligations: { audit: true } },
    explain: {
      policy: 'records-read',
      revision: 3,
      input,
      facts: {
        graph: {
          subject: [
            { relationshipType: 'is_owner_of', to: resource },
            { relationshipType: 'lives_in', to: { type: 'household', id: 'h-1' } },
          ],
          resource: [{ relationshipType: 'is_owner_of', from: subject }],
        },
        inherited: [
          {
            relationship: { from: subject, relationshipType: 'is_owner_of', to: resource },
            through: [
              { from: subject, relationshipType: 'lives_in', to: { type: 'household', id: 'h-1' } },
              { from: { type: 'household', id: 'h-1' }, relationshipType: 'keeps', to: resource },
            ],
          },
        ],
        consents: [{ name: 'research', version: '2', status: 'grace', sufficient: true }],
      },
      rules: [{ line: 5, text: 'outcome := "allow" if {' }],
      timeUs: 812,
    },
  },
  {
    name: 'deny',
    answer: { outcome: 'deny' },
    explain: {
      policy: 'records-read',
      revision: 3,
      input,
      facts: { graph: { subject: [], resource: [] }, consents: [] },
      rules: [{ line: 3, text: 'default outcome := "deny"' }],
      whyNot: {
        rules: [
          {
            line: 5,
            text: 'outcome := "allow" if {',
            condition: {
              line: 6,
              text: 'may_see',
              values: [],
              because: [
                {
                  line: 10,
                  text: 'may_see if {',
                  condition: {
                    line: 11,
                    text: 'some r in input.graph.subject',
                    values: [{ of: 'input.graph.subject', value: [] }],
                    missing: [missingLink],
                  },
                  wouldAllowIf: [missingLink, missingConsent],
                },
              ],
            },
          },
        ],
      },
      missingPaths: [
        {
          relationship: missingLink.relationship,
          through: [
            { from: subject, relationshipType: 'lives_in', to: { type: 'household', id: 'h-1' } },
            { from: { type: 'household', id: 'h-1' }, relationshipType: 'keeps', to: resource, missing: true },
          ],
        },
        {
          relationship: missingLink.relationship,
          through: [
            { from: subject, relationshipType: 'works_for', to: { type: 'clinic' }, missing: true },
            { from: { type: 'clinic' }, relationshipType: 'treats', to: resource, missing: true },
          ],
        },
      ],
      missingConsents: [{ type: 'user', id: 'alice', name: 'research', status: 'required' }],
    },
  },
  {
    name: 'drawn',
    answer: { outcome: 'allow' },
    explain: { policy: 'car-drive', revision: 1, input, rules: [], path: ['start', 'may-use', 'allowed'] },
  },
  {
    name: 'failed',
    answer: { outcome: 'deny', reason: 'policy_not_found' },
    explain: {
      policy: 'absent',
      input: {},
      rules: [],
      failure: { reason: 'policy_not_found', detail: 'There is no policy of this name.' },
    },
  },
  { name: 'masked', answer: { outcome: 'deny' }, explain: { policy: 'records-read', revision: 3, rules: [] } },
  {
    name: 'masked path',
    answer: { outcome: 'allow' },
    explain: {
      ...{ policy: 'records-read', revision: 3, rules: [{ line: 5, text: 'outcome := "allow" if {' }] },
      input: { subject: masked('user'), action: 'records-read', resource: masked('record') },
      inherited: [
        {
          relationship: { from: masked('user'), relationshipType: 'is_owner_of', to: masked('record') },
          through: [
            { from: masked('user'), relationshipType: 'lives_in', to: masked('household') },
            { from: masked('household'), relationshipType: 'keeps', to: masked('record') },
          ],
        },
      ],
    },
  },
];
