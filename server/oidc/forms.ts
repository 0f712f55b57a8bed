/** What the pages of a log-in under way share: the interaction behind an address, its forms, and how they are answered. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Interaction, Provider } from 'oidc-provider';
import { type Account, type AccountServices, readAccount } from '../accounts/index.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { portalTenant } from '../core/portal-tenant.ts';
import { tenantOf } from '../http/fastify.ts';
import {
  csrfToken,
  type FirstTime,
  isOwnForm,
  leaveFor,
  type PageContext,
  PageError,
  type Posted,
  redirectPage,
  sendErrorPage,
  sendPage,
} from '../pages/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import { withOwnPages } from './own-pages.ts';
import { pageContext } from './page-sources.ts';
import type { Providers } from './providers.ts';

export type FormServices = {
  baseUrl: string;
  encrypter: Encrypter;
  providers: Providers;
  /** What prints a link by which somebody at this machine logs in at the portal; undefined: there are none. */
  logInCommand: string | undefined;
};

/** A log-in under way, of the browser that began it. */
export type UnderWay = {
  tenant: TenantSnapshot;
  provider: Provider;
  interaction: Interaction;
  context: PageContext;
  /** The address of its page. */
  address: string;
  /** Of the form that is posted to a step of it. */
  form(step: string): { action: string; csrf: string };
  clientName: string;
  /** Of a log-in of members: how they get in for the first time. */
  firstTime: FirstTime | undefined;
};

export function csrfKey(encrypter: Encrypter, { tenant, tenantCreatedAt }: TenantSnapshot): Buffer {
  return Buffer.from(encrypter.digest(Buffer.from(tenantCreatedAt), ['oidc', tenant, 'forms']));
}

/** @throws PageError when it is over, or another browser's */
export async function underWay(
  { baseUrl, encrypter, providers, logInCommand }: FormServices,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<UnderWay> {
  const tenant = withOwnPages(tenantOf(request).snapshot, baseUrl);
  const { uid } = request.params as { uid: string };
  const { provider } = await providers.of(tenant);
  const interaction = await provider.interactionDetails(request.raw, reply.raw).catch(() => undefined);
  if (interaction === undefined || interaction.uid !== uid) throw new PageError(400, { kind: 'expired' });
  const { client_id: clientId, ui_locales: uiLocales } = interaction.params as Record<string, string | undefined>;
  const client = tenant.clients.get(clientId ?? '');
  if (!client?.enabled) throw new PageError(400, { kind: 'invalid_request', code: 'invalid_client' });
  const address = `${baseUrl}/${tenant.tenant}/oidc/interaction/${uid}`;
  const key = csrfKey(encrypter, tenant);
  return {
    ...{ tenant, provider, interaction, address },
    context: pageContext(baseUrl, tenant, { uiLocales, acceptLanguage: request.headers['accept-language'] }),
    form: (step) => ({ action: `${address}/${step}`, csrf: csrfToken(key, uid, step) }),
    clientName: client.displayName ?? client.clientId,
    firstTime: tenant.tenant !== portalTenant ? undefined : (logInCommand && { command: logInCommand }) || 'invitation',
  };
}

/** The same, for a form that is posted to a step of it. @throws PageError also for a form that we did not show to this browser */
export async function posted(services: FormServices, request: FastifyRequest, reply: FastifyReply, step: string) {
  const one = await underWay(services, request, reply);
  const fields = (request.body ?? {}) as Posted;
  const isOwn = isOwnForm({
    key: csrfKey(services.encrypter, one.tenant),
    uid: one.interaction.uid,
    place: step,
    presented: fields.csrf,
    ...{ headers: request.headers, baseUrl: services.baseUrl },
  });
  if (!isOwn) throw new PageError(403, { kind: 'forged' });
  return { one, fields };
}

/** Whom the result of an interaction logs in (finishLogIn). */
export function loggedInOf(result: unknown): Pick<Account, 'id' | 'epoch'> | undefined {
  const { login } = (result ?? {}) as { login?: { accountId: string; epoch: number } };
  return login && { id: login.accountId, epoch: login.epoch };
}

/** The interaction has its result: the browser goes on to the application, or to what is still missing. */
export async function finish(
  { provider, context }: UnderWay,
  request: FastifyRequest,
  reply: FastifyReply,
  result: Parameters<Provider['interactionResult']>[2],
  merge = true,
): Promise<FastifyReply> {
  const url = await provider.interactionResult(request.raw, reply.raw, result, { mergeWithLastSubmission: merge });
  return leaveFor(url, request, reply, () => context);
}

/** `ts`: seconds, when the person was asked; without it, now. */
type Proved = { account: Pick<Account, 'id' | 'epoch'>; amr: string[]; acr: string; ts?: number };

/**
 * Somebody has proved whose account it is.
 * @throws PageError when that is worth nothing any more, because the account has changed since
 */
export async function finishLogIn(
  { accounts }: { accounts: Pick<AccountServices, 'database' | 'clock'> },
  one: UnderWay,
  request: FastifyRequest,
  reply: FastifyReply,
  { account, ...proof }: Proved,
): Promise<FastifyReply> {
  const { provider, context, interaction, tenant } = one;
  const login = { accountId: account.id, epoch: account.epoch, ts: Math.floor(accounts.clock.now() / 1000), ...proof };
  const url = await provider.interactionResult(request.raw, reply.raw, { login });
  // A change before this is seen here; one after it ends the log-in under way itself (forgetAccount).
  const now = await readAccount(accounts, tenant.tenant, account.id);
  if (now?.epoch === account.epoch) return sendPage(reply, redirectPage(context, url));
  await interaction.destroy();
  throw new PageError(400, { kind: 'expired' });
}

/** The query of a request as it came, with its question mark. */
export function queryOf({ raw }: FastifyRequest): string {
  const url = raw.url ?? '';
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at);
}

/** For what a page throws: an error of a page is a page. */
export function answerError(baseUrl: string, request: FastifyRequest, reply: FastifyReply) {
  const acceptLanguage = request.headers['accept-language'];
  return (error: unknown) =>
    sendErrorPage(error, request, reply, () => pageContext(baseUrl, tenantOf(request).snapshot, { acceptLanguage }));
}
