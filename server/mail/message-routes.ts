/** The Mail API of a tenant's back ends, its log, and what recipients and their mail servers answer. */
import { Type } from 'typebox';
import { shownId } from '../core/auth/mask.ts';
import type { Role } from '../core/auth/schema.ts';
import { idempotencyOf } from '../core/idempotency-key.ts';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import { UUID } from '../core/uuid.ts';
import { writerOf } from '../http/config-api.ts';
import { type App, memberOf, TenantParams } from '../http/fastify.ts';
import { recordViewers } from '../http/member-access.ts';
import {
  decodeCursor,
  decodeRecordCursor,
  encodeCursor,
  encodeRecordCursor,
  PAGE_ITEMS,
  PageQuery,
  pageOfRows,
} from '../http/paging.ts';
import { type Bounce, liftSuppression, readReport, recordBounce, sendMessage } from './messages.ts';
import { mailProblem } from './problems.ts';
import type { MailRouteServices } from './routes.ts';
import {
  AcceptedView,
  BounceBody,
  BounceView,
  MessageBody,
  MessagesPage,
  MessageView,
  SuppressionsPage,
} from './schema.ts';
import { listMessages, type MessageRow, readMessage } from './store.ts';
import { listSuppressions } from './suppression-store.ts';

const backends = { access: { api: 'management', scope: 'mail:send', users: false } } as const;
const admins = { access: { api: 'config', roles: ['security-admin'] } } as const;
const OneParams = Type.Object({ tenant: Type.String(), id: Type.String({ pattern: UUID.source }) });
const SuppressionParams = Type.Object({ tenant: Type.String(), id: Type.String({ maxLength: 64 }) });

export function registerMessageRoutes(app: App, services: MailRouteServices): void {
  registerSending(app, services);
  registerBounces(app, services);
  registerLog(app, services);
  registerSuppressions(app, services);
}

const backendOf = (request: { caller: unknown; id: string }) => {
  const { clientId } = request.caller as { clientId: string };
  return { actor: `client:${clientId}`, requestId: request.id };
};

function registerSending(app: App, services: MailRouteServices): void {
  app.route({
    method: 'POST',
    url: '/:tenant/mail/messages',
    config: { ...backends, idempotency: {} },
    bodyLimit: limits.mailMessageBodyBytesMax,
    schema: {
      summary: 'Send a mail of a template',
      description:
        'It is sent in the background. The template is the one of the tenant in the language, in a less specific one, in the language of the tenant or in that of the built-in one; else the built-in one.',
      ...{ params: TenantParams, body: MessageBody, response: { 202: AcceptedView } },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const author = { tenant, by: backendOf(request), ...idempotencyOf(request) };
      const { result: messageId, revision } = await sendMessage(services, author, request.body);
      reply.header('accord-revision', revision).header('location', `/${tenant}/mail/messages/${messageId}`);
      return reply.status(202).send({ messageId, status: 'waiting' as const });
    },
  });
  app.route({
    method: 'GET',
    url: '/:tenant/mail/messages/:id',
    config: backends,
    schema: { summary: 'Read what became of a mail', params: OneParams, response: { 200: MessageView } },
    handler: async ({ params: { tenant, id } }) => {
      const row = await services.database.read(tenant, (tx) => readMessage(tx, tenant, id));
      if (row === undefined) throw mailProblem('mail_message_not_found');
      return viewOf(row);
    },
  });
}

function viewOf(row: MessageRow) {
  const { id: messageId, template, language, recipient_mask: to, status, reason, answer, attempts } = row;
  return {
    ...{ messageId, template, to, status, attempts, createdAt: row.created_at },
    ...(language === null ? {} : { language }),
    ...(reason === null ? {} : { reason }),
    ...(answer === null ? {} : { answer }),
    ...(status === 'waiting' ? { nextAttemptAt: row.next_at } : {}),
    ...(row.settled_at === null ? {} : { settledAt: row.settled_at }),
  };
}

