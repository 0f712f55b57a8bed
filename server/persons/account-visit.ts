/** What the pages of a person's own account share: the session that they need, recent where it matters, and the forms of it. */
import type { FastifyReply } from 'fastify';
import type { ConsentServices } from '../consents/index.ts';
import { callerName } from '../core/auth/name.ts';
import type { App } from '../http/fastify.ts';
import type { InvitationServices, OwnContext } from '../invitations/index.ts';
import type { LinkHook } from '../oidc/index.ts';
import { type AccountNotice, type ConfirmProps, confirmPage, PageError, type Posted } from '../pages/index.ts';
import { isRecent, type Session } from '../portal/index.ts';
import { type PersonServices, personPage, type Visit } from './requests.ts';

export type AccountPageServices = PersonServices & {
  invitations: InvitationServices;
  consents: ConsentServices;
  linking: LinkHook;
};

export const ACCOUNT = '/account';
export const LOG_IN = '/account/log-in';

/** Somebody who is logged in, at a page of the own account. */
export type OwnVisit = { visit: Visit; session: Session; fields: Posted };
type Handler = (own: OwnVisit) => Promise<FastifyReply>;

/** A page of the own account. Whoever is not logged in, or not any more, does that first; nothing is done until then. */
export function ownPage(
  app: App,
  services: AccountPageServices,
  [method, path]: readonly ['GET' | 'POST', string],
  handler: Handler,
): void {
  personPage(
    app,
    services,
    [method, ACCOUNT + path],
    async (visit) => {
      const value = visit.readCookie('session');
      const fields = method === 'POST' && value !== undefined ? visit.fields(value) : {};
      const session = await visit.session();
      return session === undefined ? visit.goTo(LOG_IN) : handler({ visit, session, fields });
    },
    true,
  );
}

/** For what would harm if somebody else did it who found the browser open. */
export function recently(services: AccountPageServices, to: keyof typeof afterLogIn, handler: Handler): Handler {
  return async (own) =>
    isRecent(own.session, services.accounts.clock.now()) ? handler(own) : own.visit.goTo(logInAgain(to));
}

/** The addresses of the sharing page, by the word that the address of a log-in has. */
export const sharingPages = {
  shares: `${ACCOUNT}/sharing`,
  invitations: `${ACCOUNT}/sharing/invitations`,
  consents: `${ACCOUNT}/sharing/consents`,
} as const;
export type SharingPage = keyof typeof sharingPages;

/** Where a log-in leads, by the word that its address has: never elsewhere. */
export const afterLogIn = {
  ...sharingPages,
  account: ACCOUNT,
  confirmed: `${ACCOUNT}?notice=confirmed`,
  password: `${ACCOUNT}#change-password`,
  passkey: `${ACCOUNT}/passkeys/new`,
} as const;

export const logInAgain = (to: keyof typeof afterLogIn): string => `${LOG_IN}?again=1&to=${to}`;

export const backTo = ({ visit }: OwnVisit, notice: AccountNotice): FastifyReply =>
  visit.goTo(`${ACCOUNT}?notice=${notice}`);

/** @throws PageError: the person has no such thing, or somebody else has it */
export function notFound(): never {
  throw new PageError(404, { kind: 'not_found' });
}

/** Asks before something ends; undefined when that was asked and answered. */
export function asked(
  { visit, session, fields }: OwnVisit,
  { kind, subject, path, id }: Pick<ConfirmProps, 'kind' | 'subject' | 'id'> & { path: string },
): FastifyReply | undefined {
  if (fields.confirmed === '1') return undefined;
  const page = confirmPage(visit.context, {
    ...{ kind, subject, id, cancelUrl: visit.address(ACCOUNT) },
    ...{ action: visit.address(ACCOUNT + path), csrf: visit.csrf(session.value) },
  });
  return visit.send(page);
}

/** As the actions of other rooms know the person. */
export function contextOf({ visit, session }: OwnVisit): OwnContext {
  return { ...visit.asked, caller: visit.callerOf(session) };
}

/** As the issuer and the audit do. */
export function endingOf(own: OwnVisit) {
  const { visit, session } = own;
  const caller = visit.callerOf(session);
  const { type, id } = caller.actor;
  const by = { actor: callerName(caller), requestId: visit.request.id };
  return {
    ...{ tenant: visit.tenant.snapshot, account: id, name: `${type}/${id}` },
    author: { tenant: visit.code, by },
  };
}
