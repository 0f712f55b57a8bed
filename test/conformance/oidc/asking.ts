/** Modules about what an application asks the authorization endpoint for. */
import * as oc from 'openid-client';
import { expect } from 'vitest';
import { passwordAcr } from '../../../server/oidc/configuration.ts';
import { createAccount, password } from '../../oidc/logging-in.ts';
import { Browser, callback } from '../../oidc/relying-party.ts';
import { email, later, type Module, type Modules, type World } from './world.ts';

/** A request with this in it is answered as one without. */
const ignores =
  (parameters: Record<string, string>): Module =>
  async ({ tokens, sub }) =>
    expect((await tokens(parameters)).claims.sub).toBe(sub);

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const unsigned = ({ client, metadata }: World, claims: object) =>
  `${encoded({ alg: 'none' })}.${encoded({ iss: client.id, aud: metadata.issuer, ...claims })}.`;

export const asking: Modules = {
  async 'oidcc-response-type-missing'({ ask, server }) {
    const { url, checks } = await ask();
    url.searchParams.delete('response_type');
    const { left } = await new Browser(server).open(url);
    expect(left?.origin).toBe(new URL(callback).origin);
    expect(left?.searchParams.get('error')).toBe('invalid_request');
    expect(left?.searchParams.get('state')).toBe(checks.expectedState);
  },

  async 'oidcc-ensure-request-without-nonce-succeeds-for-code-flow'({ ask, server, client, sub }) {
    const { url, checks } = await ask();
    url.searchParams.delete('nonce');
    const browser = new Browser(server);
    const { left } = await browser.submit(await browser.open(url), '/log-in', { email, password });
    const { expectedState } = checks as { expectedState: string };
    const tokens = await oc.authorizationCodeGrant(client.config, left as URL, {
      expectedState,
      idTokenExpected: true,
    });
    expect(tokens.claims()?.sub).toBe(sub);
    expect(tokens.claims()).not.toHaveProperty('nonce');
  },

  async 'oidcc-alternate-happy-flow'({ ask, client, server, sub }) {
    const begun = await ask({ scope: 'email openid' });
    const reversed = new URL(begun.url);
    reversed.search = new URLSearchParams([...begun.url.searchParams].reverse()).toString();
    const browser = new Browser(server);
    const { left } = await browser.submit(await browser.open(reversed), '/log-in', { email, password });
    const tokens = await begun.grant(left as URL);
    expect(await oc.fetchUserInfo(client.config, tokens.access_token, sub)).toMatchObject({ sub, email });
  },

  async 'oidcc-display-page'({ ask }) {
    const { page } = await ask({ display: 'page' });
    expect(page.status).toBe(200);
    expect(page.text).toContain('name="password"');
  },

  async 'oidcc-display-popup'({ ask }) {
    const { page } = await ask({ display: 'popup' });
    expect(page.status).toBe(200);
    expect(page.text).toContain('name="password"');
  },

  async 'oidcc-prompt-login'({ tokens, ask, sub }) {
    const first = await tokens();
    const second = await later(2000, async () => {
      const { browser, page, grant } = await ask({ prompt: 'login' }, { jar: first.jar });
      expect(page.text).toContain('name="password"');
      const { left } = await browser.submit(page, '/log-in', { email, password });
      return (await grant(left)).claims();
    });
    expect(second?.sub).toBe(sub);
  },

  async 'oidcc-prompt-none-not-logged-in'({ ask }) {
    const { page, checks } = await ask({ prompt: 'none' });
    expect(page.left?.searchParams.get('error')).toBe('login_required');
    expect(page.left?.searchParams.get('state')).toBe(checks.expectedState);
  },

  async 'oidcc-prompt-none-logged-in'({ tokens, ask }) {
    const claims = JSON.stringify({ id_token: { auth_time: { essential: true } } });
    const first = await tokens({ claims });
    const { grant } = await ask({ prompt: 'none', claims }, { jar: first.jar });
    const again = (await grant()).claims();
    expect([again?.sub, again?.auth_time]).toEqual([first.claims.sub, first.claims.auth_time]);
    expect(again?.auth_time).toEqual(expect.any(Number));
  },

  async 'oidcc-max-age-1'({ tokens, ask }) {
    const first = await tokens({ max_age: '1' });
    await later(3000, async () => {
      const { browser, page, grant } = await ask({ max_age: '1' }, { jar: first.jar });
      expect(page.text).toContain('name="password"');
      const { left } = await browser.submit(page, '/log-in', { email, password });
      const claims = (await grant(left)).claims();
      expect(claims?.sub).toBe(first.claims.sub);
      expect(claims?.auth_time).toBeGreaterThan(first.claims.auth_time as number);
    });
  },

  async 'oidcc-max-age-10000'({ tokens, ask }) {
    const first = await tokens({ max_age: '10000' });
    await later(3000, async () => {
      const { page, grant } = await ask({ max_age: '10000' }, { jar: first.jar });
      expect(page.left).toBeDefined();
      const claims = (await grant()).claims();
      expect([claims?.sub, claims?.auth_time]).toEqual([first.claims.sub, first.claims.auth_time]);
    });
  },

  'oidcc-ensure-request-with-unknown-parameter-succeeds': ignores({ extra: 'foobar' }),
  'oidcc-claims-locales': ignores({ claims_locales: 'se' }),

  async 'oidcc-id-token-hint'({ tokens, ask, server, tenant, sub }) {
    const first = await tokens();
    const hint = first.tokens.id_token as string;
    const { grant } = await ask({ prompt: 'none', id_token_hint: hint }, { jar: first.jar });
    expect((await grant()).claims()?.sub).toBe(sub);
    const other = 'hinted@example.org';
    await createAccount(server, tenant, other);
    const begun = await ask();
    await begun.browser.submit(begun.page, '/log-in', { email: other, password });
    const { page } = await ask({ prompt: 'none', id_token_hint: hint }, { jar: begun.browser.jar });
    expect(page.left?.searchParams.get('error')).toBe('login_required');
  },

  async 'oidcc-login-hint'({ ask }) {
    const { page } = await ask({ login_hint: 'hint@example.org' });
    expect(page.text).toContain('value="hint@example.org"');
  },

  async 'oidcc-ui-locales'({ ask, tokens, sub }) {
    expect((await ask({ ui_locales: 'fr en' })).page.text).toContain('<html lang="fr"');
    expect((await tokens({ ui_locales: 'se' })).claims.sub).toBe(sub);
  },

  async 'oidcc-ensure-request-with-acr-values-succeeds'({ tokens }) {
    expect((await tokens({ acr_values: passwordAcr })).claims.acr).toBe(passwordAcr);
    expect((await tokens({ acr_values: 'urn:unknown' })).claims.acr).toBe(passwordAcr);
  },

  async 'oidcc-ensure-registered-redirect-uri'({ ask }) {
    const { page } = await ask({ redirect_uri: `${callback}/unregistered` });
    expect([page.status, page.left]).toEqual([400, undefined]);
    expect(page.text).toContain('<h1>');
  },

  async 'oidcc-ensure-post-request-succeeds'({ ask, server, metadata, sub }) {
    const { url, grant } = await ask();
    const answer = await fetch(metadata.authorization_endpoint as string, {
      method: 'POST',
      body: url.searchParams,
      redirect: 'manual',
    });
    expect(answer.status).toBe(303);
    const browser = new Browser(server);
    const page = await browser.open(answer.headers.get('location') as string);
    const { left } = await browser.submit(page, '/log-in', { email, password });
    expect((await grant(left)).claims()?.sub).toBe(sub);
  },

  async 'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported'(world) {
    const { page } = await world.ask({ request: unsigned(world, { scope: 'openid', state: 'other' }) });
    expect(page.left?.searchParams.get('error')).toBe('request_not_supported');
    expect(world.metadata.request_parameter_supported ?? false).toBe(false);
    expect(world.metadata.request_uri_parameter_supported).toBe(false);
  },

  async 'oidcc-ensure-request-object-with-redirect-uri'(world) {
    const both = await world.ask({ request: unsigned(world, { redirect_uri: callback }) });
    expect(both.page.left?.searchParams.get('error')).toBe('request_not_supported');
    const outside = `${callback}/unregistered`;
    const { page } = await world.ask({ redirect_uri: outside, request: unsigned(world, { redirect_uri: callback }) });
    expect([page.status, page.left]).toEqual([400, undefined]);
  },
};
