/** The Config API of mail: templates, settings, and a mail to try them. */
import { shownName } from '../core/auth/mask.ts';
import { type Role, roles } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import { apiOwner, describeOwner } from '../core/ownership.ts';
import { problem } from '../core/problems.ts';
import { answerWritten, Empty, etagOf, IfMatch, preconditionsOf, WriteHeaders, writerOf } from '../http/config-api.ts';
import { type App, memberOf, TenantParams, tenantOf } from '../http/fastify.ts';
import { readTenant } from '../tenants/index.ts';
import { invalidMail, sendMessage } from './messages.ts';
import { asTemplateProblem, mailProblem } from './problems.ts';
import { chooseTemplate, writeMail, writeOwn } from './rendering.ts';
import type { MailRouteServices } from './routes.ts';
import { mailLanguageOf, mailLanguages } from './rules.ts';
import {
  AcceptedView,
  PreviewBody,
  PreviewView,
  SettingsBody,
  SettingsView,
  TemplateBody,
  TemplateParams,
  TemplatesView,
  TemplateView,
  TestBody,
} from './schema.ts';
import { sendingOf } from './settings.ts';
import { checkTemplate, deleteTemplate, putSettings, putTemplate, usedVariables } from './template-actions.ts';
import { loadTemplates, readSettings, readTemplate, type TemplateRow, type TemplateSpec } from './template-store.ts';
import { sourceOf } from './templates.ts';
import { texts } from './texts.ts';
import { builtIn, isBuiltIn, sampleVariables, shownVariables, wrongVariables } from './variables.ts';

const readers = { access: { api: 'config', roles } } as const;
const writers = { access: { api: 'config', roles: ['security-admin', 'config-editor'] } } as const;
const admins = { access: { api: 'config', roles: ['security-admin'] } } as const;
const url = '/tenants/:tenant/mail/templates/:name/:language';

export function registerTemplateRoutes(app: App, services: MailRouteServices): void {
  registerReading(app, services);
  registerWriting(app, services);
  registerPreview(app, services);
  registerSettings(app, services);
}

function registerReading(app: App, { database }: MailRouteServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/mail/templates',
    config: readers,
    schema: {
      summary: 'List mail templates: those of the tenant, and the built-in ones',
      params: TenantParams,
      response: { 200: TemplatesView },
    },
    handler: async ({ params: { tenant } }) => {
      const own = await database.read(tenant, (tx) => loadTemplates(tx, tenant));
      const is = (name: string, language: string) => own.some((row) => row.name === name && row.language === language);
      const others = Object.keys(builtIn).flatMap((name) =>
        mailLanguages.filter((language) => !is(name, language)).map((language) => ({ name, language, builtIn: true })),
      );
      const owns = own.map(({ name, language, owner }) => {
        return { name, language, builtIn: false, managedBy: describeOwner(owner) };
      });
      return { templates: [...owns, ...others] };
    },
  });
  app.route({
    method: 'GET',
    url,
    config: readers,
    schema: { summary: 'Read a mail template', params: TemplateParams, response: { 200: TemplateView } },
    handler: async (request, reply) => {
      const { tenant, name, language } = request.params;
      const row = await database.read(tenant, (tx) => readTemplate(tx, tenant, { name, language }));
      if (row !== undefined) reply.header('etag', etagOf(row.revision));
      const displayName = tenantOf(request).newest?.spec.displayName ?? tenant;
      return viewOf({ name, language }, row, { role: memberOf(request).role, displayName });
    },
  });
}

type Reader = { role: Role; displayName: string };

/** @throws Problem mail_template_not_found */
function viewOf(
  { name, language }: { name: string; language: string },
  row: TemplateRow | undefined,
  { role, displayName }: Reader,
) {
  const samples = isBuiltIn(name) ? { samples: sampleVariables(name, { application: displayName, language }) } : {};
  if (row !== undefined) {
    const { spec, revision, updated_at: updatedAt, updated_by, owner } = row;
    const updatedBy = shownName(role, updated_by);
    const about = { revision, updatedAt, updatedBy, managedBy: describeOwner(owner) };
    const variables = isBuiltIn(name) ? Object.keys(builtIn[name].variables) : usedVariables(spec);
    return { name, language, ...spec, builtIn: false, variables, ...samples, ...about };
  }
  const words = mailLanguages.find((one) => one === language);
  if (!isBuiltIn(name) || words === undefined) throw mailProblem('mail_template_not_found');
  const variables = Object.keys(builtIn[name].variables);
  return { name, language, ...sourceOf(name, words), builtIn: true, variables, ...samples };
}

