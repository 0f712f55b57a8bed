import { defineProblems } from '../core/problems.ts';

export const issuerProblem = defineProblems({
  issuer_not_found: {
    status: 404,
    title: 'Trusted issuer not found',
    when: 'The tenant has no trusted issuer with this name.',
  },
  issuer_is_ours: {
    status: 400,
    title: 'Issuer of this installation',
    when: "The portal's issuer, a tenant's own issuer and anything else at this installation's address cannot be a trusted issuer.",
    refusal: { reason: 'Invalid' },
  },
  issuer_audience_unknown: {
    status: 400,
    title: "Not one of the tenant's audiences",
    when: "The audiences of an issuer must be a subset of the tenant's audiences.",
  },
  issuer_mixes_actors: {
    status: 400,
    title: 'Ambiguous actors',
    when: "The same id of two issuers' users can mean two people. At most one issuer may omit actorIdPrefix; each further issuer needs its own actorIdPrefix or sharesActors: true.",
  },
  login_secret_missing: {
    status: 400,
    title: 'Secret of the log-in missing',
    when: 'The secret of login is given again when issuer or clientId changes, or null says that there is none. The stored one is never sent to another issuer, so that nobody who cannot read it can have it sent elsewhere.',
  },
  duplicate_issuer: {
    status: 409,
    title: 'Issuer already trusted',
    when: 'The tenant already trusts this issuer under another name.',
    refusal: { reason: 'DuplicateName', dependsOnOthers: true },
  },
  issuer_quota_reached: {
    status: 409,
    title: 'Too many issuers',
    when: 'The tenant has the maximum number of trusted issuers.',
  },
});
