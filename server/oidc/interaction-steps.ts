/** Other ways to log in than by password, and what leads to one: passkeys, signing up, a forgotten password. */

import type { FastifyReply } from 'fastify';
import {
  type Account,
  logInWithPasskey,
  passkeyLogInOptions,
  requestPasswordReset,
  type SignedUp,
  sendSignUpAgain,
  signUp as signUpAccount,
} from '../accounts/index.ts';
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problems.ts';
import type { App } from '../http/fastify.ts';
import {
  checkMailPage,
  type FieldError,
  type FieldErrors,
  keepCookie,
  PageError,
  passkeyPage,
  resetRequestPage,
  sendPage,
  signUpPage,
} from '../pages/index.ts';
import { passkeyAcr, passwordAcr } from './configuration.ts';
import { finishLogIn, posted, type UnderWay, underWay } from './forms.ts';
import { type InteractionServices, logInOf, type PageHandler, page } from './interactions.ts';
import { ownPagesCookie } from './own-pages.ts';
import { readSignedUpProof } from './signed-up.ts';
import { linkPending } from './upstream-steps.ts';

export function registerSteps(app: App, services: InteractionServices): void {
  page(app, services, 'GET', '/passkey', showPasskey);
  page(app, services, 'POST', '/passkey', passkey);
  page(app, services, 'GET', '/sign-up', async (all, request, reply) => {
    const one = await openForSignUp(all, request, reply);
    return sendPage(reply, signUpOf(one, {}));
  });
  page(app, services, 'POST', '/sign-up', signUp);
  page(app, services, 'POST', '/verified', verified);
  page(app, services, 'GET', '/reset', async (all, request, reply) => {
    const one = await underWay(all, request, reply);
    return sendPage(reply, resetRequestPage(one.context, { ...one.form('reset'), logInUrl: one.address }));
  });
  page(app, services, 'POST', '/reset', reset);
}

const showPasskey: PageHandler = async (services, request, reply) => {
  const one = await underWay(services, request, reply);
  return sendPage(reply, await passkeyOf(services, one, false));
};

async function passkeyOf({ accounts }: InteractionServices, one: UnderWay, failed: boolean) {
  const options = await passkeyLogInOptions(accounts, one.tenant.tenant);
  return passkeyPage(one.context, {
    ...one.form('passkey'),
    mode: 'log-in',
    options,
    failed,
    otherWayUrl: one.address,
  });
}

const passkey: PageHandler = async (services, request, reply) => {
  const { one, fields } = await posted(services, request, reply, 'passkey');
  const proved = await prove(services, one.tenant.tenant, fields.credential);
  if (proved === undefined) return sendPage(reply, await passkeyOf(services, one, true), 401);
  await linkPending(services, one, proved, request);
  return finishLogIn(services, one, request, reply, { account: proved, amr: ['pop', 'user'], acr: passkeyAcr });
};

/** @returns the account; undefined when what the browser posted proves nothing */
async function prove({ accounts }: InteractionServices, tenant: string, credential = ''): Promise<Account | undefined> {
  try {
    const result = await logInWithPasskey(accounts, tenant, JSON.parse(credential));
    return 'account' in result ? result.account : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || (error instanceof Problem && error.status < 500)) return undefined;
    throw error;
  }
}

const openForSignUp: (...all: Parameters<PageHandler>) => Promise<UnderWay> = async (services, request, reply) => {
  const one = await underWay(services, request, reply);
  requireOpen(one);
  return one;
};

function requireOpen({ tenant }: UnderWay): void {
  if (tenant.spec.login?.selfRegistration !== 'open')
    throw new PageError(403, { kind: 'access_denied', code: 'sign_up_closed' });
}

type SignUpShown = Partial<Pick<Parameters<typeof signUpPage>[1], 'email' | 'displayName' | 'errors'>>;

function signUpOf({ context, form, address }: UnderWay, shown: SignUpShown) {
  return signUpPage(context, {
    ...form('sign-up'),
    passwordCharsMin: limits.passwordCharsMin,
    logInUrl: address,
    ...shown,
  });
}

