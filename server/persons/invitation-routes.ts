/**
 * The link of a relationship invitation. To open it changes nothing: its page posts the code of the fragment, a cookie keeps that while
 * the person logs in or signs up, and only a form of ours accepts or declines.
 */
import type { FastifyReply } from 'fastify';
import { type SignedUp, sendSignUpAgain, signUp } from '../accounts/index.ts';
import { limits } from '../core/limits.ts';
import { comparableAddress } from '../core/mail-address.ts';
import { Problem } from '../core/problems.ts';
import type { App } from '../http/fastify.ts';
import {
  acceptOpened,
  declineOpened,
  type InvitationServices,
  type OpenedInvitation,
  openInvitation,
} from '../invitations/index.ts';
import { fieldErrorsOf, ownPagesClient } from '../oidc/index.ts';
import {
  checkMailPage,
  csrfCookie,
  type FieldError,
  type FieldErrors,
  formUid,
  invitationDonePage,
  invitationPage,
  newFormUid,
  openInvitationPage,
  PageError,
  type Posted,
  signUpPage,
} from '../pages/index.ts';
import { beginSession, endSession } from '../portal/index.ts';
import { replaceSession, sendToLogIn } from './log-in-routes.ts';
import { type PersonServices, personPage, type Visit } from './requests.ts';

type InvitationPageServices = PersonServices & { invitations: InvitationServices };

const ANSWER = '/invitation/answer';
const SIGN_UP = '/invitation/sign-up';

export function registerInvitationPages(app: App, services: InvitationPageServices): void {
  personPage(app, services, ['GET', '/invitation'], async (visit) => {
    return visit.send(openingOf(visit));
  });
  personPage(app, services, ['POST', '/invitation/open'], async (visit) => {
    const { code = '' } = visit.fields(formUid(visit.request.headers.cookie));
    const acceptor = await acceptorOf(visit);
    try {
      await openInvitation(services.invitations, visit.code, code.trim(), acceptor);
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'invitation_token_invalid')) throw error;
      return visit.send(openingOf(visit, { error: 'invitation_code_invalid', code: code.trim() }), 400);
    }
    visit.setCookie('invitation', code.trim());
    return visit.goTo(ANSWER);
  });
  personPage(app, services, ['GET', ANSWER], (visit) => question(services, visit));
  personPage(app, services, ['POST', ANSWER], (visit) => answer(services, visit));
  personPage(app, services, ['POST', '/invitation/other'], async (visit) => {
    visit.fields(visit.readCookie('invitation'));
    const value = visit.readCookie('session');
    if (value !== undefined) await endSession(services.accounts, visit.code, value);
    visit.setCookie('session', undefined);
    return visit.goTo('/invitation/log-in?again=1');
  });
  personPage(app, services, ['GET', '/invitation/log-in'], async (visit) => {
    const { opened } = await current(services, visit);
    const { again } = visit.request.query as { again?: string };
    const email = opened.provedContact;
    return sendToLogIn(services, visit, ANSWER, { again: again === '1', ...(email === undefined ? {} : { email }) });
  });
  personPage(app, services, ['GET', SIGN_UP], async (visit) => {
    const { code, opened } = await current(services, visit);
    return visit.send(enrolment(visit, code, opened));
  });
  personPage(app, services, ['POST', SIGN_UP], (visit) => enrol(services, visit));
}

/** The page that asks for the code of the link, and its cookie. */
function openingOf(visit: Visit, wrong?: { error: FieldError; code: string }) {
  const uid = formUid(visit.request.headers.cookie) ?? newFormUid();
  const path = `${visit.context.basePath}/${visit.code}/invitation`;
  visit.reply.header('set-cookie', csrfCookie(uid, { path, secure: visit.address('').startsWith('https:') }));
  const form = { action: visit.address('/invitation/open'), csrf: visit.csrf(uid) };
  return openInvitationPage(visit.context, form, wrong);
}

/** The actor of the person who is logged in. */
async function acceptorOf(visit: Visit) {
  const session = await visit.session();
  return session && visit.callerOf(session).actor;
}

type Current = { code: string; opened: OpenedInvitation };

/** The invitation that this browser has open. @throws PageError, Problem */
async function current(services: InvitationPageServices, visit: Visit): Promise<Current> {
  const code = visit.readCookie('invitation');
  if (code === undefined) throw new PageError(410, { kind: 'link_invalid' });
  return { code, opened: await openInvitation(services.invitations, visit.code, code, await acceptorOf(visit)) };
}

const whatOf = ({ to }: OpenedInvitation) => `${to.type} ${to.id}`;

const doneOf = (opened: OpenedInvitation) => ({
  what: whatOf(opened),
  ...(opened.redirectUri === undefined ? {} : { continueUrl: opened.redirectUri }),
});

