import { defineProblems } from '../core/problems.ts';

export const clientProblem = defineProblems({
  client_not_found: { status: 404, title: 'Client not found', when: 'The tenant has no client with this id.' },
  client_audience_unknown: {
    status: 400,
    title: "Not one of the tenant's audiences",
    when: "The audiences of a client must be a subset of the tenant's audiences.",
  },
  client_id_is_audience: {
    status: 409,
    title: 'Client id is an audience',
    when: "A client id cannot equal one of the tenant's audiences: an ID token for the client would look like a token for the audience.",
    refusal: { reason: 'DuplicateName', dependsOnOthers: true },
  },
  client_key_invalid: {
    status: 400,
    title: 'Invalid client key',
    when: 'A key of a client is not a valid public key: P-256, or RSA with 2,048 to 8,192 bits.',
    refusal: { reason: 'Invalid' },
  },
  client_quota_reached: {
    status: 409,
    title: 'Too many clients',
    when: 'The tenant has the maximum number of clients.',
  },
  client_secret_not_found: {
    status: 404,
    title: 'Secret not found',
    when: 'The client has no secret with this id, or the secret has expired.',
  },
  client_has_no_secrets: {
    status: 409,
    title: 'Client without secrets',
    when: 'Only clients that authenticate with client_secret_basic or client_secret_post have secrets.',
  },
  client_secret_weak: {
    status: 400,
    title: 'Unsuitable client secret',
    when: 'A secret in a Secret that a manifest names has 32 to 256 of A-Z, a-z, 0-9, hyphen, dot, underscore and tilde.',
  },
  client_secrets_full: {
    status: 409,
    title: 'Too many secrets',
    when: 'A client has at most two secrets at once. Delete the older one before another is generated.',
  },
});
