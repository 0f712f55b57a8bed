/** The pages of a log-in under way: who it is, and whether the application may have what it asks for. */
import { isIP } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Account, type AccountServices, readAccount } from '../accounts/index.ts';
import type { Access } from '../core/auth/schema.ts';
import type { Clock } from '../core/clock.ts';
import { limits } from '../core/limits.ts';
import type { App } from '../http/fastify.ts';
import type { InvitationServices } from '../invitations/index.ts';
import { acceptForms, consentPage, logInPage, PageError, sendPage } from '../pages/index.ts';
import type { WriteServices } from '../writes/index.ts';
import { registerAccountPages } from './account-pages.ts';
import { actingScope } from './audience.ts';
import { addClientConsent } from './client-consents.ts';
import { passwordAcr, scopesOfClaims } from './configuration.ts';
import { answerError, type FormServices, finish, finishLogIn, posted, type UnderWay, underWay } from './forms.ts';
import { registerSteps } from './interaction-steps.ts';
import type { UpstreamClient } from './upstream-client.ts';
import { logInButtons } from './upstream-issuers.ts';
import type { UpstreamRecords } from './upstream-records.ts';
import { linkPending, registerUpstream } from './upstream-steps.ts';

type LogInRequest = { email: string; password: string; network: string };
export type LoggedIn = { account: Pick<Account, 'id' | 'epoch'> } | { refused: string; retryAfterSeconds?: number };

export type InteractionServices = FormServices & {
  accounts: AccountServices;
  writes: WriteServices;
  clock: Clock;
  invitations: InvitationServices;
  upstream: UpstreamClient;
  upstreamRecords: UpstreamRecords;
  waitForRevision: (tenant: string, revision: number) => Promise<unknown>;
  logIn: (tenant: string, request: LogInRequest) => Promise<LoggedIn>;
  account: (tenant: string, id: string) => Promise<{ email: string; displayName?: string | undefined } | undefined>;
};

export function registerInteractions(app: App, services: InteractionServices): void {
  acceptForms(app, limits.formBodyBytesMax, (own) => {
    page(own, services, 'GET', '', show);
    page(own, services, 'POST', '/log-in', logIn);
    page(own, services, 'POST', '/consent', consent);
    page(own, services, 'POST', '/cancel', cancel);
    registerSteps(own, services);
    registerUpstream(own, services);
    registerAccountPages(own, services);
  });
}