const signUp: PageHandler = async (services, request, reply) => {
  const { one, fields } = await posted(services, request, reply, 'sign-up');
  requireOpen(one);
  const { email = '', password = '', displayName = '' } = fields;
  const { context } = one;
  const { accounts } = services;
  if (fields.again !== undefined) {
    const again = { pending: fields.pending ?? '', network: request.ip };
    const pending = await sendSignUpAgain(accounts, one.tenant.tenant, again);
    return sendPage(reply, checkMailOf(one, { email, pending, wasResent: true }));
  }
  let signedUp: SignedUp;
  try {
    signedUp = await signUpAccount(accounts, one.tenant.tenant, {
      ...{ email, password, network: request.ip, requestId: request.id, language: context.language },
      ...(displayName === '' ? {} : { displayName }),
    });
  } catch (error) {
    const errors = fieldErrorsOf(error);
    if (errors === undefined) throw error;
    return sendPage(reply, signUpOf(one, { email, displayName, errors }), 400);
  }
  keepUnderWay(services, one, reply);
  // Whether the address has an account or not.
  const pending = 'pending' in signedUp ? signedUp.pending : '';
  return sendPage(reply, checkMailOf(one, { email, pending }));
};

function checkMailOf(
  { context, form, address }: UnderWay,
  { email, pending, wasResent = false }: { email: string; pending: string; wasResent?: boolean },
) {
  const resend = { ...form('sign-up'), pending };
  return checkMailPage(context, { purpose: 'verify', email, resend, wasResent, logInUrl: address });
}

/** The page of a mailed link leads back to the log-in under way, in the browser that began it. */
function keepUnderWay(
  { baseUrl }: InteractionServices,
  { context, tenant, interaction }: UnderWay,
  reply: FastifyReply,
) {
  const cookie = {
    ...{ name: ownPagesCookie(baseUrl, 'under_way'), path: `${context.basePath}/${tenant.tenant}` },
    ...{ maxAgeMs: limits.interactionTtlMs, secure: baseUrl.startsWith('https:') },
  };
  keepCookie(reply, cookie, interaction.uid);
}

/** The page of the mailed link has asked for the password; it is not asked for again. */
const verified: PageHandler = async (services, request, reply) => {
  const { one, fields } = await posted(services, request, reply, 'verified');
  const { accounts, encrypter } = services;
  const place = { tenant: one.tenant.tenant, uid: one.interaction.uid, nowMs: accounts.clock.now() };
  const proof = readSignedUpProof(encrypter, place, fields.proof);
  if (proof === undefined) return sendPage(reply, logInOf(one, { notice: 'email_verified' }));
  const { account, atMs } = proof;
  const ts = Math.floor(atMs / 1000);
  return finishLogIn(services, one, request, reply, { account, amr: ['pwd'], acr: passwordAcr, ts });
};

const passwordErrors = new Set<string>([
  'password_too_short',
  'password_too_long',
  'password_too_common',
  'password_like_account',
]);

/** What is wrong with which field of a form; undefined for what is wrong with none. */
export function fieldErrorsOf(error: unknown): FieldErrors<'email' | 'displayName' | 'password'> | undefined {
  if (!(error instanceof Problem)) return undefined;
  if (passwordErrors.has(error.code)) return { password: error.code as FieldError };
  const pointer = error.code === 'invalid_request' ? error.errors?.[0]?.pointer : undefined;
  if (pointer === '/email') return { email: 'email_invalid' };
  return pointer === '/displayName' ? { displayName: 'display_name_invalid' } : undefined;
}

const reset: PageHandler = async (services, request, reply) => {
  const { one, fields } = await posted(services, request, reply, 'reset');
  const { email = '', again } = fields;
  const { context, address, tenant } = one;
  try {
    const asked = { email, network: request.ip, language: context.language };
    await requestPasswordReset(services.accounts, tenant.tenant, asked);
  } catch (error) {
    const errors = fieldErrorsOf(error);
    if (errors === undefined) throw error;
    const form = { ...one.form('reset'), logInUrl: address, email, errors: { email: errors.email ?? 'email_invalid' } };
    return sendPage(reply, resetRequestPage(context, form), 400);
  }
  keepUnderWay(services, one, reply);
  const wasResent = again !== undefined;
  const page = { purpose: 'reset', email, resend: one.form('reset'), wasResent, logInUrl: address } as const;
  return sendPage(reply, checkMailPage(context, page));
};
