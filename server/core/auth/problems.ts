/** Problems of authentication that are not simply "unauthenticated". */
import { limits } from '../limits.ts';
import { defineProblems, Problem, problem } from '../problems.ts';

export const authProblem = defineProblems({
  issuer_unavailable: {
    status: 503,
    title: 'Issuer unavailable',
    when: "The keys of the token's issuer are currently unavailable, so the token cannot be verified.",
    retryAfterSeconds: Math.ceil(limits.jwksRetryMs / 1000),
  },
  insufficient_scope: {
    status: 403,
    title: 'Insufficient scope',
    when: 'The access token does not have the required scope.',
  },
});

/** No usable credentials at all: RFC 6750 section 3.1 wants no error code then. */
export function missingToken(detail?: string): Problem {
  return problem('unauthenticated', {
    ...(detail === undefined ? {} : { detail }),
    headers: { 'www-authenticate': 'Bearer' },
  });
}

/**
 * A token that is refused (RFC 6750 section 3).
 * @param why plain ASCII without quotes or backslashes; says what is wrong with the token, never what a right one holds
 */
export function invalidToken(why: string): Problem {
  const headers = { 'www-authenticate': `Bearer error="invalid_token", error_description="${why}"` };
  return problem('unauthenticated', { detail: `The access token was refused: ${why}.`, headers });
}

/** A back end whose token lacks a scope (RFC 6750 section 3.1). */
export function insufficientScope(scope: string): Problem {
  const headers = { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` };
  return authProblem('insufficient_scope', { detail: `This request requires the scope ${scope}.`, headers });
}

/** The algorithms of proofs. */
const ALGS = 'algs="ES256"';

/** What refuses a token, to whoever presented it by the scheme DPoP: the challenge is of that scheme (RFC 9449 section 7.1). */
export function underDpop(refused: Problem): Problem {
  const [, parameters] = /^Bearer (.+)$/.exec(refused.headers['www-authenticate'] ?? '') ?? [];
  if (parameters === undefined) return refused;
  const { code, status, title, message, errors, cause } = refused;
  const headers = { ...refused.headers, 'www-authenticate': `DPoP ${parameters}, ${ALGS}` };
  const details = { detail: message, headers, cause, ...(errors === undefined ? {} : { errors }) };
  return new Problem(code, { status, title, when: message }, details);
}

/** A proof of possession that is refused (RFC 9449 section 7.1). @param why as of invalidToken */
export function invalidProof(why: string): Problem {
  const headers = {
    'www-authenticate': `DPoP error="invalid_dpop_proof", error_description="${why}", ${ALGS}`,
  };
  return problem('unauthenticated', { detail: `The DPoP proof was refused: ${why}.`, headers });
}