async function question(services: InvitationPageServices, visit: Visit): Promise<FastifyReply> {
  const { code, opened } = await current(services, visit);
  if (opened.isAccepted) {
    visit.setCookie('invitation', undefined);
    return visit.send(
      invitationDonePage(visit.context, {
        outcome: 'accepted',
        ...doneOf(opened),
        accountUrl: visit.address('/account'),
      }),
    );
  }
  const session = await visit.session();
  const { invitor, relationshipExpiresAt } = opened;
  const decide = { action: visit.address(ANSWER), csrf: visit.csrf(code) };
  const isOther = opened.isBound && session !== undefined && !opened.isContact(visit.callerOf(session).email);
  const { selfRegistration } = visit.tenant.snapshot.spec.login ?? {};
  const page = invitationPage(visit.context, {
    ...(invitor === undefined ? {} : { from: invitor }),
    ...{ what: whatOf(opened), as: opened.relationshipType, expiresAt: opened.expiresAt, decide },
    ...(relationshipExpiresAt === undefined ? {} : { relationshipExpiresAt }),
    ...(session === undefined ? {} : { account: { email: session.account.email } }),
    ...(isOther ? { boundTo: opened.maskedContact } : {}),
    otherAccountAction: visit.address('/invitation/other'),
    logInUrl: visit.address('/invitation/log-in'),
    ...(selfRegistration === 'none' ? {} : { signUpUrl: visit.address(SIGN_UP) }),
  });
  return visit.send(page);
}

async function answer(services: InvitationPageServices, visit: Visit): Promise<FastifyReply> {
  const code = visit.readCookie('invitation');
  const { decision } = visit.fields(code);
  if (decision !== 'accept' && decision !== 'decline')
    throw new PageError(400, { kind: 'invalid_request', description: 'decision must be accept or decline.' });
  const { opened } = await current(services, visit);
  const session = await visit.session();
  const caller = session && visit.callerOf(session);
  const done = doneOf(opened);
  if (decision === 'decline') {
    await declineOpened(services.invitations, { ...visit.asked, caller, page: ownPagesClient }, code as string);
    visit.setCookie('invitation', undefined);
    return visit.send(invitationDonePage(visit.context, { outcome: 'declined', ...done }));
  }
  // A session that ended meanwhile is begun anew; the invitation is still open.
  if (caller === undefined) return visit.goTo('/invitation/log-in');
  await acceptOpened(services.invitations, { ...visit.asked, caller }, code as string);
  visit.setCookie('invitation', undefined);
  return visit.send(
    invitationDonePage(visit.context, { outcome: 'accepted', ...done, accountUrl: visit.address('/account') }),
  );
}

type Wrong = { fields: Posted; errors: FieldErrors<'email' | 'displayName' | 'password'> };

function enrolment(visit: Visit, code: string, { provedContact }: OpenedInvitation, wrong?: Wrong) {
  const { fields = {}, errors } = wrong ?? {};
  const email = provedContact ?? fields.email;
  return signUpPage(visit.context, {
    ...{ action: visit.address(SIGN_UP), csrf: visit.csrf(code), passwordCharsMin: limits.passwordCharsMin },
    ...(email === undefined ? {} : { email }),
    ...(provedContact === undefined ? {} : { emailFixed: true }),
    ...(fields.displayName === undefined ? {} : { displayName: fields.displayName }),
    ...(errors === undefined ? {} : { errors }),
    logInUrl: visit.address('/invitation/log-in'),
  });
}

/** Who comes from the mail has its address; of others it is proved by another mail, and only then there is an account. */
async function enrol(services: InvitationPageServices, visit: Visit): Promise<FastifyReply> {
  const fields = visit.fields(visit.readCookie('invitation'));
  const { code, opened } = await current(services, visit);
  const { accounts } = services;
  const invited = opened.provedContact;
  const email = invited ?? fields.email ?? '';
  const read = comparableAddress(email);
  const checkMail = (pending: string, wasResent = false) => {
    const resend = { action: visit.address(SIGN_UP), csrf: visit.csrf(code), pending };
    const logInUrl = visit.address('/invitation/log-in');
    return visit.send(checkMailPage(visit.context, { purpose: 'verify', email, resend, wasResent, logInUrl }));
  };
  if (fields.again !== undefined) {
    const again = { pending: fields.pending ?? '', network: visit.request.ip };
    return checkMail(await sendSignUpAgain(accounts, visit.code, again), true);
  }
  let signedUp: SignedUp;
  try {
    signedUp = await signUp(accounts, visit.code, {
      ...{ email, password: fields.password ?? '', displayName: fields.displayName, language: visit.context.language },
      ...{ network: visit.request.ip, requestId: visit.request.id },
      isInvited: opened.isContact(read.ok ? read.address : undefined),
      ...(invited === undefined ? {} : { invitedEmail: invited }),
    });
  } catch (error) {
    const errors = fieldErrorsOf(error);
    if (errors === undefined) throw error;
    return visit.send(enrolment(visit, code, opened, { fields, errors }), 400);
  }
  if (signedUp.status === 'check_mail') return checkMail(signedUp.pending);
  // The address has an account: it is asked for, and the link alone does not replace its password.
  if (signedUp.status === 'exists') return visit.goTo('/invitation/log-in');
  const origin = { device: visit.device };
  const value = await beginSession(accounts, visit.code, signedUp.account, accounts.clock.now(), origin);
  await replaceSession(services, visit, value);
  return visit.goTo(ANSWER);
}
