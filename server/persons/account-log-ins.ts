/** How a person logs in and where it is logged in: sessions, passkeys, linked log-ins, the password. */
import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import {
  type LinkedIdentity,
  listIdentities,
  listPasskeys,
  passkeyRegistrationOptions,
  registerPasskey,
  removePasskey,
  unlinkIdentity,
} from '../accounts/index.ts';
import { Problem } from '../core/problems.ts';
import type { App } from '../http/fastify.ts';
import { endIssuerSessions, endOtherSessions, listIssuerSessions } from '../oidc/index.ts';
import { passkeyPage } from '../pages/index.ts';
import { endOwnSessions, listOwnSessions, ownSessionId } from '../portal/index.ts';
import {
  ACCOUNT,
  type AccountPageServices,
  asked,
  backTo,
  endingOf,
  notFound,
  type OwnVisit,
  ownPage,
  recently,
} from './account-visit.ts';

/** Log-ins at the issuer, and those that began by signing up for an invitation; the newest first. */
export async function sessionsOf({ oidc, accounts }: AccountPageServices, { visit, session }: OwnVisit) {
  const [atIssuer, own] = await Promise.all([
    listIssuerSessions(oidc, visit.code, session.account.id),
    listOwnSessions(accounts, visit.code, session.account),
  ]);
  const current = session.issuerSession?.toString('base64url') ?? ownSessionId(session.value);
  return [...atIssuer, ...own]
    .map((one) => ({ ...one, isCurrent: one.id === current }))
    .sort((a, b) => Number(b.isCurrent) - Number(a.isCurrent) || (a.since < b.since ? 1 : -1));
}

export async function passkeysOf({ accounts }: AccountPageServices, { visit, session }: OwnVisit) {
  const passkeys = await listPasskeys(accounts, visit.code, session.account.id);
  return passkeys.map(({ id, name, createdAt: since, usedAt }) => ({
    ...{ id, name, since },
    ...(usedAt === undefined ? {} : { lastUsed: usedAt }),
  }));
}

/** An IP address is no relying party of WebAuthn (Web Authentication section 5.1.2). */
export const takesPasskeys = ({ baseUrl }: Pick<AccountPageServices, 'baseUrl'>): boolean =>
  isIP(new URL(baseUrl).hostname.replace(/^\[|\]$/g, '')) === 0;

export async function identitiesOf({ accounts }: AccountPageServices, { visit, session }: OwnVisit) {
  const linked = await listIdentities(accounts, visit.code, session.account.id);
  const { issuers } = visit.tenant.snapshot.auth;
  return linked.map((identity) => ({
    ...{ id: idOf(identity), since: identity.createdAt, identity },
    name: issuers.get(identity.issuer)?.login?.displayName ?? URL.parse(identity.issuer)?.host ?? identity.issuer,
  }));
}

const idOf = ({ issuer, subject }: LinkedIdentity): string =>
  createHash('sha256')
    .update(JSON.stringify([issuer, subject]))
    .digest('base64url');

export function registerLogIns(app: App, services: AccountPageServices): void {
  registerSessions(app, services);
  registerPasskeys(app, services);
  registerIdentities(app, services);
}

function registerSessions(app: App, services: AccountPageServices): void {
  const { oidc, accounts } = services;
  ownPage(app, services, ['POST', '/sessions/end'], async (own) => {
    const { visit, session, fields } = own;
    const { id = '' } = fields;
    const ended =
      (await endIssuerSessions(oidc, endingOf(own), [id])) ||
      (await endOwnSessions(accounts, visit.code, session.account.id, { id }));
    return ended === 0 ? notFound() : backTo(own, 'ended');
  });
  ownPage(app, services, ['POST', '/sessions/end-others'], async (own) => {
    const { visit, session } = own;
    await endOtherSessions(oidc, endingOf(own), session.issuerSession?.toString('base64url'));
    await endOwnSessions(accounts, visit.code, session.account.id, { except: session.value });
    return backTo(own, 'ended');
  });
}

const PASSKEY_NEW = '/passkeys/new';

function registerPasskeys(app: App, services: AccountPageServices): void {
  const { accounts } = services;
  const show = async ({ visit, session }: OwnVisit, failed: boolean) => {
    if (!takesPasskeys(services)) return notFound();
    return visit.send(
      passkeyPage(visit.context, {
        ...{ action: visit.address(ACCOUNT + PASSKEY_NEW), csrf: visit.csrf(session.value), mode: 'register', failed },
        options: await passkeyRegistrationOptions(accounts, visit.code, session.account.id),
        otherWayUrl: visit.address(ACCOUNT),
      }),
      failed ? 400 : 200,
    );
  };
  const add = recently(services, 'passkey', (own) => show(own, false));
  ownPage(app, services, ['GET', PASSKEY_NEW], add);
  const added = recently(services, 'passkey', async (own) => {
    const { visit, session, fields } = own;
    const given = { account: session.account.id, name: fields.name?.trim() || undefined, requestId: visit.request.id };
    try {
      await registerPasskey(accounts, visit.code, { ...given, response: JSON.parse(fields.credential ?? '') });
    } catch (error) {
      const isRefused = error instanceof Problem && error.code === 'passkey_refused';
      if (error instanceof SyntaxError || isRefused) return show(own, true);
      throw error;
    }
    return backTo(own, 'passkey_added');
  });
  ownPage(app, services, ['POST', PASSKEY_NEW], added);
  const path = '/passkeys/end';
  const removed = recently(services, 'confirmed', async (own) => {
    const { visit, session, fields } = own;
    const one = (await passkeysOf(services, own)).find(({ id }) => id === fields.id) ?? notFound();
    const question = asked(own, { kind: 'passkey', subject: one.name, id: one.id, path });
    if (question !== undefined) return question;
    const given = { account: session.account.id, id: one.id, requestId: visit.request.id };
    return unlessLast(own, removePasskey(accounts, visit.code, given), 'ended');
  });
  ownPage(app, services, ['POST', path], removed);
}

function registerIdentities(app: App, services: AccountPageServices): void {
  const { accounts, linking } = services;
  const path = '/log-ins/end';
  const unlinked = recently(services, 'confirmed', async (own) => {
    const { visit, session, fields } = own;
    const one = (await identitiesOf(services, own)).find(({ id }) => id === fields.id) ?? notFound();
    const question = asked(own, { kind: 'log_in', subject: one.name, id: one.id, path });
    if (question !== undefined) return question;
    const { issuer, subject } = one.identity;
    const given = { account: session.account.id, issuer, subject, requestId: visit.request.id };
    return unlessLast(own, unlinkIdentity(accounts, visit.code, given), 'unlinked');
  });
  ownPage(app, services, ['POST', path], unlinked);
  const link = recently(services, 'confirmed', async ({ visit, session, fields }) => {
    const { upstream: id } = fields;
    const known = linking.available(visit.tenant.snapshot).some((one) => one.id === id);
    if (id === undefined || !known) return notFound();
    const { tenant, request, reply } = visit;
    return visit.leave(await linking.begin({ tenant, account: session.account, id, ip: request.ip, reply }));
  });
  ownPage(app, services, ['POST', '/log-ins/link'], link);
}

/** The last way to log in stays. */
async function unlessLast(own: OwnVisit, ending: Promise<void>, notice: 'ended' | 'unlinked') {
  try {
    await ending;
  } catch (error) {
    if (error instanceof Problem && error.code === 'last_login_method') return backTo(own, 'last_way');
    throw error;
  }
  return backTo(own, notice);
}
