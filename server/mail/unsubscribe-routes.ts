/** The link of List-Unsubscribe: one click of a mail program is a POST (RFC 8058); people who open it are asked. */
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { escapeHtml } from '../core/escape-html.ts';
import { limits } from '../core/limits.ts';
import type { App } from '../http/fastify.ts';
import { acceptForms } from '../pages/index.ts';
import { unsubscribe } from './messages.ts';
import { mailProblem } from './problems.ts';
import type { MailRouteServices } from './routes.ts';
import { mailLanguageOf } from './rules.ts';
import { texts } from './texts.ts';
import { readUnsubscribe } from './unsubscribe.ts';

const Params = Type.Object({ tenant: Type.String(), token: Type.String({ maxLength: 128 }) });
const open = { access: { api: 'public', scarce: true } } as const;
const url = '/:tenant/mail/unsubscribe/:token';
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

export function registerUnsubscribe(app: App, services: MailRouteServices): void {
  const digestOf = ({ tenant, token }: { tenant: string; token: string }) => {
    const digest = readUnsubscribe(services.encrypter, tenant, token);
    if (digest === undefined) throw mailProblem('mail_unsubscribe_invalid');
    return digest;
  };
  acceptForms(app, limits.formBodyBytesMax, (own) => {
    own.route({
      ...{ method: 'GET', url, config: open, schema: { hide: true, params: Params } },
      handler: async (request, reply) => {
        digestOf(request.params);
        const words = texts[mailLanguageOf(request.headers['accept-language']?.split(/[,;]/, 1)[0])];
        const button = `<form method="post"><button type="submit">${escapeHtml(words.unsubscribe)}</button></form>`;
        return page(reply, button);
      },
    });
    own.route({
      ...{
        method: 'POST',
        url,
        config: open,
        bodyLimit: limits.formBodyBytesMax,
        schema: { hide: true, params: Params },
      },
      handler: async (request, reply) => {
        await unsubscribe(services, request.params.tenant, digestOf(request.params));
        const words = texts[mailLanguageOf(request.headers['accept-language']?.split(/[,;]/, 1)[0])];
        return page(reply, `<p>${escapeHtml(words.unsubscribed)}</p>`);
      },
    });
  });
}

function page(reply: FastifyReply, content: string) {
  const headers = { 'content-security-policy': POLICY, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };
  return reply
    .headers(headers)
    .type('text/html; charset=utf-8')
    .send(
      `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Mail</title><main style="font-family:system-ui,sans-serif;max-width:30em;margin:4em auto">${content}</main>`,
    );
}
