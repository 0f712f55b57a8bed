/** The pages of one tenant: its members, their invitations, and the person's own tokens. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { bounds, patterns } from '../../crds/index.ts';
import { roles } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import { comparableAddress } from '../core/mail-address.ts';
import { Problem } from '../core/problems.ts';
import { UUID } from '../core/uuid.ts';
import type { App } from '../http/fastify.ts';
import {
  inviteMember,
  listMemberInvitations,
  listMembers,
  listPortalTokens,
  type MemberRow,
  memberInvitationStatus,
  mintPortalToken,
  removeMember,
  revokeToken,
  withdrawMemberInvitation,
} from '../members/index.ts';
import {
  type InviteProps,
  invitationsPage,
  invitedPage,
  invitePage,
  membersPage,
  PageError,
  type PortalFrame,
  type Posted,
  sendPage,
  tokensPage,
} from '../pages/index.ts';
import type { Snapshots } from '../snapshot/index.ts';
import {
  contextOf,
  csrfOf,
  goTo,
  ownFields,
  type PortalPageServices,
  portalPage,
  readCookie,
  requireMember,
  requireSession,
} from './requests.ts';
import { isRecent, type Session } from './sessions.ts';

export type TenantRouteServices = PortalPageServices & {
  snapshots: Pick<Snapshots, 'get'>;
  members: Parameters<typeof mintPortalToken>[0] & Parameters<typeof inviteMember>[0];
};

/** A member at a page of a tenant. */
type Visit = {
  request: FastifyRequest;
  reply: FastifyReply;
  tenant: string;
  session: Session;
  member: MemberRow;
  fields: Posted;
};

type Page = (services: TenantRouteServices, visit: Visit) => Promise<FastifyReply>;

const TENANT = '/portal/tenants/:tenant';

export function registerTenantPages(app: App, services: TenantRouteServices): void {
  const page = (method: 'GET' | 'POST', path: string, handler: Page) =>
    portalPage(app, services, [method, `${TENANT}${path}`], async (request, reply) => {
      const fields = method === 'GET' ? {} : ownFields(services, request, readCookie(services, request, 'session'));
      const session = await requireSession(services, request);
      const { tenant } = request.params as { tenant: string };
      const member = await requireMember(services, tenant, session);
      return handler(services, { request, reply, tenant, session, member, fields });
    });
  page('GET', '', async (_, { request, reply, tenant, member }) =>
    goTo(services, request, reply, `/portal/tenants/${tenant}/${isAdmin(member) ? 'members' : 'tokens'}`),
  );
  page('GET', '/members', (_, visit) => showMembers(services, visit));
  page('POST', '/members/remove', remove);
  page('GET', '/invitations', showInvitations);
  page('GET', '/invitations/new', async (_, visit) => sendPage(visit.reply, invitation(services, visit, {})));
  page('POST', '/invitations', invite);
  page('POST', '/invitations/withdraw', withdraw);
  page('GET', '/tokens', (_, visit) => showTokens(services, visit));
  page('POST', '/tokens', mint);
  page('POST', '/tokens/revoke', revoke);
}

const isAdmin = ({ role }: MemberRow): boolean => role === 'security-admin';

/** @throws PageError: who else asks for a page of administrators */
function requireAdmin({ member }: Visit): void {
  if (!isAdmin(member)) throw new PageError(403, { kind: 'access_denied' });
}

function frameOf(
  services: TenantRouteServices,
  { tenant, session }: Visit,
  current: PortalFrame['current'],
): PortalFrame {
  const at = `${services.baseUrl}/portal/tenants/${tenant}`;
  return {
    csrf: csrfOf(services, session.value),
    email: session.account.email,
    tenant: { code: tenant, name: services.snapshots.get(tenant)?.spec.displayName ?? tenant },
    logOutAction: `${services.baseUrl}/portal/log-out`,
    current,
    urls: {
      ...{ members: `${at}/members`, invitations: `${at}/invitations`, tokens: `${at}/tokens` },
      tenants: `${services.baseUrl}/portal`,
    },
  };
}

async function showMembers(services: TenantRouteServices, visit: Visit, isRefused = false): Promise<FastifyReply> {
  requireAdmin(visit);
  const { request, reply, tenant, member: own } = visit;
  const rows = await services.accounts.database.read(tenant, (tx) =>
    listMembers(tx, tenant, { limit: limits.portalListItemsMax }),
  );
  const frame = frameOf(services, visit, 'members');
  const page = membersPage(contextOf(services, request), {
    frame,
    members: rows.map(({ id, email, role, created_at: createdAt }) => ({
      id,
      email,
      role,
      createdAt,
      isYou: id === own.id,
    })),
    removeAction: `${frame.urls.members}/remove`,
    inviteUrl: `${frame.urls.invitations}/new`,
    isRefused,
  });
  return sendPage(reply, page, isRefused ? 409 : 200);
}

async function remove(services: TenantRouteServices, visit: Visit): Promise<FastifyReply> {
  requireAdmin(visit);
  const { request, reply, tenant, member, fields } = visit;
  try {
    await removeMember(services.members, callerOf(tenant, member), idOf(fields), request.id);
  } catch (error) {
    if (error instanceof Problem && error.code === 'last_security_admin') return showMembers(services, visit, true);
    throw error;
  }
  return goTo(services, request, reply, `/portal/tenants/${tenant}/members`);
}

/** As the Config API knows the member. */
function callerOf(tenant: string, { id, email, role }: MemberRow) {
  return { kind: 'member', tenant, id, email, role, jti: '' } as const;
}

