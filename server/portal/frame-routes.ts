/**
 * What pages of the portal show in a frame: HTML that is not ours, and a log-in page in colours that are not saved yet.
 *
 * HTML that is not ours, such as a mail, shown in a frame of the portal. A frame cannot send the portal's header, and a document that the
 * page makes itself (srcdoc, blob:) has the page's own policy, under which a mail's styles count for nothing. So the page posts the HTML
 * into the frame, and it comes back under a policy of its own: in an origin of its own, without scripts, forms or anything from elsewhere.
 * The request acts for nobody, reads nothing and is kept nowhere.
 */
import { limits } from '../core/limits.ts';
import type { App } from '../http/fastify.ts';
import {
  acceptForms,
  languageOf,
  logInPage,
  PageError,
  type Posted,
  type RenderedPage,
  sendPage,
} from '../pages/index.ts';
import { basePathOf, type PortalPageServices, portalPage, requireSession } from './requests.ts';

const POLICY = [
  'sandbox',
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
].join('; ');

/** A page of ours, in which nothing acts: it loads its style sheet and the logo, as the real one does. */
const LOG_IN_SANDBOX = 'sandbox allow-same-origin';

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
    framed(own, services, '/portal/frame', ({ html = '' }) => ({ headers, body: html }));
    framed(own, services, '/portal/frame/log-in', (fields) => logInLook(fields, basePathOf(services.baseUrl)));
  });
}

function framed(app: App, services: PortalPageServices, url: string, render: (fields: Posted) => RenderedPage): void {
  const options = { bodyLimit: limits.portalFrameBytesMax };
  portalPage(
    app,
    services,
    ['POST', url],
    async (request, reply) => {
      const { 'sec-fetch-site': site, 'sec-fetch-dest': dest, 'sec-fetch-mode': mode } = request.headers;
      // In a browser that does not say so the frame says that this was not asked for by a page of ours.
      if (site !== 'same-origin' || dest !== 'iframe' || mode !== 'navigate')
        throw new PageError(403, { kind: 'forged' });
      await requireSession(services, request);
      return sendPage(reply, render((request.body ?? {}) as Posted));
    },
    options,
  );
}

/** A log-in page of a tenant with this brand. What is no colour or no address of a logo is left out, as on the real page. */
function logInLook({ name = '', logo, colour, background, language, scheme }: Posted, basePath: string): RenderedPage {
  const brand = {
    name,
    ...(logo ? { logo } : {}),
    ...(colour ? { colour } : {}),
    ...(background ? { background } : {}),
  };
  const context = {
    ...{ brand, language: languageOf(language) ?? 'en', basePath },
    ...(scheme === 'light' || scheme === 'dark' ? { scheme: scheme as 'light' | 'dark' } : {}),
  };
  const page = logInPage(context, { action: '', csrf: '', resetUrl: '#', signUpUrl: '#', isPreview: true });
  const policy = (page.headers['content-security-policy'] as string)
    .replace("form-action 'self'", "form-action 'none'")
    .replace("frame-ancestors 'none'", "frame-ancestors 'self'");
  return {
    body: page.body,
    headers: {
      ...page.headers,
      'content-security-policy': `${LOG_IN_SANDBOX}; ${policy}`,
      'x-frame-options': 'SAMEORIGIN',
    },
  };
}
