import { defineProblems } from '../core/problems.ts';

export const issuerProblem = defineProblems({
  issuer_not_found: {
    status: 404,
    title: 'Trusted issuer not found',
    when: 'The tenant trusts no issuer of this name.',
  },
  issuer_is_ours: {
    status: 400,
    title: 'Issuer of this installation',
    when: "The portal's issuer, a tenant's own issuer and anything else at this installation's address cannot be a trusted issuer.",
  },
  issuer_audience_unknown: {
    status: 400,
    title: "Not one of the tenant's audiences",
    when: "An issuer's audiences may narrow the tenant's list. They never widen it.",
  },
  issuer_mixes_actors: {
    status: 400,
    title: 'Issuer mixes actors',
    when: "Another issuer's users of the same id are somebody else: one issuer may do without actorIdPrefix, each further one needs its own actorIdPrefix or sharesActors: true.",
  },
  issuer_duplicate: {
    status: 409,
    title: 'Issuer trusted already',
    when: 'The tenant trusts this issuer under another name.',
  },
  issuer_too_many: { status: 409, title: 'Too many issuers', when: 'The tenant trusts as many issuers as it may.' },
});
