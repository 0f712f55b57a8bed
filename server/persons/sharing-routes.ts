/**
 * The sharing page: the portal's web application in the tenant's own look, with what a person shares, its invitations and its
 * consents. It asks the management APIs as that person (caller.ts). Where it is not built, the page of the account does the same.
 */
import { randomBytes } from 'node:crypto';
import { escapeHtml } from '../core/escape-html.ts';
import type { App } from '../http/fastify.ts';
import { tenantOf } from '../http/fastify.ts';
import { brandColours, isShown, PageError, sharingHeaders, textsOf } from '../pages/index.ts';
import { openBundle } from '../portal/index.ts';
import type { PortalOptions } from '../room/room.ts';
import { ACCOUNT, type AccountPageServices, LOG_IN, type SharingPage, sharingPages } from './account-visit.ts';
import { callerOf, hasSharing, requireAccountSession } from './caller.ts';
import { personPage, type Visit } from './requests.ts';

export type SharingServices = AccountPageServices & { portal: PortalOptions };

export const SHARING = `${ACCOUNT}/sharing`;
const NONCE_BYTES = 16;

export function registerSharing(app: App, services: SharingServices): void {
  const bundle = openBundle(services.portal);
  for (const name of Object.keys(sharingPages) as SharingPage[])
    personPage(
      app,
      services,
      ['GET', sharingPages[name]],
      async (visit) => {
        if (!hasSharing(visit.tenant)) throw new PageError(404, { kind: 'not_found' });
        if ((await visit.session()) === undefined) return visit.goTo(`${LOG_IN}?to=${name}`);
        const document = await bundle.sharing();
        return document === undefined ? visit.goTo(ACCOUNT) : sendDocument(visit, document);
      },
      true,
    );
  app.route({
    method: 'GET',
    url: `/:tenant${SHARING}/session`,
    exposeHeadRoute: false,
    config: { access: { api: 'public', scarce: true } },
    schema: { hide: true },
    handler: async (request) => {
      const tenant = tenantOf(request);
      const session = await requireAccountSession(services, request.headers, tenant);
      const { email, emailVerified, displayName } = session.account;
      return {
        ...{
          email,
          emailVerified,
          ...(displayName === undefined ? {} : { displayName }),
          expiresAt: session.expiresAt,
        },
        actor: callerOf(services.baseUrl, tenant, session).actor,
        accountUrl: `${services.baseUrl}/${tenant.code}${ACCOUNT}`,
      };
    },
  });
}

function sendDocument(visit: Visit, document: string) {
  const nonce = randomBytes(NONCE_BYTES).toString('base64');
  const { brand, language, basePath } = visit.context;
  const { name, logo } = brand;
  const shown = { name, ...(isShown(logo) ? { logo } : {}), colours: brandColours(brand) };
  const literals: Record<string, string> = {
    NONCE: nonce,
    BASE: escapeHtml(basePath),
    TENANT: visit.code,
    BRAND: escapeHtml(JSON.stringify(shown)),
    NAME: escapeHtml(name),
    ACCOUNT: escapeHtml(textsOf(language).account.title),
  };
  const body = document.replaceAll(/__ACCORD_([A-Z]+)__/g, (text, literal: string) => literals[literal] ?? text);
  return visit.send({
    headers: sharingHeaders(nonce, { brand, language }),
    body: body.replace('<html lang="en">', `<html lang="${language}">`),
  });
}
