/**
 * Accepting a member invitation at the portal: the link's page posts its secret, a cookie keeps it while the person chooses a
 * password or logs in, and only a form of ours uses it up.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { signUp } from '../accounts/index.ts';
import { limits } from '../core/limits.ts';
import { portalTenant } from '../core/portal-tenant.ts';
import type { App } from '../http/fastify.ts';
import { acceptMemberInvitation, type OpenMemberInvitation, readMemberInvitation } from '../members/index.ts';
import { fieldErrorsOf } from '../oidc/index.ts';
import {
  type FieldErrors,
  memberInvitationLaterPage,
  memberInvitationPage,
  PageError,
  type Posted,
  type RenderedPage,
  sendPage,
  signUpPage,
} from '../pages/index.ts';
import type { WriteServices } from '../writes/index.ts';
import { beginLogIn, type LogInServices } from './log-in.ts';
import { noteMembership } from './memberships.ts';
import {
  contextOf,
  csrfOf,
  goTo,
  isOwnPost,
  ownFields,
  portalPage,
  readCookie,
  replaceSession,
  requireSession,
  sessionOf,
  setCookie,
} from './requests.ts';
import { beginSession, type Session, type SessionServices } from './sessions.ts';
import { portalParty } from './tenant.ts';

export type InvitationRouteServices = LogInServices &
  SessionServices & { members: WriteServices & { baseUrl: string } };

const ACCEPT = '/portal/invitations/accept';

export function registerInvitationPages(app: App, services: InvitationRouteServices): void {
  portalPage(app, services, ['POST', '/portal/invitations/open'], async (request, reply) => {
    // The page of the link is a file and has no token for its form: the browser must say that the form is ours.
    if (!isOwnPost(services, request)) throw new PageError(403, { kind: 'forged' });
    const { token = '' } = (request.body ?? {}) as Posted;
    await readMemberInvitation(services.members, token.trim());
    setCookie(services, reply, 'invitation', token.trim());
    return goTo(services, request, reply, ACCEPT);
  });
  portalPage(app, services, ['GET', ACCEPT], async (request, reply) => {
    const token = readCookie(services, request, 'invitation');
    const invitation = await openInvitation(services, token);
    const session = await sessionOf(services, request);
    return sendPage(reply, question(services, request, token as string, { invitation, session }));
  });
  portalPage(app, services, ['POST', ACCEPT], async (request, reply) => {
    const token = readCookie(services, request, 'invitation');
    const { decision } = ownFields(services, request, token);
    if (decision !== 'accept') {
      setCookie(services, reply, 'invitation', undefined);
      const { expiresAt } = await openInvitation(services, token);
      return sendPage(reply, memberInvitationLaterPage(contextOf(services, request), { expiresAt }));
    }
    const invitation = await openInvitation(services, token);
    const { account } = await requireSession(services, request);
    if (account.email !== invitation.email) throw new PageError(403, { kind: 'access_denied' });
    return accept(services, { request, reply }, token as string, account.id);
  });
  portalPage(app, services, ['GET', '/portal/invitations/enrol'], async (request, reply) => {
    const token = readCookie(services, request, 'invitation');
    const invitation = await openInvitation(services, token);
    return sendPage(reply, enrolment(services, request, token as string, invitation));
  });
  portalPage(app, services, ['POST', '/portal/invitations/enrol'], (request, reply) => enrol(services, request, reply));
  portalPage(app, services, ['GET', '/portal/invitations/log-in'], async (request, reply) => {
    const invitation = await openInvitation(services, readCookie(services, request, 'invitation'));
    const { url, kept } = beginLogIn(services, portalParty, ACCEPT, { email: invitation.email, again: true });
    setCookie(services, reply, 'log_in', kept);
    return reply.redirect(url, 303);
  });
}

function question(
  services: InvitationRouteServices,
  request: FastifyRequest,
  token: string,
  { invitation, session }: { invitation: OpenMemberInvitation; session: Session | undefined },
): RenderedPage {
  const { baseUrl } = services;
  const { tenantName, email, role, expiresAt } = invitation;
  return memberInvitationPage(contextOf(services, request), {
    ...{ tenant: tenantName, email, role, expiresAt },
    decide: { action: `${baseUrl}${ACCEPT}`, csrf: csrfOf(services, token) },
    logInUrl: `${baseUrl}/portal/invitations/log-in`,
    signUpUrl: `${baseUrl}/portal/invitations/enrol`,
    ...(session === undefined ? {} : { account: { email: session.account.email } }),
  });
}

type Answering = { request: FastifyRequest; reply: FastifyReply };

/** @throws PageError, Problem member_invitation_gone */
async function openInvitation(
  services: InvitationRouteServices,
  token: string | undefined,
): Promise<OpenMemberInvitation> {
  if (token === undefined) throw new PageError(410, { kind: 'link_invalid' });
  return readMemberInvitation(services.members, token);
}

async function accept(
  services: InvitationRouteServices,
  { request, reply }: Answering,
  token: string,
  person: string,
): Promise<FastifyReply> {
  const { tenant } = await openInvitation(services, token);
  await noteMembership(services.accounts, person, tenant);
  await acceptMemberInvitation(services.members, token, person, request.id);
  setCookie(services, reply, 'invitation', undefined);
  return goTo(services, request, reply, `/portal/t/${tenant}`);
}

async function enrol(services: InvitationRouteServices, request: FastifyRequest, reply: FastifyReply) {
  const token = readCookie(services, request, 'invitation');
  const fields = ownFields(services, request, token);
  const invitation = await openInvitation(services, token);
  const { accounts } = services;
  const given = {
    ...{ email: invitation.email, invitedEmail: invitation.email, password: fields.password ?? '' },
    ...{ displayName: fields.displayName, network: request.ip, requestId: request.id },
    language: contextOf(services, request).language,
  };
  let signedUp: Awaited<ReturnType<typeof signUp>>;
  try {
    signedUp = await signUp(accounts, portalTenant, given);
  } catch (error) {
    const errors = fieldErrorsOf(error);
    if (errors === undefined) throw error;
    const page = enrolment(services, request, token as string, invitation, { fields, errors });
    return sendPage(reply, page, 400);
  }
  // The address has a log-in: it is asked for, and the link alone does not replace it.
  if (signedUp.status !== 'created') return goTo(services, request, reply, '/portal/invitations/log-in');
  const value = await beginSession(accounts, portalTenant, signedUp.account, accounts.clock.now());
  await replaceSession(services, request, reply, value);
  return accept(services, { request, reply }, token as string, signedUp.account.id);
}

function enrolment(
  services: InvitationRouteServices,
  request: FastifyRequest,
  token: string,
  { email }: OpenMemberInvitation,
  wrong?: { fields: Posted; errors: FieldErrors<'displayName' | 'password'> },
) {
  return signUpPage(contextOf(services, request), {
    action: `${services.baseUrl}/portal/invitations/enrol`,
    csrf: csrfOf(services, token),
    ...{ email, emailFixed: true, isMember: true, passwordCharsMin: limits.passwordCharsMin },
    ...(wrong?.fields.displayName === undefined ? {} : { displayName: wrong.fields.displayName }),
    ...(wrong === undefined ? {} : { errors: wrong.errors }),
    logInUrl: `${services.baseUrl}/portal/invitations/log-in`,
  });
}