function registerWriting(app: App, services: MailRouteServices): void {
  app.route({
    method: 'PUT',
    url,
    config: writers,
    bodyLimit: limits.mailTemplateBodyBytesMax,
    schema: {
      summary: 'Create or replace a mail template of the tenant',
      ...{ params: TemplateParams, headers: WriteHeaders, body: TemplateBody, response: { 200: Empty } },
    },
    handler: async (request, reply) => {
      const { tenant, name, language } = request.params;
      const one = { name, language, spec: request.body };
      const written = await putTemplate(services, writerOf(request), tenant, one, preconditionsOf(request.headers));
      return answerWritten(reply, services, tenant, { revision: written.revision, object: written.result.revision });
    },
  });
  app.route({
    method: 'DELETE',
    url,
    config: writers,
    schema: {
      summary: 'Remove a mail template of the tenant',
      ...{ params: TemplateParams, headers: IfMatch, response: { 200: Empty } },
    },
    handler: async (request, reply) => {
      const { tenant, ...key } = request.params;
      const written = await deleteTemplate(services, writerOf(request), tenant, key, preconditionsOf(request.headers));
      return answerWritten(reply, services, tenant, written);
    },
  });
}

function registerPreview(app: App, { database }: MailRouteServices): void {
  app.route({
    method: 'POST',
    url: `${url}/preview`,
    config: readers,
    bodyLimit: limits.mailTemplateBodyBytesMax,
    schema: {
      summary: 'Render a mail template',
      description:
        'What is rendered is the template of the body, or else the one that a mail in this language would be written by. Variables of a built-in mail that are not given have samples.',
      ...{ params: TemplateParams, body: PreviewBody, response: { 200: PreviewView } },
    },
    handler: async ({ params: { tenant, name, language }, body }) => {
      const { variables = {}, lenient: isLenient = false, ...parts } = body;
      const samples = isBuiltIn(name) ? sampleVariables(name, { application: 'Example', language }) : {};
      const given = { ...samples, ...variables };
      const [wrong, ...more] = isBuiltIn(name) ? wrongVariables(name, given) : [];
      if (wrong !== undefined) throw invalidMail(wrong, ...more);
      return asTemplateProblem('/variables', async () => {
        if (parts.subject !== undefined) {
          checkTemplate({ name, language }, parts);
          const words = mailLanguageOf(language);
          const shown = isBuiltIn(name) ? shownVariables(name, words, given as never, texts[words].somebody) : given;
          return { ...writeOwn(name, parts as TemplateSpec, shown, { isLenient }), language };
        }
        const chosen = await database.tenantSnapshot(tenant, (tx) => chooseTemplate(tx, tenant, name, language));
        if (chosen === undefined) throw mailProblem('mail_template_not_found');
        return writeMail(name, chosen, given, { isLenient });
      });
    },
  });
}

function registerSettings(app: App, services: MailRouteServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/mail/settings',
    config: readers,
    schema: { summary: 'Read the mail settings', params: TenantParams, response: { 200: SettingsView } },
    handler: async ({ params: { tenant } }, reply) => {
      const { row, settings, sending } = await services.database.tenantSnapshot(tenant, async (tx) => {
        const row = await readTenant(tx, tenant);
        if (row === undefined) throw problem('tenant_not_found');
        return { row, settings: await readSettings(tx, tenant), sending: await sendingOf(services, tx, row) };
      });
      if (settings !== undefined) reply.header('etag', etagOf(settings.revision));
      const via: 'none' | 'tenant' | 'installation' =
        sending === undefined ? 'none' : sending.server.isTenants ? 'tenant' : 'installation';
      const sender = sending === undefined ? {} : { sender: sending.from.address };
      const { mail } = row.spec;
      if (mail !== undefined) return { from: mail.from, via, ...sender, managedBy: describeOwner(row.owner) };
      return { ...settings?.spec, via, ...sender, managedBy: describeOwner(apiOwner) };
    },
  });
  app.route({
    method: 'PUT',
    url: '/tenants/:tenant/mail/settings',
    config: admins,
    bodyLimit: limits.smallBodyBytesMax,
    schema: {
      summary: 'Set the sender of mail',
      description: "409 if the Tenant's spec.mail states it.",
      ...{ params: TenantParams, headers: WriteHeaders, body: SettingsBody, response: { 200: Empty } },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const written = await putSettings(
        services,
        writerOf(request),
        tenant,
        request.body,
        preconditionsOf(request.headers),
      );
      return answerWritten(reply, services, tenant, { revision: written.revision, object: written.result.revision });
    },
  });
  app.route({
    method: 'POST',
    url: '/tenants/:tenant/mail/test',
    config: admins,
    bodyLimit: limits.mailMessageBodyBytesMax,
    schema: {
      summary: 'Send a mail of a template with sample values',
      description:
        "Variables of a built-in mail that are not given have samples. A template of the tenant's own names needs each variable that it uses.",
      ...{ params: TenantParams, body: TestBody, response: { 202: AcceptedView } },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const { actor, requestId } = writerOf(request);
      const author = { tenant, by: { actor, requestId } };
      const { result: messageId } = await sendMessage(services, author, request.body, { isTest: true });
      return reply.status(202).send({ messageId, status: 'waiting' as const });
    },
  });
}
