/**
 * Who somebody is who comes from another issuer, pure. (issuer, subject) and nothing else is an identity. An equal address never links:
 * whoever says to have it at the other issuer logs in to the account here first.
 */

export type UpstreamClaims = {
  /** The `iss` of the verified ID token. */
  issuer: string;
  /** Its `sub`. */
  subject: string;
  /** As addresses are compared. */
  email?: string | undefined;
  emailVerified: boolean;
};

type Known = {
  /** The tenant trusts the issuer now, and it is one to log in by. */
  isEnabled: boolean;
  /** The account that (issuer, subject) is linked to. */
  linked: string | undefined;
  /** The account that has the address. */
  sameAddress: string | undefined;
  /** The person may sign up: by an invitation to this address, or because everybody may. */
  maySignUp: boolean;
};

export type UpstreamDecision =
  | { logIn: string }
  | { create: true }
  /** Log in to this account; then they can be linked. */
  | { prove: string }
  | { refuse: 'issuer_disabled' | 'email_unverified' | 'sign_up_closed' };

export function decideUpstream(claims: UpstreamClaims, known: Known): UpstreamDecision {
  if (!known.isEnabled) return { refuse: 'issuer_disabled' };
  if (known.linked !== undefined) return { logIn: known.linked };
  // Before the address is looked for: an issuer that verifies nothing must not tell which addresses have accounts.
  if (claims.email === undefined || !claims.emailVerified) return { refuse: 'email_unverified' };
  if (known.sameAddress !== undefined) return { prove: known.sameAddress };
  return known.maySignUp ? { create: true } : { refuse: 'sign_up_closed' };
}
