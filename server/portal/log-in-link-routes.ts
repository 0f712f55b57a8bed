/** The page of the link that `accord start` prints. To open it changes nothing: its button posts the token. */
import type { FastifyRequest } from 'fastify';
import type { App } from '../http/fastify.ts';
import { logInLinkPage, PageError, type Posted, sendPage } from '../pages/index.ts';
import type { PortalOptions } from '../room/room.ts';
import type { WriteServices } from '../writes/index.ts';
import { logInLinkPath, useLogInLink } from './log-in-links.ts';
import { contextOf, goTo, isOwnPost, type PortalPageServices, portalPage, replaceSession } from './requests.ts';

const GONE = 410;

export function registerLogInLink(
  app: App,
  services: PortalPageServices & { members: WriteServices; portal: PortalOptions },
): void {
  const page = (request: FastifyRequest, isGone: boolean) =>
    logInLinkPage(contextOf(services, request), {
      ...{ action: `${services.baseUrl}${logInLinkPath}`, isGone },
      command: services.portal.logInCommand,
    });
  portalPage(app, services, ['GET', logInLinkPath], async (request, reply) => sendPage(reply, page(request, false)));
  portalPage(app, services, ['POST', logInLinkPath], async (request, reply) => {
    // Nobody has a cookie yet that the token of a form could go with.
    if (!isOwnPost(services, request)) throw new PageError(403, { kind: 'forged' });
    const { code = '' } = (request.body ?? {}) as Posted;
    const done = await useLogInLink(services, code.trim(), request.id);
    if (done === undefined) return sendPage(reply, page(request, true), GONE);
    await replaceSession(services, request, reply, done.session);
    return goTo(services, request, reply, `/portal/t/${done.tenant}/overview`);
  });
}
