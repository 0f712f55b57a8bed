/** Every page, with data as it may come, also long and hostile. */
import {
  consentPage,
  errorPage,
  loggedOutPage,
  logInPage,
  logoutConfirmPage,
  redirectPage,
  signUpPage,
} from '../../server/pages/index.ts';
import { client, contextOf, form, type Sample } from './sample-context.ts';
import { accountSamples } from './samples-account.ts';
import { portalSamples } from './samples-portal.ts';

const long = 'Coöperatieve Vereniging Autodelen Zuidoost-Nederland en Omstreken U.A.';

export const samples: Readonly<Record<string, Sample>> = {
  'log-in': (language) =>
    logInPage(contextOf(language), {
      ...form,
      clientName: client,
      signUpUrl: '/sign-up',
      resetUrl: '/reset',
      passkeyUrl: '/passkey',
      upstreams: [{ id: 'acme', name: 'Acme Works' }],
      upstreamAction: '/upstream',
      cancelAction: '/cancel',
    }),
  'log-in-wrong': (language) =>
    logInPage(contextOf(language), {
      ...form,
      email: '"><script>alert(1)</script>@a.test',
      problem: 'credentials',
      retryAfterSeconds: 61,
      signUpUrl: '/sign-up',
      resetUrl: '/reset',
    }),
  'log-in-empty': (language) =>
    logInPage(
      { ...contextOf(language), brand: { name: long, colour: '#ffd400', background: '#7a1f5c' } },
      { ...form, errors: { email: 'email_required', password: 'password_required' } },
    ),
  'log-in-again': (language) =>
    logInPage(contextOf(language), { ...form, email: 'alice@example.com', emailFixed: true, notice: 'again' }),
  'sign-up': (language) => signUpPage(contextOf(language), { ...form, passwordCharsMin: 10, logInUrl: '/log-in' }),
  'sign-up-wrong': (language) =>
    signUpPage(contextOf(language), {
      ...form,
      email: 'alice@example.com',
      emailFixed: true,
      displayName: 'Alice',
      passwordCharsMin: 10,
      errors: { password: 'password_too_common' },
      logInUrl: '/log-in',
    }),
  consent: (language) =>
    consentPage(contextOf(language), {
      ...form,
      clientName: 'Trip Planner',
      redirectHost: 'trips.example.org',
      account: { displayName: 'Alice Jansen', email: 'alice@example.com' },
      scopes: [
        { name: 'openid' },
        { name: 'profile' },
        { name: 'email' },
        { name: 'trips:read', description: 'See the trips that you booked' },
        { name: 'relationships' },
        { name: 'fleet:write' },
        { name: 'offline_access' },
      ],
    }),
  'log-out': (language) =>
    logoutConfirmPage(contextOf(language), { action: '/end', fields: { xsrf: 'x' }, clientName: client }),
  'logged-out': (language) =>
    loggedOutPage(contextOf(language), {
      logInUrl: '/log-in',
      client: { name: client, url: 'https://carshare.example/' },
    }),
  error: (language) =>
    errorPage(contextOf(language), {
      kind: 'invalid_request',
      code: 'invalid_redirect_uri',
      description: "redirect_uri did not match any of the client's registered redirect_uris",
      requestId: 'b0Qx8-1f',
      back: { name: client, url: 'https://carshare.example/' },
    }),
  'error-expired': (language) => errorPage(contextOf(language), { kind: 'expired' }),
  redirect: (language) => {
    const { headers, body } = redirectPage(contextOf(language), 'https://carshare.example/callback?code=1&state=x');
    const { refresh: _, ...still } = headers;
    return { headers: still, body };
  },
  ...accountSamples,
  ...portalSamples,
};
