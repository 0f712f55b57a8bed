/** Logging in by another issuer: the button of the log-in page, the way back, and what becomes of who comes back. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { linkIdentity, logInWithIdentity } from '../accounts/index.ts';
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problems.ts';
import { type App, tenantOf } from '../http/fastify.ts';
import { type OpenedInvitation, openInvitation } from '../invitations/index.ts';
import { cookieOf, PageError, redirectPage, sendPage } from '../pages/index.ts';
import { upstreamAcr } from './configuration.ts';
import { answerError, finishLogIn, posted, queryOf, type UnderWay, underWay } from './forms.ts';
import { type InteractionServices, logInOf, type PageHandler, page } from './interactions.ts';
import { ownPagesClient, ownPagesCookie } from './own-pages.ts';
import { UpstreamError, type UpstreamFailure, type UpstreamPerson } from './upstream-client.ts';
import { isLogInIssuer, issuerOf, type LogInIssuer, logInIssuers } from './upstream-issuers.ts';
import { finishLink } from './upstream-link.ts';

export function registerUpstream(app: App, services: InteractionServices): void {
  // Either asks the other issuer, and anybody may begin a log-in.
  const scarce = { api: 'public', scarce: true } as const;
  page(app, services, 'POST', '/upstream', begin, scarce);
  page(app, services, 'GET', '/upstream', complete, scarce);
  app.route({
    method: 'GET',
    url: '/:tenant/oidc/upstream/:issuer/callback',
    exposeHeadRoute: false,
    config: { access: scarce },
    schema: { hide: true },
    handler: (request, reply) =>
      comeBack(services, request, reply).catch(answerError(services.baseUrl, request, reply)),
  });
}

/** Texts of the log-in page (`logIn.problems`), and the status of the page. */
const shownFailures = {
  unavailable: ['upstream_unavailable', 502],
  cancelled: ['upstream_cancelled', 400],
  stale: ['upstream_stale', 400],
  refused: ['upstream_failed', 400],
} as const satisfies Record<UpstreamFailure, readonly [string, number]>;

const begin: PageHandler = async (services, request, reply) => {
  // The page has one token for its forms.
  const { one, fields } = await posted(services, request, reply, 'log-in');
  const { tenant, interaction, context } = one;
  const issuer = logInIssuers(tenant).find(({ name }) => name === fields.upstream);
  if (issuer === undefined) return showLogIn(one, reply, 'upstream_gone', 404);
  try {
    const { url, checks } = await services.upstream.begin(
      { tenant: tenant.tenant, ip: request.ip },
      issuer,
      asksAnew(one),
    );
    const { name, login } = issuer;
    const begun = { ...checks, name, issuer: issuer.issuer, clientId: login.clientId };
    await services.upstreamRecords.begin(tenant.tenant, { ...begun, purpose: { uid: interaction.uid } });
    return sendPage(reply, redirectPage(context, url, login.displayName));
  } catch (error) {
    return failed(one, reply, error);
  }
};

/** Whether the application wants the person to prove anew who it is: an old session of the issuer will not do. */
function asksAnew({ interaction }: UnderWay): boolean {
  const { max_age: maxAge, prompt } = interaction.params as { max_age?: unknown; prompt?: unknown };
  return (
    maxAge !== undefined ||
    String(prompt ?? '')
      .split(' ')
      .includes('login')
  );
}

/** The issuer sends the browser here. Its answer goes to the step that has the cookies of what is under way. */
async function comeBack(services: InteractionServices, request: FastifyRequest, reply: FastifyReply) {
  const { code } = tenantOf(request);
  const { state } = request.query as { state?: unknown };
  const { issuer } = request.params as { issuer: string };
  const isState = typeof state === 'string' && state.length <= limits.upstreamStateCharsMax;
  const begun = isState ? await services.upstreamRecords.find(code, state) : undefined;
  // Another issuer's answer at this one's address is a mix-up (RFC 9700 section 4.4.2).
  if (begun === undefined || begun.name !== issuer) throw new PageError(400, { kind: 'expired' });
  const { purpose } = begun;
  if ('link' in purpose) return finishLink(services, request, reply, begun.state);
  return reply.redirect(
    `${services.baseUrl}/${code}/oidc/interaction/${encodeURIComponent(purpose.uid)}/upstream${queryOf(request)}`,
    303,
  );
}

