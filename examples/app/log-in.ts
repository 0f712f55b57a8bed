/** Logging in at the tenant's own issuer: authorization code and PKCE, by openid-client. */
import { AccordTokenError } from '@accord/client';
import type { FastifyInstance } from 'fastify';
import * as oidc from 'openid-client';
import type { Session, Sessions } from './sessions.ts';
import { issuerOf, type Settings } from './settings.ts';

const SCOPE = 'openid profile email';
/** Before it expires, an access token is replaced. */
const RENEW_MS = 30_000;

/** Read once, when the first person logs in, and again where that failed. */
function discovery(settings: Settings): () => Promise<oidc.Configuration> {
  let reading: Promise<oidc.Configuration> | undefined;
  // http is for trying it out on one machine.
  const options = settings.accordUrl.startsWith('http:') ? { execute: [oidc.allowInsecureRequests] } : {};
  const secret = oidc.ClientSecretBasic(settings.clientSecret);
  const read = () => oidc.discovery(new URL(issuerOf(settings)), settings.clientId, undefined, secret, options);
  return () => {
    reading ??= read().catch((error: unknown) => {
      reading = undefined;
      throw error;
    });
    return reading;
  };
}

type Tokens = Awaited<ReturnType<typeof oidc.authorizationCodeGrant>>;

/** The session at the issuer is over, or the person took the application's access away: only a log-in helps. */
export const isOver = (error: unknown) => error instanceof AccordTokenError && error.error === 'invalid_grant';

/**
 * The access token, replaced in time. A refresh token may be used once only, so requests wait for one refresh together.
 * An answer of the issuer that refuses it is an AccordTokenError, because the client asks for it, and does not ask again then.
 */
function tokenOf(config: oidc.Configuration, settings: Settings, first: Tokens): () => Promise<string> {
  let tokens: oidc.TokenEndpointResponse = first;
  let expiresAt = Date.now() + (first.expires_in ?? 0) * 1000;
  let refreshing: Promise<void> | undefined;
  const refresh = async () => {
    const parameters = { resource: settings.audience };
    const newer = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '', parameters).catch((cause) => {
      if (!(cause instanceof oidc.ResponseBodyError)) throw cause;
      const { status, error } = cause;
      throw new AccordTokenError(cause.message, { cause, status, error });
    });
    // Without another one, the refresh token goes on being good.
    tokens = { ...tokens, ...newer };
    expiresAt = Date.now() + (newer.expires_in ?? 0) * 1000;
  };
  return async () => {
    if (tokens.refresh_token !== undefined && Date.now() > expiresAt - RENEW_MS) {
      refreshing ??= refresh().finally(() => {
        refreshing = undefined;
      });
      await refreshing;
    }
    return tokens.access_token;
  };
}

function sessionOf(config: oidc.Configuration, settings: Settings, tokens: Tokens): Session {
  const { sub, name, email } = tokens.claims() as oidc.IDToken;
  return {
    sub,
    name: String(name ?? email ?? 'somebody'),
    idToken: tokens.id_token as string,
    accessToken: tokenOf(config, settings, tokens),
  };
}

/** Only to a page of this application: another address, such as //134744072, would make a log-in lead elsewhere. */
const placeOf = (value: unknown) =>
  typeof value === 'string' && /^\/(?!\/)[a-z0-9/-]*$/.test(value) ? value : '/cars';

export function registerLogIn(app: FastifyInstance, settings: Settings, { sessions, begun }: Sessions): void {
  const discovered = discovery(settings);
  const redirectUri = `${settings.url}/callback`;

  app.get<{ Querystring: { to?: string } }>('/log-in', async ({ query }, reply) => {
    const config = await discovered();
    const verifier = oidc.randomPKCECodeVerifier();
    const [state, nonce] = [oidc.randomState(), oidc.randomNonce()];
    begun.put(reply, { state, nonce, verifier, returnTo: placeOf(query.to) });
    const url = oidc.buildAuthorizationUrl(config, {
      ...{ redirect_uri: redirectUri, scope: SCOPE, resource: settings.audience, state, nonce },
      ...{ code_challenge: await oidc.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
    });
    return reply.redirect(url.href, 303);
  });

  app.get('/callback', async (request, reply) => {
    const asked = begun.get(request);
    // Nobody began a log-in in this browser, or it is an old one: it begins anew, and takes no password while the session lives.
    if (asked === undefined) return reply.redirect('/log-in', 303);
    const config = await discovered();
    const checks = { pkceCodeVerifier: asked.verifier, expectedState: asked.state, expectedNonce: asked.nonce };
    const at = new URL(request.url, settings.url);
    const tokens = await oidc.authorizationCodeGrant(config, at, { ...checks, idTokenExpected: true }).catch(() => {});
    // The person cancelled, or the answer is not of this log-in.
    if (tokens === undefined) return reply.redirect('/?log-in=failed', 303);
    sessions.end(request);
    sessions.put(reply, sessionOf(config, settings, tokens));
    return reply.redirect(asked.returnTo, 303);
  });

  app.post('/log-out', async (request, reply) => {
    const session = sessions.get(request);
    sessions.remove(request, reply);
    if (session === undefined) return reply.redirect('/', 303);
    const parameters = { id_token_hint: session.idToken, post_logout_redirect_uri: `${settings.url}/` };
    return reply.redirect(oidc.buildEndSessionUrl(await discovered(), parameters).href, 303);
  });
}
