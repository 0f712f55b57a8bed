/** The pages that mailed links lead to. Opening one changes nothing, because mail scanners open them: its form does. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { accountPaths, requestPasswordReset, resetPassword, verifyEmail } from '../accounts/index.ts';
import { limits } from '../core/limits.ts';
import { portalTenant } from '../core/portal-tenant.ts';
import { type App, tenantOf } from '../http/fastify.ts';
import {
  checkMailPage,
  cookieOf,
  csrfCookie,
  csrfToken,
  formUid,
  isOwnForm,
  logInPage,
  newFormUid,
  PageError,
  type Posted,
  resetDonePage,
  resetPage,
  resetRequestPage,
  sendPage,
  verifyEmailPage,
} from '../pages/index.ts';
import { answerError, csrfKey } from './forms.ts';
import { fieldErrorsOf } from './interaction-steps.ts';
import type { InteractionServices } from './interactions.ts';
import { ownPagesCookie, ownPagesHome, withOwnPages } from './own-pages.ts';
import { pageContext } from './page-sources.ts';

type Handler = (services: InteractionServices, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
/** Of an interaction, as it stands in its address. */
const UID = /^[\w-]{1,64}$/;
const Query = Type.Object({ token: Type.Optional(Type.String({ maxLength: limits.tokenBytesMax })) });

export function registerAccountPages(app: App, services: InteractionServices): void {
  const route = (method: 'GET' | 'POST', path: string, handler: Handler) =>
    app.route({
      method,
      url: `/:tenant${path}`,
      exposeHeadRoute: false,
      ...(method === 'POST' ? { bodyLimit: limits.formBodyBytesMax } : {}),
      config: { access: { api: 'public' } },
      schema: { hide: true, querystring: Query },
      handler: (request, reply) =>
        handler(services, request, reply).catch(answerError(services.baseUrl, request, reply)),
    });
  route('GET', accountPaths.verify, showVerify);
  route('POST', accountPaths.verify, verify);
  route('GET', accountPaths.reset, showReset);
  route('POST', accountPaths.reset, reset);
}

/** What the forms of these pages have, and the cookie that binds them to the browser. */
function formOf(
  { baseUrl, encrypter }: InteractionServices,
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
) {
  const tenant = tenantOf(request).snapshot;
  const uid = formUid(request.headers.cookie) ?? newFormUid();
  const address = `${baseUrl}/${tenant.tenant}`;
  const cookie = { path: `${new URL(address).pathname}/account`, secure: baseUrl.startsWith('https:') };
  reply.header('set-cookie', csrfCookie(uid, cookie));
  const context = pageContext(baseUrl, tenant, { acceptLanguage: request.headers['accept-language'] });
  return { context, form: { action: `${address}${path}`, csrf: csrfToken(csrfKey(encrypter, tenant), uid, path) } };
}

/** @throws PageError for a form that we did not show to this browser */
function postedOf({ baseUrl, encrypter }: InteractionServices, request: FastifyRequest, path: string): Posted {
  const tenant = tenantOf(request).snapshot;
  const fields = (request.body ?? {}) as Posted;
  const isOwn = isOwnForm({
    key: csrfKey(encrypter, tenant),
    uid: formUid(request.headers.cookie),
    place: path,
    presented: fields.csrf,
    ...{ headers: request.headers, baseUrl },
  });
  if (!isOwn) throw new PageError(403, { kind: 'forged' });
  return fields;
}

const tokenOf = (request: FastifyRequest): string | undefined => (request.query as { token?: string }).token;

const showVerify: Handler = async (services, request, reply) => {
  const token = tokenOf(request);
  if (token === undefined) throw new PageError(400, { kind: 'link_invalid' });
  const { context, form } = formOf(services, request, reply, accountPaths.verify);
  return sendPage(reply, verifyEmailPage(context, { state: 'ask', form, token, email: '' }));
};

/** Where somebody goes on whose address is confirmed: where it was before, in this browser, or else its account. */
async function continueUrlOf({ baseUrl, providers }: InteractionServices, request: FastifyRequest): Promise<string> {
  const tenant = withOwnPages(tenantOf(request).snapshot, baseUrl);
  const cookie = (name: 'sign_up' | 'invitation') => cookieOf(request.headers.cookie, ownPagesCookie(baseUrl, name));
  const uid = cookie('sign_up');
  const address = `${baseUrl}/${tenant.tenant}`;
  if (uid !== undefined && UID.test(uid)) {
    const { provider } = await providers.of(tenant);
    if ((await provider.Interaction.find(uid)) !== undefined) return `${address}/oidc/interaction/${uid}`;
  }
  if (tenant.tenant === portalTenant) return address;
  return cookie('invitation') === undefined ? baseUrl + ownPagesHome(tenant.tenant) : `${address}/invitation/answer`;
}

const verify: Handler = async (services, request, reply) => {
  const { token = tokenOf(request) ?? '', password } = postedOf(services, request, accountPaths.verify);
  const given = { token, network: request.ip, requestId: request.id, ...(password === undefined ? {} : { password }) };
  const result = await verifyEmail(services.accounts, tenantOf(request).code, given);
  const { context, form } = formOf(services, request, reply, accountPaths.verify);
  if ('status' in result && result.status === 'verified')
    return sendPage(
      reply,
      verifyEmailPage(context, { state: 'done', continueUrl: await continueUrlOf(services, request) }),
    );
  // Who opens the mail is not who signed up, unless it knows the password.
  const isRefused = 'refused' in result;
  const { retryAfterSeconds } = isRefused ? result : {};
  const page = logInPage(context, {
    ...{ ...form, action: `${form.action}?token=${encodeURIComponent(token)}` },
    ...{ email: result.email, emailFixed: true, notice: 'finish' as const },
    ...(isRefused ? { problem: 'credentials' as const } : {}),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
  return sendPage(reply, page, isRefused ? 401 : 200);
};

const showReset: Handler = async (services, request, reply) => {
  const token = tokenOf(request);
  const { context, form } = formOf(services, request, reply, accountPaths.reset);
  if (token === undefined) return sendPage(reply, resetRequestPage(context, form));
  return sendPage(reply, resetPage(context, { ...form, token, passwordCharsMin: limits.passwordCharsMin }));
};

const reset: Handler = async (services, request, reply) => {
  const { token, password = '', email } = postedOf(services, request, accountPaths.reset);
  const tenant = tenantOf(request).code;
  const { context, form } = formOf(services, request, reply, accountPaths.reset);
  try {
    if (token === undefined) {
      const asked = { email: email ?? '', network: request.ip, language: context.language };
      await requestPasswordReset(services.accounts, tenant, asked);
      return sendPage(reply, checkMailPage(context, { purpose: 'reset', email: email ?? '' }));
    }
    const changed = { token, password, network: request.ip, requestId: request.id };
    const { revision } = await resetPassword(services.accounts, tenant, changed);
    await services.waitForRevision(tenant, revision);
  } catch (error) {
    const errors = fieldErrorsOf(error);
    if (errors === undefined) throw error;
    if (token === undefined) {
      const shown = { ...form, email: email ?? '', errors: { email: errors.email ?? ('email_invalid' as const) } };
      return sendPage(reply, resetRequestPage(context, shown), 400);
    }
    const wrong = errors.password === undefined ? {} : { errors: { password: errors.password } };
    return sendPage(
      reply,
      resetPage(context, { ...form, token, passwordCharsMin: limits.passwordCharsMin, ...wrong }),
      400,
    );
  }
  return sendPage(reply, resetDonePage(context));
};
