/** The Config API of accounts: whom the tenant's own issuer lets log in. People's own pages are the issuer's. */
import { Type } from 'typebox';
import type { Role } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import { UUID } from '../core/uuid.ts';
import { answerWritten, type ConfigServing, Empty, writerOf } from '../http/config-api.ts';
import { type App, memberOf, TenantParams } from '../http/fastify.ts';
import { decodeCursor, encodeCursor, notACursor, PAGE_ITEMS, pageOfRows, pageQuery } from '../http/paging.ts';
import { deleteAccount, mailResetByMember, setAccountEnabled } from './administration.ts';
import { accountProblem } from './problems.ts';
import { accountOf, maskedAddress, searchPrefix } from './rules.ts';
import { AccountBody, type AccountRow, AccountView } from './schema.ts';
import type { AccountServices } from './services.ts';
import { listAccounts, listAccountsById, readAccountRow } from './store.ts';

const AccountParams = Type.Object({ tenant: Type.String(), id: Type.String({ maxLength: 64 }) });
const Query = Type.Object(
  {
    ...pageQuery,
    prefix: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.accountPrefixCharsMax,
        description: 'Only accounts whose address begins so. Not for the support desk.',
      }),
    ),
  },
  { additionalProperties: false },
);

const readers = { access: { api: 'config', roles: ['security-admin', 'config-editor', 'support'] } } as const;
const writers = { access: { api: 'config', roles: ['security-admin'] } } as const;
const LIST = 'accounts';

type AccountRouteServices = AccountServices & ConfigServing;

export function registerAccountRoutes(app: App, services: AccountRouteServices): void {
  registerList(app, services);
  registerReading(app, services);
  registerChanges(app, services);
  registerReset(app, services);
}

function registerList(app: App, services: AccountRouteServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/accounts',
    config: readers,
    schema: {
      summary: 'List the accounts of end users',
      description:
        'By address; for the support desk by id, because the order of addresses that it does not see would tell them.',
      params: TenantParams,
      querystring: Query,
      response: { 200: Type.Object({ accounts: Type.Array(AccountView), cursor: Type.Optional(Type.String()) }) },
    },
    handler: async (request, reply) => {
      const { tenant } = request.params;
      const { role } = memberOf(request);
      const { limit = PAGE_ITEMS, cursor, prefix } = request.query;
      const order: Order = role === 'support' ? 'id' : 'email';
      const page = {
        ...(prefix === undefined ? {} : { prefix: searchPrefix(role, prefix) }),
        ...(cursor === undefined ? {} : { after: positionIn(services, placeOfCursor(tenant, order), cursor) }),
        limit: limit + 1,
      };
      const list = order === 'id' ? listAccountsById : listAccounts;
      const rows = await services.database.read(tenant, (tx) => list(tx, tenant, page));
      const { page: shown, onward } = pageOfRows({ request, reply }, rows, limit, (last) =>
        cursorAt(services, placeOfCursor(tenant, order), last[order]),
      );
      return { accounts: shown.map((row) => view(row, role)), ...onward };
    },
  });
}

/** By which the list is sorted. */
type Order = 'email' | 'id';
/** A cursor is of one order: in the other it is none. */
const placeOfCursor = (tenant: string, order: Order) => ['account', tenant, `cursor by ${order}`];

/** A cursor holds an address or an id, which not every reader of the list may know: encrypted. */
function cursorAt({ encrypter }: AccountServices, place: string[], last: string): string {
  return encodeCursor(encrypter.encrypt(Buffer.from(last), place).toString('base64url'), LIST);
}

function positionIn({ encrypter }: AccountServices, place: string[], cursor: string): string {
  try {
    return encrypter.decrypt(Buffer.from(decodeCursor(cursor, LIST), 'base64url'), place).toString();
  } catch {
    throw notACursor();
  }
}

function registerReading(app: App, services: AccountRouteServices): void {
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/accounts/:id',
    config: { access: { api: 'config', roles: ['security-admin', 'config-editor'] } },
    schema: { summary: 'Read an account', params: AccountParams, response: { 200: AccountView } },
    handler: async (request) => {
      const { tenant, id } = request.params;
      const row = UUID.test(id)
        ? await services.database.read(tenant, (tx) => readAccountRow(tx, tenant, id))
        : undefined;
      if (row === undefined) throw accountProblem('account_not_found');
      return view(row, memberOf(request).role);
    },
  });
}

function registerChanges(app: App, services: AccountRouteServices): void {
  app.route({
    method: 'PUT',
    url: '/tenants/:tenant/accounts/:id',
    config: writers,
    bodyLimit: limits.smallBodyBytesMax,
    schema: {
      summary: 'Disable or enable an account',
      description: 'Disabling ends its sessions, and refuses its tokens from the next request on.',
      params: AccountParams,
      body: AccountBody,
      response: { 200: Empty },
    },
    handler: async (request, reply) => {
      const { tenant, id } = request.params;
      const { enabled } = request.body;
      const { revision } = await setAccountEnabled(services, tenant, { id, enabled }, writerOf(request));
      return answerWritten(reply, services, tenant, { revision });
    },
  });
  app.route({
    method: 'DELETE',
    url: '/tenants/:tenant/accounts/:id',
    config: writers,
    schema: {
      summary: 'Delete an account',
      description:
        'With its passkeys and linked log-ins. Relationships and consents of the actor stay: POST /{tenant}/actors/{type}/{id}/erase removes all of the person.',
      params: AccountParams,
      response: { 200: Empty },
    },
    handler: async (request, reply) => {
      const { tenant, id } = request.params;
      const { revision } = await deleteAccount(services, tenant, id, writerOf(request));
      return answerWritten(reply, services, tenant, { revision });
    },
  });
}

function registerReset(app: App, services: AccountRouteServices): void {
  app.route({
    method: 'POST',
    url: '/tenants/:tenant/accounts/:id/reset',
    config: writers,
    bodyLimit: limits.strayBodyBytesMax,
    schema: {
      summary: 'Mail a link for a new password to the account',
      params: AccountParams,
      response: { 200: Empty },
    },
    handler: async (request, reply) => {
      const { tenant, id } = request.params;
      const { revision } = await mailResetByMember(services, tenant, id, writerOf(request));
      reply.header('accord-revision', revision);
      return {};
    },
  });
}

function view(row: AccountRow, role: Role): AccountView {
  const { epoch: _, ...account } = accountOf(row);
  if (role !== 'support') return account;
  const { displayName: __, ...rest } = account;
  return { ...rest, id: '***', email: maskedAddress(row.email) };
}
