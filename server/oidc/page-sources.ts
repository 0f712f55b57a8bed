/** The pages that the library shows itself (errors, log-out, devices), in the words and the look of our own. */
import type { ErrorOut, KoaContextWithOIDC, Provider } from 'oidc-provider';
import {
  chooseLanguage,
  deviceCodePage,
  deviceConfirmPage,
  deviceDonePage,
  errorPage,
  formPostPage,
  languageOf,
  loggedOutPage,
  logoutConfirmPage,
  type PageContext,
  type RenderedPage,
  redirectPage,
} from '../pages/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import { brandOf } from './brand.ts';
import { shownUserCode } from './configuration.ts';

export type PageSources = { baseUrl: string };

type Wishes = { uiLocales?: string | undefined; acceptLanguage?: string | undefined };

/** @param baseUrl ACCORD_BASE_URL */
export function pageContext(baseUrl: string, { spec }: TenantSnapshot, wishes: Wishes): PageContext {
  const basePath = new URL(baseUrl).pathname.replace(/\/$/, '');
  return { brand: brandOf(spec), language: chooseLanguage({ ...wishes, tenant: spec.login?.languages }), basePath };
}

/** What a person wants to read: of the request, or of the one that began the log-in. */
function wishesOf(ctx: KoaContextWithOIDC): Wishes {
  const { params } = ctx.oidc;
  const asked = params?.ui_locales ?? ctx.query.ui_locales;
  const known = typeof asked === 'string' && asked.split(' ').some((tag) => languageOf(tag) !== undefined);
  const acceptLanguage = ctx.get('accept-language') || undefined;
  return { ...(known ? { uiLocales: asked } : {}), acceptLanguage };
}

function show(ctx: KoaContextWithOIDC, { headers, body }: RenderedPage): void {
  ctx.set(headers);
  ctx.body = body;
}

export function pageSources({ baseUrl }: PageSources, current: () => TenantSnapshot) {
  const contextOf = (ctx: KoaContextWithOIDC) => pageContext(baseUrl, current(), wishesOf(ctx));
  const nameOf = (id: string | undefined) =>
    id === undefined ? undefined : (current().clients.get(id)?.displayName ?? id);
  const xsrfOf = (ctx: KoaContextWithOIDC) =>
    String((ctx.oidc.session as { state?: { secret?: string } }).state?.secret);
  return {
    async error(ctx: KoaContextWithOIDC, out: ErrorOut) {
      const { error, error_description: description } = out;
      const kind = error === 'server_error' ? 'unavailable' : isExpired(out) ? 'expired' : 'invalid_request';
      show(ctx, errorPage(contextOf(ctx), { kind, code: error, ...(description ? { description } : {}) }));
    },
    async logout(ctx: KoaContextWithOIDC) {
      const clientName = nameOf(ctx.oidc.client?.clientId);
      const action = ctx.oidc.urlFor('end_session_confirm');
      const fields = { xsrf: xsrfOf(ctx) };
      show(ctx, logoutConfirmPage(contextOf(ctx), { action, fields, ...(clientName ? { clientName } : {}) }));
    },
    async loggedOut(ctx: KoaContextWithOIDC) {
      show(ctx, loggedOutPage(contextOf(ctx), {}));
    },
    async deviceCode(ctx: KoaContextWithOIDC, _form: string, _out?: ErrorOut, error?: Error & { userCode?: string }) {
      if (error?.name === 'AbortedError') return show(ctx, deviceDonePage(contextOf(ctx), { isConnected: false }));
      const action = ctx.oidc.urlFor('code_verification');
      const problem = error && deviceProblems[error.name];
      // A code that nobody knows, and one that was used, read the same: neither can be gone on with.
      const wrong = error === undefined ? {} : { error: problem ?? ('user_code_unknown' as const) };
      const code = ctx.query[shownUserCode];
      const shown = typeof code === 'string' && USER_CODE.test(code) ? { userCode: code } : {};
      show(ctx, deviceCodePage(contextOf(ctx), { action, fields: { xsrf: xsrfOf(ctx) }, ...shown, ...wrong }));
    },
    async deviceConfirm(
      ctx: KoaContextWithOIDC,
      _form: string,
      client: { clientId: string },
      _device: unknown,
      userCode: string,
    ) {
      const action = ctx.oidc.urlFor('code_verification');
      const fields = { xsrf: xsrfOf(ctx), user_code: userCode, confirm: 'yes' };
      const clientName = nameOf(client.clientId) as string;
      show(ctx, deviceConfirmPage(contextOf(ctx), { action, fields, userCode, clientName }));
    },
    async deviceDone(ctx: KoaContextWithOIDC) {
      show(ctx, deviceDonePage(contextOf(ctx), { isConnected: true }));
    },
    /** An answer to a client by response_mode=form_post. */
    formPost(ctx: KoaContextWithOIDC, action: string, fields: Readonly<Record<string, unknown>>) {
      ctx.status = 'error' in fields ? 400 : 200;
      const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
      const texts = Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
      show(ctx, formPostPage(contextOf(ctx), action, texts));
    },
  };
}

