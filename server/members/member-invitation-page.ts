/**
 * The page that an invitation's link opens: static, from three files, without anything from elsewhere. What it shows
 * is a secret, so it must not be stored, indexed, framed or sent as a referrer.
 */
import { readFileSync } from 'node:fs';
import type { App } from '../http/fastify.ts';

const file = (name: string) => readFileSync(new URL(`member-invitation-page/${name}`, import.meta.url), 'utf8');

const pages = [
  { url: '/portal/invitations', type: 'text/html; charset=utf-8', body: file('page.html') },
  { url: '/portal/invitations.css', type: 'text/css; charset=utf-8', body: file('style.css') },
  { url: '/portal/invitations.js', type: 'text/javascript; charset=utf-8', body: file('script.js') },
];

const headers = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Its form says its Origin ("no-referrer" makes that null); a fragment is in no referrer.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex, nofollow',
};

export function registerMemberInvitationPage(app: App): void {
  for (const { url, type, body } of pages) {
    app.route({
      method: 'GET',
      url,
      config: { access: { api: 'public' } },
      schema: { hide: true },
      handler: async (_, reply) => reply.headers(headers).type(type).send(body),
    });
  }
}
