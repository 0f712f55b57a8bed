/**
 * HTML that is not ours, such as a mail, shown in a frame of the portal. A frame cannot send the portal's header, and a document that the
 * page makes itself (srcdoc, blob:) has the page's own policy, under which a mail's styles count for nothing. So the page posts the HTML
 * into the frame, and it comes back under a policy of its own: in an origin of its own, without scripts, forms or anything from elsewhere.
 * The request acts for nobody, reads nothing and is kept nowhere.
 */
import { limits } from '../core/limits.ts';
import type { App } from '../http/fastify.ts';
import { acceptForms, PageError, type Posted } from '../pages/index.ts';
import { type PortalPageServices, portalPage, requireSession } from './requests.ts';

const POLICY = [
  'sandbox',
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
].join('; ');

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': POLICY,
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  // No policy governs what a <link> has looked up by DNS.
  'x-dns-prefetch-control': 'off',
  'x-frame-options': 'SAMEORIGIN',
  'x-robots-tag': 'noindex, nofollow',
};

export function registerFrame(app: App, services: PortalPageServices): void {
  acceptForms(app, limits.portalFrameBytesMax, (own) => {
    const options = { bodyLimit: limits.portalFrameBytesMax };
    portalPage(
      own,
      services,
      ['POST', '/portal/frame'],
      async (request, reply) => {
        const { 'sec-fetch-site': site, 'sec-fetch-dest': dest, 'sec-fetch-mode': mode } = request.headers;
        // A browser that does not say so shows the HTML as text (portal/src/ui/html-frame.tsx).
        if (site !== 'same-origin' || dest !== 'iframe' || mode !== 'navigate')
          throw new PageError(403, { kind: 'forged' });
        await requireSession(services, request);
        const { html = '' } = (request.body ?? {}) as Posted;
        return reply.headers(headers).send(html);
      },
      options,
    );
  });
}
