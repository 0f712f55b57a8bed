/** Linking an identity of another issuer from a person's own page: the account is proved there, the identity here. */
import { createHash, randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { identityProof, linkIdentity, readAccount } from '../accounts/index.ts';
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problems.ts';
import { type RequestTenant, tenantOf } from '../http/fastify.ts';
import { cookieOf, keepCookie, PageError } from '../pages/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import { queryOf } from './forms.ts';
import type { InteractionServices } from './interactions.ts';
import { ownPagesHome } from './own-pages.ts';
import { UpstreamError } from './upstream-client.ts';
import { isLogInIssuer, issuerOf, logInButtons, logInIssuers } from './upstream-issuers.ts';

type LinkServices = Pick<InteractionServices, 'upstream' | 'upstreamRecords' | 'accounts' | 'baseUrl'>;

/** What a person's own page needs to link log-ins of other issuers. */
export type LinkHook = {
  /** Issuers to log in by, of the tenant as it is served. */
  available(tenant: TenantSnapshot): readonly { id: string; name: string }[];
  /**
   * Begins the log-in at the issuer for an account whose owner has just proved to be that.
   * @param asked `id`: of `available`; on `reply` a cookie is set
   * @returns the address to send the browser to; it comes back to the account's page, with `notice`
   * @throws PageError when the issuer is not there to log in by, or does not answer
   */
  begin(asked: {
    tenant: RequestTenant;
    account: { id: string; epoch: number };
    id: string;
    /** Of the browser. */
    ip: string;
    reply: FastifyReply;
  }): Promise<string>;
};

export function linkHook(services: LinkServices): LinkHook {
  return {
    available: (tenant) => logInButtons(tenant),
    async begin({ tenant, account, id, ip, reply }) {
      const issuer = logInIssuers(tenant.snapshot).find(({ name }) => name === id);
      if (issuer === undefined) throw new PageError(404, { kind: 'not_found', code: 'issuer_not_found' });
      const asker = { tenant: tenant.code, ip };
      const { url, checks } = await services.upstream.begin(asker, issuer, false).catch((error: unknown) => {
        if (!(error instanceof UpstreamError)) throw error;
        throw new PageError(502, { kind: 'unavailable', code: 'upstream_unavailable' });
      });
      const value = randomBytes(32).toString('base64url');
      await services.upstreamRecords.begin(tenant.code, {
        ...{ ...checks, name: issuer.name, issuer: issuer.issuer, clientId: issuer.login.clientId },
        purpose: { link: { account: account.id, epoch: account.epoch, browser: hashOf(value) } },
      });
      keepCookie(reply, cookieFor(services, tenant.code), value);
      return url;
    },
  };
}

const hashOf = (value: string) => createHash('sha256').update(value).digest('base64url');

function cookieFor({ baseUrl }: Pick<LinkServices, 'baseUrl'>, tenant: string) {
  const secure = baseUrl.startsWith('https:');
  const path = `${new URL(baseUrl).pathname.replace(/\/$/, '')}/${tenant}/oidc/upstream`;
  return { name: `${secure ? '__Secure-' : ''}accord_link`, path, maxAgeMs: limits.upstreamLogInTtlMs, secure };
}

/** The issuer has sent the browser back. */
export async function finishLink(
  services: LinkServices,
  request: FastifyRequest,
  reply: FastifyReply,
  state: string,
): Promise<FastifyReply> {
  const { snapshot, code: tenant } = tenantOf(request);
  const cookie = cookieFor(services, tenant);
  const browser = cookieOf(request.headers.cookie, cookie.name);
  const begun = await services.upstreamRecords.take(tenant, state);
  const link = begun !== undefined && 'link' in begun.purpose ? begun.purpose.link : undefined;
  // Another browser's: whoever was sent here would link somebody else's identity, or its own to somebody else's account.
  if (begun === undefined || link === undefined || browser === undefined || link.browser !== hashOf(browser))
    throw new PageError(400, { kind: 'expired' });
  keepCookie(reply, cookie, undefined);
  const back = (notice: string) => reply.redirect(`${services.baseUrl}${ownPagesHome(tenant)}?notice=${notice}`, 303);
  const issuer = issuerOf(snapshot, begun);
  if (issuer === undefined) return back('link_failed');
  try {
    const { identity } = await services.upstream.complete({ tenant, ip: request.ip }, issuer, begun, queryOf(request));
    const account = await readAccount(services.accounts, tenant, link.account);
    if (account?.epoch !== link.epoch) return back('link_failed');
    const { token } = await identityProof(services.accounts, tenant, { account: account.id, identity });
    await linkIdentity(services.accounts, tenant, {
      ...{ token, account: account.id, requestId: request.id },
      isEnabled: (one) => isLogInIssuer(snapshot, one),
    });
    return back('linked');
  } catch (error) {
    if (error instanceof Problem && error.code === 'identity_linked') return back('link_taken');
    if (error instanceof UpstreamError || (error instanceof Problem && error.status < 500)) return back('link_failed');
    throw error;
  }
}