const complete: PageHandler = async (services, request, reply) => {
  const one = await underWay(services, request, reply);
  const { tenant, interaction } = one;
  const { state } = request.query as { state?: unknown };
  const isState = typeof state === 'string' && state.length <= limits.upstreamStateCharsMax;
  const begun = isState ? await services.upstreamRecords.take(tenant.tenant, state) : undefined;
  // Replayed, or of a log-in that another browser or another application began.
  if (begun === undefined || !('uid' in begun.purpose) || begun.purpose.uid !== interaction.uid)
    return showLogIn(one, reply, 'upstream_failed', 400);
  const issuer = issuerOf(tenant, begun);
  if (issuer === undefined) return showLogIn(one, reply, 'upstream_gone', 403);
  let person: UpstreamPerson;
  try {
    const asker = { tenant: tenant.tenant, ip: request.ip };
    person = await services.upstream.complete(asker, issuer, begun, queryOf(request));
  } catch (error) {
    return failed(one, reply, error);
  }
  return logInAs(services, one, request, reply, person);
};

async function logInAs(
  services: InteractionServices,
  one: UnderWay,
  request: FastifyRequest,
  reply: FastifyReply,
  { identity, authenticatedAt }: UpstreamPerson,
): Promise<FastifyReply> {
  const { tenant, interaction } = one;
  const { email } = identity;
  const isInvited = (await invitationOf(services, one, request))?.isContact(email) ?? false;
  const result = await logInWithIdentity(services.accounts, tenant.tenant, {
    identity,
    isEnabled: (issuer) => isLogInIssuer(tenant, issuer),
    ...(isInvited ? { invitedEmail: email } : {}),
    requestId: request.id,
  });
  if ('account' in result) {
    const { account } = result;
    await linkPending(services, one, account, request);
    // When the issuer asked the person, if it says so: an old session there is none of now.
    const nowSeconds = Math.floor(services.clock.now() / 1000);
    const ts = Math.min(authenticatedAt ?? nowSeconds, nowSeconds);
    return finishLogIn(services, one, request, reply, { account, amr: ['fed'], acr: upstreamAcr, ts });
  }
  if ('prove' in result) {
    const { account, token, email: address } = result.prove;
    const { name } = logInIssuers(tenant).find((issuer) => issuer.issuer === identity.issuer) as LogInIssuer;
    await services.upstreamRecords.keepLink(tenant.tenant, interaction.uid, { account, token, name });
    return sendPage(reply, logInOf(one, { email: address, notice: 'link' }));
  }
  const refusal = 'refuse' in result ? result.refuse : 'account_refused';
  return showLogIn(one, reply, shownRefusals[refusal], 403);
}

const shownRefusals = {
  issuer_disabled: 'upstream_gone',
  email_unverified: 'upstream_unverified',
  sign_up_closed: 'upstream_closed',
  account_refused: 'upstream_no_access',
} as const;

/** The invitation that the person is about to answer: it lets the invited address sign up. */
async function invitationOf(
  { invitations, baseUrl }: InteractionServices,
  { interaction, tenant }: UnderWay,
  request: FastifyRequest,
): Promise<OpenedInvitation | undefined> {
  if (interaction.params.client_id !== ownPagesClient) return undefined;
  const code = cookieOf(request.headers.cookie, ownPagesCookie(baseUrl, 'invitation'));
  if (code === undefined) return undefined;
  try {
    return await openInvitation(invitations, tenant.tenant, code);
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return undefined;
    throw error;
  }
}

/**
 * Somebody has proved to be whose account it is. The identity that it proved before in this log-in is linked to it, if it is the
 * account that has the address.
 */
export async function linkPending(
  { accounts, upstreamRecords }: InteractionServices,
  { tenant, interaction }: UnderWay,
  account: { id: string },
  request: FastifyRequest,
): Promise<void> {
  if (logInIssuers(tenant).length === 0) return;
  const pending = await upstreamRecords.pendingLink(tenant.tenant, interaction.uid);
  if (pending === undefined || pending.account !== account.id) return;
  await linkIdentity(accounts, tenant.tenant, {
    ...{ token: pending.token, account: account.id, requestId: request.id },
    isEnabled: (issuer) => isLogInIssuer(tenant, issuer),
  });
}

type LogInProblem = NonNullable<Parameters<typeof logInOf>[1]['problem']>;

function failed(one: UnderWay, reply: FastifyReply, error: unknown) {
  if (!(error instanceof UpstreamError)) throw error;
  const [problem, status] = shownFailures[error.failure];
  return showLogIn(one, reply, problem, status);
}

function showLogIn(one: UnderWay, reply: FastifyReply, problem: LogInProblem, status: number): FastifyReply {
  return sendPage(reply, logInOf(one, { problem }), status);
}