/** @throws PageError */
function idOf({ id }: Posted): string {
  if (id === undefined || !UUID.test(id)) throw new PageError(400, { kind: 'invalid_request' });
  return id;
}

async function showInvitations(services: TenantRouteServices, visit: Visit): Promise<FastifyReply> {
  requireAdmin(visit);
  const { request, reply, tenant } = visit;
  const rows = await services.accounts.database.read(tenant, (tx) =>
    listMemberInvitations(tx, tenant, { limit: limits.portalListItemsMax }),
  );
  const now = services.accounts.clock.now();
  const frame = frameOf(services, visit, 'invitations');
  const invitations = rows.map((row) => {
    const { id, email, role, expires_at: expiresAt } = row;
    return { id, email, role, expiresAt, status: memberInvitationStatus(row, now) };
  });
  const { invitations: at } = frame.urls;
  const actions = { withdrawAction: `${at}/withdraw`, inviteUrl: `${at}/new` };
  return sendPage(reply, invitationsPage(contextOf(services, request), { frame, invitations, ...actions }));
}

function invitation(services: TenantRouteServices, visit: Visit, shown: Partial<InviteProps>) {
  requireAdmin(visit);
  const frame = frameOf(services, visit, 'invitations');
  return invitePage(contextOf(services, visit.request), { frame, action: frame.urls.invitations, roles, ...shown });
}

async function invite(services: TenantRouteServices, visit: Visit): Promise<FastifyReply> {
  requireAdmin(visit);
  const { request, reply, tenant, member, fields } = visit;
  const { email = '', role: asked } = fields;
  const role = roles.find((one) => one === asked);
  const again = (status: number, wrong: Partial<InviteProps>) =>
    sendPage(reply, invitation(services, visit, { email, ...(role && { role }), ...wrong }), status);
  if (role === undefined) return again(400, { errors: { role: 'role_required' } });
  if (!isAddress(email)) return again(400, { errors: { email: email === '' ? 'email_required' : 'email_invalid' } });
  try {
    const by = { actor: `member:${member.email}`, requestId: request.id };
    const { language } = contextOf(services, request);
    const { result } = await inviteMember(services.members, tenant, { email, role, language }, by);
    const props = { frame: frameOf(services, visit, 'invitations'), email: result.email, url: result.url };
    return sendPage(reply, invitedPage(contextOf(services, request), props));
  } catch (error) {
    const problem = refusals[(error as Problem).code];
    if (problem === undefined) throw error;
    return again(409, { problem });
  }
}

const refusals: Partial<Record<string, NonNullable<InviteProps['problem']>>> = {
  member_invitation_exists: 'already_invited',
  member_invitation_quota_reached: 'too_many',
};

function isAddress(email: string): boolean {
  return (
    email.length <= bounds.emailCharsMax && new RegExp(patterns.email.source).test(email) && comparableAddress(email).ok
  );
}

async function withdraw(services: TenantRouteServices, visit: Visit): Promise<FastifyReply> {
  requireAdmin(visit);
  const { request, reply, tenant, member, fields } = visit;
  const by = { actor: `member:${member.email}`, requestId: request.id };
  await withdrawMemberInvitation(services.members, tenant, idOf(fields), by);
  return goTo(services, request, reply, `/portal/tenants/${tenant}/invitations`);
}

type Created = { token: string; expiresAt: string };

async function showTokens(services: TenantRouteServices, visit: Visit, minted?: Created): Promise<FastifyReply> {
  const { request, reply, tenant, member, session } = visit;
  const now = services.accounts.clock.now();
  const rows = await services.accounts.database.read(tenant, (tx) =>
    listPortalTokens(tx, tenant, {
      member: member.id,
      limit: limits.portalListItemsMax,
      now: new Date(now).toISOString(),
    }),
  );
  const frame = frameOf(services, visit, 'tokens');
  const at = frame.urls.tokens;
  const logInUrl = `${services.baseUrl}/portal/log-in?again=1&to=${encodeURIComponent(`/portal/tenants/${tenant}/tokens`)}`;
  const page = tokensPage(contextOf(services, request), {
    frame,
    createAction: at,
    revokeAction: `${at}/revoke`,
    ...(isRecent(session, now) ? {} : { logInAgainUrl: logInUrl }),
    ...(minted === undefined ? {} : { created: { ...minted, command: commandOf(services, tenant, minted.token) } }),
    tokens: rows.map(({ jti, created_at: createdAt, expires_at: expiresAt, revoked_at: revokedAt }) => ({
      ...{ jti, createdAt, expiresAt },
      isRevoked: revokedAt !== null,
    })),
  });
  return sendPage(reply, page, 200);
}

function commandOf({ baseUrl }: TenantRouteServices, tenant: string, token: string): string {
  return `curl -s ${baseUrl}/tenants/${tenant}/policies -H "authorization: Bearer ${token}"`;
}

async function mint(services: TenantRouteServices, visit: Visit): Promise<FastifyReply> {
  const { request, reply, tenant, member, session } = visit;
  if (!isRecent(session, services.accounts.clock.now())) {
    return goTo(services, request, reply, `/portal/tenants/${tenant}/tokens`);
  }
  const by = `member:${member.email}`;
  const { token, expiresAt } = await mintPortalToken(services.members, tenant, member, by);
  return showTokens(services, visit, { token, expiresAt });
}

async function revoke(services: TenantRouteServices, visit: Visit): Promise<FastifyReply> {
  const { request, reply, tenant, member, fields } = visit;
  await revokeToken(services.members, callerOf(tenant, member), idOf(fields), request.id);
  return goTo(services, request, reply, `/portal/tenants/${tenant}/tokens`);
}
