/**
 * What a browser can show in a frame: a template with sample values, and the mails that the local outbox of `accord start` has
 * taken. HTML is a document of its own, which runs no scripts and loads nothing.
 */
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { roles } from '../core/auth/schema.ts';
import { escapeHtml } from '../core/escape-html.ts';
import { limits } from '../core/limits.ts';
import { type App, TenantParams } from '../http/fastify.ts';
import { listOutbox, readOutboxFile } from './outbox.ts';
import { asTemplateProblem, mailProblem } from './problems.ts';
import { chooseTemplate, writeMail } from './rendering.ts';
import type { MailRouteServices } from './routes.ts';
import { OutboxMailView, OutboxView, TemplateParams } from './schema.ts';
import { isBuiltIn, sampleVariables } from './variables.ts';

const readers = { access: { api: 'config', roles } } as const;
// Links of mails act for those who get them.
const admins = { access: { api: 'config', roles: ['security-admin'] } } as const;
const OutboxParams = Type.Object({ tenant: Type.String(), id: Type.String({ maxLength: 256 }) });

const POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'";

function htmlOf(reply: FastifyReply, html: string) {
  return reply
    .headers({ 'content-security-policy': POLICY, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
    .headers({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'SAMEORIGIN' })
    .type('text/html; charset=utf-8')
    .send(html);
}

export function registerPreviews(app: App, services: MailRouteServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/mail/templates/:name/:language/preview',
    config: readers,
    schema: {
      summary: 'Show a mail with sample values',
      produces: ['text/html'],
      description:
        'The HTML of the mail as a document for a frame, in the template that a mail in this language would be written by.',
      ...{ params: TemplateParams },
    },
    handler: async (request, reply) => {
      const { tenant, name, language } = request.params;
      const chosen = await services.database.tenantSnapshot(tenant, (tx) => chooseTemplate(tx, tenant, name, language));
      if (chosen === undefined) throw mailProblem('mail_template_not_found');
      const samples = isBuiltIn(name) ? sampleVariables(name, { application: 'Example', language }) : {};
      const { html, text } = await asTemplateProblem('', async () =>
        writeMail(name, chosen, samples, { isLenient: true }),
      );
      return htmlOf(reply, html ?? asHtml(text));
    },
  });
  registerOutbox(app, services);
}

/** A mail without an HTML part, as a document. */
function asHtml(text: string): string {
  return `<!doctype html><meta charset="utf-8"><title>Mail</title><pre style="white-space:pre-wrap">${escapeHtml(text)}</pre>`;
}

function registerOutbox(app: App, { outbox }: MailRouteServices): void {
  const mailOf = async ({ tenant, id }: { tenant: string; id: string }) => {
    const { directory } = outbox;
    const mail = directory === undefined ? undefined : await readOutboxFile(directory, id);
    // Files are of all tenants.
    if (mail === undefined || mail.tenant !== tenant) throw mailProblem('mail_message_not_found');
    const { at, to, subject, text, html } = mail;
    return { id, at, to, subject, text, html };
  };
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/mail/outbox',
    config: admins,
    schema: {
      summary: 'List the mails of the local outbox, newest first',
      description: 'Only `accord start` has an outbox: it sends nothing. Elsewhere isOutbox is false.',
      ...{ params: TenantParams, response: { 200: OutboxView } },
    },
    handler: async ({ params: { tenant } }) => {
      const { directory } = outbox;
      if (directory === undefined) return { isOutbox: false, mails: [] };
      const mails = await listOutbox(directory, limits.pageItemsMax, tenant);
      return { isOutbox: true, mails: mails.map(({ file: id, at, to, subject }) => ({ id, at, to, subject })) };
    },
  });
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/mail/outbox/:id',
    config: admins,
    schema: {
      summary: 'Read a mail of the local outbox',
      ...{ params: OutboxParams, response: { 200: OutboxMailView } },
    },
    handler: async ({ params }) => {
      const { html: _, ...mail } = await mailOf(params);
      return mail;
    },
  });
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/mail/outbox/:id/html',
    config: admins,
    schema: {
      summary: 'Show the HTML of a mail of the local outbox',
      produces: ['text/html'],
      ...{ params: OutboxParams },
    },
    handler: async ({ params }, reply) => {
      const { html, text } = await mailOf(params);
      return htmlOf(reply, html === '' ? asHtml(text) : html);
    },
  });
}
