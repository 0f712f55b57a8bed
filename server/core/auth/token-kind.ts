/**
 * What was sent where another token belongs, in words for whoever sent it. It is said by the form of the token alone, before anything is
 * verified: nobody learns from it more than what they hold. As invalidToken wants it: plain ASCII without quotes.
 */

const JWS_PARTS = 3;
const JWE_PARTS = 5;

const others: Readonly<Record<string, string>> = {
  'accord-portal+jwt': 'but a portal token, which only the Config API takes',
  'accord-invitation+jwt': 'but the requestToken of an invitation',
};

/** Why it cannot be a signed JWT; undefined: it has the parts of one. */
export function notJwt(token: string): string | undefined {
  const parts = token.split('.').length;
  if (parts === JWS_PARTS) return undefined;
  if (parts === JWE_PARTS) return 'the token is encrypted, and only signed JWTs are accepted';
  return 'the token is not a JWT, which has three parts with dots between them; opaque tokens and secrets are not accepted';
}

/** @param isOwn it names the tenant's own issuer */
export function notAccessToken(typ: unknown, isOwn: boolean): string {
  const type = typeof typ === 'string' ? typ.toLowerCase() : typ;
  const other = typeof type === 'string' && Object.hasOwn(others, type) ? others[type] : undefined;
  if (other !== undefined) return `not an access token, ${other}`;
  if (isOwn && (type === undefined || type === 'jwt'))
    return 'not an access token: an ID token is for the application that asked for it';
  return `not an access token: the header typ must be at+jwt${isOwn ? '' : ' or JWT'}`;
}