/** Support sees what became of a mail, and of the recipient nothing: not by a mask, nor in the words of a mail server. */
function shownTo(role: Role, row: MessageRow) {
  const { answer, ...view } = viewOf(row);
  return { ...view, to: shownId(role, view.to), ...(answer === undefined || role === 'support' ? {} : { answer }) };
}

function registerBounces(app: App, services: MailRouteServices): void {
  app.route({
    method: 'POST',
    url: '/:tenant/mail/bounces',
    config: backends,
    bodyLimit: limits.mailReportBytesMax,
    schema: {
      summary: 'Tell that a mail came back',
      description:
        'Either the report of the mail server, or messageId and kind. The address of a hard bounce and of a complaint gets no more mail.',
      ...{ params: TenantParams, body: BounceBody, response: { 200: BounceView } },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const { report, messageId, kind } = request.body;
      const stated = messageId === undefined || kind === undefined ? undefined : { messageId, kind };
      if ((report === undefined) === (stated === undefined))
        throw wrongBounce('', 'Either report, or messageId and kind.');
      const bounce = report === undefined ? stated : readReport(report);
      if (bounce === undefined)
        throw wrongBounce(
          '/report',
          'Must be a delivery status report (RFC 3464) of a mail of this service, with its headers.',
        );
      const { result: suppressed, revision } = await recordBounce(
        services,
        { tenant, by: backendOf(request) },
        bounce as Bounce,
      );
      reply.header('accord-revision', revision);
      return { messageId: (bounce as Bounce).messageId, suppressed };
    },
  });
}

function wrongBounce(pointer: string, detail: string) {
  return problem('invalid_request', { detail, errors: [{ pointer, detail }] });
}

function registerLog(app: App, services: MailRouteServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/mail/messages',
    config: recordViewers,
    schema: {
      summary: 'List mails, newest first, with masked addresses',
      description: 'Support sees neither masks nor what a mail server answered.',
      ...{ params: TenantParams, querystring: PageQuery, response: { 200: MessagesPage } },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const { limit = PAGE_ITEMS, cursor } = request.query;
      const before = cursor === undefined ? undefined : decodeRecordCursor(cursor, 'mails');
      const rows = await services.database.read(tenant, (tx) => listMessages(tx, tenant, { before, limit: limit + 1 }));
      const { page, onward } = pageOfRows({ request, reply }, rows, limit, (last) =>
        encodeRecordCursor({ at: last.created_at, id: last.id }, 'mails'),
      );
      const { role } = memberOf(request);
      return { messages: page.map((row) => shownTo(role, row)), ...onward };
    },
  });
}

function registerSuppressions(app: App, services: MailRouteServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/mail/suppressions',
    config: recordViewers,
    schema: {
      summary: 'List addresses that get no mail, masked',
      ...{ params: TenantParams, querystring: PageQuery, response: { 200: SuppressionsPage } },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const { limit = PAGE_ITEMS, cursor } = request.query;
      const after = cursor === undefined ? '' : decodeCursor(cursor, 'suppressions');
      const rows = await services.database.read(tenant, (tx) => listSuppressions(tx, tenant, after, limit + 1));
      const { page, onward } = pageOfRows({ request, reply }, rows, limit, (last) =>
        encodeCursor(last.recipient_digest, 'suppressions'),
      );
      const { role } = memberOf(request);
      const suppressions = page.map(({ recipient_digest: id, recipient_mask: to, reason, at }) => ({
        ...{ id, reason, at },
        ...(to === null ? {} : { to: shownId(role, to) }),
      }));
      return { suppressions, ...onward };
    },
  });
  app.route({
    method: 'DELETE',
    url: '/tenants/:tenant/mail/suppressions/:id',
    config: admins,
    schema: {
      summary: 'Send mail to an address again',
      ...{ params: SuppressionParams, response: { 204: Type.Null() } },
    },
    handler: async (request, reply) => {
      const { tenant, id } = request.params;
      const { actor, requestId } = writerOf(request);
      const { revision } = await liftSuppression(services, { tenant, by: { actor, requestId } }, id);
      return reply.header('accord-revision', revision).status(204).send(null);
    },
  });
}
