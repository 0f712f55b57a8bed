/** The pages that mailed links lead to. Opening one changes nothing, because mail scanners open them: its form does. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { accountPaths, addressOfLink, requestPasswordReset, resetPassword, verifyEmail } from '../accounts/index.ts';
import { limits } from '../core/limits.ts';
import { portalTenant } from '../core/portal-tenant.ts';
import { type App, tenantOf } from '../http/fastify.ts';
import {
  checkMailPage,
  cookieOf,
  csrfCookie,
  csrfToken,
  emailVerifiedPage,
  formUid,
  isOwnForm,
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
import { signedUpPath, signedUpProof } from './signed-up.ts';

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
  const key = csrfKey(encrypter, tenant);
  const formAt = (at: string) => ({ action: `${address}${at}`, csrf: csrfToken(key, uid, at) });
  return { context, uid, formAt, form: formAt(path) };
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
  const token = tokenOf(request) ?? '';
  const email = await addressOfLink(services.accounts, tenantOf(request).code, { token, purpose: 'sign_up' });
  return sendPage(reply, verifyPageOf(services, request, reply, { token, email }));
};

type Verifying = Pick<Parameters<typeof verifyEmailPage>[1], 'token' | 'email' | 'problem' | 'retryAfterSeconds'>;

function verifyPageOf(services: InteractionServices, request: FastifyRequest, reply: FastifyReply, shown: Verifying) {
  const { context, form } = formOf(services, request, reply, accountPaths.verify);
  const startUrl = services.baseUrl + ownPagesHome(tenantOf(request).code);
  return verifyEmailPage(context, { ...form, startUrl, ...shown });
}

/** The log-in that was under way in this browser before it opened the mail. */
async function underWayIn(
  { baseUrl, providers }: InteractionServices,
  request: FastifyRequest,
): Promise<{ uid: string; address: string } | undefined> {
  const uid = cookieOf(request.headers.cookie, ownPagesCookie(baseUrl, 'under_way'));
  if (uid === undefined || !UID.test(uid)) return undefined;
  const tenant = withOwnPages(tenantOf(request).snapshot, baseUrl);
  const { provider } = await providers.of(tenant);
  if ((await provider.Interaction.find(uid)) === undefined) return undefined;
  return { uid, address: `${baseUrl}/${tenant.tenant}/oidc/interaction/${uid}` };
}

const verify: Handler = async (services, request, reply) => {
  const { token = '', password = '' } = postedOf(services, request, accountPaths.verify);
  const { accounts, encrypter } = services;
  const { code: tenant, snapshot } = tenantOf(request);
  if (password === '') {
    const email = await addressOfLink(accounts, tenant, { token, purpose: 'sign_up' });
    return sendPage(reply, verifyPageOf(services, request, reply, { token, email, problem: 'missing' }), 400);
  }
  const result = await verifyEmail(accounts, tenant, { token, password, network: request.ip, requestId: request.id });
  if ('refused' in result) {
    const { email, retryAfterSeconds } = result;
    const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    return sendPage(reply, verifyPageOf(services, request, reply, { token, email, problem: 'wrong', ...wait }), 401);
  }
  const { context, uid, formAt } = formOf(services, request, reply, accountPaths.verify);
  const proof = { account: result.account, atMs: accounts.clock.now() };
  // A uid that somebody else has put there leads nowhere: the interaction needs the cookie of the browser that began it.
  const before = await underWayIn(services, request);
  const form =
    before === undefined
      ? formAt(signedUpPath)
      : { action: `${before.address}/verified`, csrf: csrfToken(csrfKey(encrypter, snapshot), before.uid, 'verified') };
  const sealed = signedUpProof(encrypter, { tenant, uid: before?.uid ?? uid }, proof);
  return sendPage(reply, emailVerifiedPage(context, { ...form, proof: sealed }));
};

const showReset: Handler = async (services, request, reply) => {
  const token = tokenOf(request);
  const { context, form } = formOf(services, request, reply, accountPaths.reset);
  if (token === undefined) return sendPage(reply, resetRequestPage(context, form));
  const link = { token, purpose: 'reset_password' } as const;
  const email = await addressOfLink(services.accounts, tenantOf(request).code, link);
  return sendPage(reply, resetPage(context, { ...form, token, email, passwordCharsMin: limits.passwordCharsMin }));
};

const reset: Handler = async (services, request, reply) => {
  const { token, password = '', email, username, again } = postedOf(services, request, accountPaths.reset);
  const tenant = tenantOf(request).code;
  const { context, form } = formOf(services, request, reply, accountPaths.reset);
  try {
    if (token === undefined) {
      const asked = { email: email ?? '', network: request.ip, language: context.language };
      await requestPasswordReset(services.accounts, tenant, asked);
      const sent = { purpose: 'reset', email: email ?? '', resend: form, wasResent: again !== undefined } as const;
      return sendPage(reply, checkMailPage(context, sent));
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
    const shown = { ...form, token, passwordCharsMin: limits.passwordCharsMin };
    const wrong = errors.password === undefined ? {} : { errors: { password: errors.password } };
    const named = username === undefined ? {} : { email: username };
    return sendPage(reply, resetPage(context, { ...shown, ...named, ...wrong }), 400);
  }
  const before = await underWayIn(services, request);
  const home = tenant === portalTenant ? `/${portalTenant}` : ownPagesHome(tenant);
  return sendPage(reply, resetDonePage(context, { logInUrl: before?.address ?? services.baseUrl + home }));
};