export type PageHandler = (
  services: InteractionServices,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<FastifyReply>;

export function page(
  app: App,
  services: InteractionServices,
  method: 'GET' | 'POST',
  step: string,
  handler: PageHandler,
  access: Access = { api: 'public' },
): void {
  app.route({
    method,
    url: `/:tenant/oidc/interaction/:uid${step}`,
    exposeHeadRoute: false,
    ...(method === 'POST' ? { bodyLimit: limits.formBodyBytesMax } : {}),
    config: { access },
    schema: { hide: true },
    handler: (request, reply) => handler(services, request, reply).catch(answerError(services.baseUrl, request, reply)),
  });
}

const show: PageHandler = async (services, request, reply) => {
  const one = await underWay(services, request, reply);
  const { interaction } = one;
  if (interaction.prompt.name === 'consent') return askConsent(services, one, request, reply);
  return sendPage(reply, logInOf(one, await pendingOf(services, one)));
};

type Shown = Partial<Pick<Parameters<typeof logInPage>[1], 'email' | 'problem' | 'notice' | 'retryAfterSeconds'>>;

/** Of somebody who has proved an identity of another issuer, and not yet whose account it is linked to. */
async function pendingOf({ accounts, upstreamRecords }: InteractionServices, one: UnderWay): Promise<Shown> {
  const { tenant, interaction } = one;
  if (logInButtons(tenant).length === 0) return {};
  const pending = await upstreamRecords.pendingLink(tenant.tenant, interaction.uid);
  const account = pending && (await readAccount(accounts, tenant.tenant, pending.account));
  return account === undefined ? {} : { email: account.email, notice: 'link' };
}

export function logInOf(one: UnderWay, shown: Shown) {
  const { context, interaction, form, clientName, tenant, address, firstTime } = one;
  const upstreams = logInButtons(tenant);
  const { login_hint: hint } = interaction.params as { login_hint?: string };
  return logInPage(context, {
    ...form('log-in'),
    clientName,
    ...(hint === undefined ? {} : { email: hint }),
    cancelAction: form('cancel').action,
    // An IP address is no relying party of WebAuthn (Web Authentication section 5.1.2).
    ...(isIP(new URL(address).hostname.replace(/^\[|\]$/g, '')) ? {} : { passkeyUrl: `${address}/passkey` }),
    ...(upstreams.length === 0 ? {} : { upstreams, upstreamAction: form('upstream').action }),
    ...(firstTime === undefined ? {} : { firstTime }),
    resetUrl: `${address}/reset`,
    ...(tenant.spec.login?.selfRegistration === 'open' ? { signUpUrl: `${address}/sign-up` } : {}),
    ...shown,
  });
}

const logIn: PageHandler = async (services, request, reply) => {
  const { one, fields } = await posted(services, request, reply, 'log-in');
  const { email = '', password = '' } = fields;
  const result = await services.logIn(one.tenant.tenant, { email, password, network: request.ip });
  if ('refused' in result) {
    const { retryAfterSeconds } = result;
    const page = logInOf(one, {
      email,
      problem: 'credentials',
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    });
    return sendPage(reply, page, 401);
  }
  await linkPending(services, one, result.account, request);
  return finishLogIn(services, one, request, reply, { account: result.account, amr: ['pwd'], acr: passwordAcr });
};

async function askConsent(
  services: InteractionServices,
  one: UnderWay,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { interaction, tenant, context, form, clientName } = one;
  const client = tenant.clients.get(String(interaction.params.client_id));
  // Whose redirect another app on the device could receive is shown to the user each time (RFC 8252 section 8.6).
  const isAsked = !client?.firstParty || interaction.prompt.reasons.includes('native_client_prompt');
  if (!isAsked) return finish(one, request, reply, { consent: {} });
  const account = await services.account(tenant.tenant, String(interaction.session?.accountId));
  if (account === undefined) throw new PageError(400, { kind: 'expired' });
  const { email, displayName } = account;
  const props = {
    ...form('consent'),
    clientName,
    redirectHost: hostOf(interaction.params.redirect_uri),
    account: { email, ...(displayName === undefined ? {} : { displayName }) },
    scopes: askedScopes(one).map((name) => ({ name })),
  };
  const { redirectHost, ...others } = props;
  return sendPage(reply, consentPage(context, redirectHost === undefined ? others : { ...others, redirectHost }));
}

function hostOf(uri: unknown): string | undefined {
  return (typeof uri === 'string' && URL.parse(uri)?.host) || undefined;
}

type Missing = {
  missingOIDCScope?: string[];
  missingOIDCClaims?: string[];
  missingResourceScopes?: Record<string, string[]>;
  missingAudiences?: string[];
};

/** What is asked for at audiences: their scopes, and to act for the person there. */
function missingAt({ missingResourceScopes = {}, missingAudiences = [] }: Missing): Record<string, string[]> {
  const resources = { ...missingResourceScopes };
  for (const resource of missingAudiences) resources[resource] = [...(resources[resource] ?? []), actingScope];
  return resources;
}

/** What is new; where the application wants the person to be asked in any case, all that it asks for. */
function askedScopes({ interaction, tenant }: UnderWay): string[] {
  const details = interaction.prompt.details as Missing;
  const { missingOIDCScope = [], missingOIDCClaims = [] } = details;
  const missing = [
    ...missingOIDCScope,
    ...scopesOfClaims(missingOIDCClaims),
    ...Object.values(missingAt(details)).flat(),
  ];
  const { scope, client_id: clientId, resource, claims } = interaction.params as Record<string, string | undefined>;
  if (!interaction.prompt.reasons.includes('consent_prompt')) return [...new Set(missing)];
  const client = tenant.clients.get(clientId ?? '');
  const asked = (scope ?? '').split(' ').filter((one) => client?.scopes?.includes(one));
  const acts = resource !== undefined && client?.firstParty !== true ? [actingScope] : [];
  return [...new Set([...asked, ...scopesOfClaims(claimsIn(claims)), ...missing, ...acts])];
}

/** The names in the parameter `claims`, which the library has checked. */
function claimsIn(parameter: string | undefined): string[] {
  const members = parameter === undefined ? {} : (JSON.parse(parameter) as Record<string, object | null>);
  return Object.values(members)
    .flatMap((one) => Object.keys(one ?? {}))
    .filter((claim) => claim !== 'sub');
}

const consent: PageHandler = async (services, request, reply) => {
  const { one, fields } = await posted(services, request, reply, 'consent');
  if (fields.decision !== 'allow') return refuse(one, request, reply, 'the user did not consent');
  const { provider, interaction } = one;
  const details = interaction.prompt.details as Missing;
  const { missingOIDCScope: scopes = [], missingOIDCClaims: claims = [] } = details;
  const resources = missingAt(details);
  const { accountId } = interaction.session ?? {};
  const clientId = String(interaction.params.client_id);
  const isFirstParty = one.tenant.clients.get(clientId)?.firstParty === true; // vouched for by the tenant
  const found = interaction.grantId === undefined ? undefined : await provider.Grant.find(interaction.grantId);
  const grant = found ?? new provider.Grant({ clientId, ...(accountId === undefined ? {} : { accountId }) });
  if (scopes.length > 0) grant.addOIDCScope(scopes.join(' '));
  if (claims.length > 0) grant.addOIDCClaims(claims);
  for (const [resource, allowed] of Object.entries(resources)) grant.addResourceScope(resource, allowed.join(' '));
  const grantId = await grant.save();
  if (!isFirstParty)
    await addClientConsent(
      services,
      { tenant: one.tenant.tenant, account: String(accountId), clientId },
      { scopes, claims, resources },
      { actorType: one.tenant.spec.tokenMapping.defaultActorType, requestId: request.id },
    );
  return finish(one, request, reply, { consent: { grantId } });
};

const cancel: PageHandler = async (services, request, reply) => {
  // The page has one token for its forms.
  const { one } = await posted(services, request, reply, 'log-in');
  return refuse(one, request, reply, 'the user cancelled the log-in');
};

function refuse(one: UnderWay, request: FastifyRequest, reply: FastifyReply, why: string): Promise<FastifyReply> {
  return finish(one, request, reply, { error: 'access_denied', error_description: why }, false);
}