/** What a code may look like that a person has before them; other text is not shown. */
const USER_CODE = /^[A-Za-z0-9 -]{1,32}$/;

const deviceProblems: Partial<Record<string, 'user_code_required' | 'user_code_expired' | 'user_code_again'>> = {
  // The form is of a page that another one has replaced since: another tab, or the page before by the back button.
  InvalidRequest: 'user_code_again',
  NoCodeError: 'user_code_required',
  ExpiredError: 'user_code_expired',
};

function isExpired({ error_description: description = '' }: ErrorOut): boolean {
  return /expired|session (has ended|not found|identifier mismatch)|session mismatch/.test(description);
}

/** Browsers apply form-action along all redirects after a form: the way to another site is a page (pages/redirect-page.ts). */
export function redirectByPage(
  { baseUrl }: PageSources,
  current: () => TenantSnapshot,
): Parameters<Provider['use']>[0] {
  return async (context, next) => {
    await next();
    const ctx = context as unknown as KoaContextWithOIDC;
    const location = ctx.response.get('location');
    if (ctx.method !== 'POST' || ctx.status !== 303 || new URL(location, baseUrl).origin === new URL(baseUrl).origin)
      return;
    ctx.remove('location');
    ctx.status = 200;
    show(ctx, redirectPage(pageContext(baseUrl, current(), wishesOf(ctx)), location));
  };
}

/**
 * Somebody logged in as another person than the one whose session the browser has: that session ends first. The library sends the
 * browser there by a page of its own.
 */
export function switchPerson({ baseUrl }: PageSources, current: () => TenantSnapshot): Parameters<Provider['use']>[0] {
  return async (context, next) => {
    await next();
    const ctx = context as unknown as KoaContextWithOIDC & { _matchedRouteName?: string };
    if (ctx._matchedRouteName !== 'resume' || typeof ctx.body !== 'string') return;
    const action = ctx.oidc.urlFor('end_session_confirm');
    const { secret } = (ctx.oidc.session as { state?: { secret?: string } } | undefined)?.state ?? {};
    if (secret === undefined || !ctx.body.includes(`action="${action}"`)) return;
    show(ctx, formPostPage(pageContext(baseUrl, current(), wishesOf(ctx)), action, { xsrf: secret, logout: 'yes' }));
  };
}

/**
 * Where nobody is logged in there is nothing to ask: the browser goes where it would go afterwards. The library answers with a page
 * of its own, which sends a form by a script.
 */
export function logOutNobody({ baseUrl }: PageSources, current: () => TenantSnapshot): Parameters<Provider['use']>[0] {
  return async (context, next) => {
    await next();
    const ctx = context as unknown as KoaContextWithOIDC & { _matchedRouteName?: string };
    if (ctx._matchedRouteName !== 'end_session' || ctx.status !== 200) return;
    const { session, params } = ctx.oidc;
    if (session === undefined || session.accountId !== undefined) return;
    ctx.remove('set-cookie'); // of a session that is not kept
    const { post_logout_redirect_uri: uri, state } = params as Record<string, string | undefined>;
    if (uri === undefined) return show(ctx, loggedOutPage(pageContext(baseUrl, current(), wishesOf(ctx)), {}));
    const url = new URL(uri);
    if (state !== undefined) url.searchParams.append('state', state);
    ctx.body = '';
    ctx.status = 303;
    ctx.set('location', url.href);
  };
}
