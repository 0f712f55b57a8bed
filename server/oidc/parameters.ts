/** How long the parameters of a request may be. What the library does not know it ignores, and so does this. */
import { limits } from '../core/limits.ts';

const { oidcParametersMax, oidcParameterCharsMax, oidcLongParameterCharsMax, authorizationRequestCharsMax } = limits;

/** What is kept of an authorization request: for a minute when it is pushed, and for an hour while somebody logs in. */
const kept = [
  ...['acr_values', 'audience', 'claims', 'claims_locales', 'client_id', 'code_challenge', 'code_challenge_method'],
  ...[
    'display',
    'dpop_jkt',
    'id_token_hint',
    'login_hint',
    'max_age',
    'nonce',
    'prompt',
    'redirect_uri',
    'registration',
  ],
  ...['request', 'request_uri', 'resource', 'response_mode', 'response_type', 'scope', 'state', 'ui_locales'],
];
const others = [
  ...[
    'client_assertion',
    'client_assertion_type',
    'client_secret',
    'code',
    'code_verifier',
    'device_code',
    'grant_type',
  ],
  ...['logout_hint', 'post_logout_redirect_uri', 'refresh_token', 'token', 'token_type_hint', 'user_code'],
];
/** JWTs, and what has a structure. */
const long = new Set(['claims', 'client_assertion', 'id_token_hint', 'request', 'token']);

const isKept = new Set(kept);
const most = new Map(
  [...kept, ...others].map((name) => [name, long.has(name) ? oidcLongParameterCharsMax : oidcParameterCharsMax]),
);

/**
 * @param text a query or a form
 * @param isAuthorization of a request of which the parameters are kept
 * @returns which parameter is too long, or that there are too many, for `error_description`
 */
export function tooLong(text: string, isAuthorization: boolean): string | undefined {
  // Decoded it is no longer.
  if (text.length <= oidcParameterCharsMax) return undefined;
  if (text.split('&', oidcParametersMax + 1).length > oidcParametersMax)
    return `there must be at most ${oidcParametersMax} parameters`;
  let sum = 0;
  for (const [name, { length }] of new URLSearchParams(text)) {
    const max = most.get(name);
    if (max !== undefined && length > max) return `${name} must have at most ${max} characters`;
    if (isKept.has(name)) sum += length;
  }
  if (!isAuthorization || sum <= authorizationRequestCharsMax) return undefined;
  return `the parameters must have at most ${authorizationRequestCharsMax} characters together`;
}
