/** The names that a person gives on its account page: its own, and those of its passkeys. */
import type { FastifyReply } from 'fastify';
import { changeDisplayName, renamePasskey } from '../accounts/index.ts';
import { Problem } from '../core/problems.ts';
import type { App } from '../http/fastify.ts';
import { fieldErrorsOf } from '../oidc/index.ts';
import { type NameProps, namePage } from '../pages/index.ts';
import { passkeysOf } from './account-log-ins.ts';
import { ACCOUNT, type AccountPageServices, backTo, notFound, type OwnVisit, ownPage } from './account-visit.ts';

export const NAME = '/name';
export const PASSKEY_NAME = '/passkeys/name';

type Asked = Pick<NameProps, 'kind'> & Partial<Pick<NameProps, 'id' | 'name' | 'errors'>>;

function show({ visit, session }: OwnVisit, path: string, asked: Asked): FastifyReply {
  const form = { action: visit.address(ACCOUNT + path), csrf: visit.csrf(session.value) };
  const page = namePage(visit.context, { ...form, cancelUrl: visit.address(ACCOUNT), ...asked });
  return visit.send(page, asked.errors === undefined ? 200 : 400);
}

export function registerNames(app: App, services: AccountPageServices): void {
  const { accounts } = services;
  ownPage(app, services, ['GET', NAME], async (own) => {
    const { displayName: name } = own.session.account;
    return show(own, NAME, { kind: 'own', ...(name === undefined ? {} : { name }) });
  });
  ownPage(app, services, ['POST', NAME], async (own) => {
    const { visit, session, fields } = own;
    const { name = '' } = fields;
    const given = { account: session.account.id, name, requestId: visit.request.id };
    try {
      await changeDisplayName(accounts, visit.code, given);
    } catch (error) {
      const wrong = fieldErrorsOf(error)?.displayName;
      if (wrong === undefined) throw error;
      return show(own, NAME, { kind: 'own', name, errors: { name: wrong } });
    }
    return backTo(own, 'saved');
  });
  ownPage(app, services, ['GET', PASSKEY_NAME], async (own) => {
    const { id: asked } = own.visit.request.query as { id?: string };
    const { id, name } = (await passkeysOf(services, own)).find((one) => one.id === asked) ?? notFound();
    return show(own, PASSKEY_NAME, { kind: 'passkey', id, name });
  });
  ownPage(app, services, ['POST', PASSKEY_NAME], async (own) => {
    const { visit, session, fields } = own;
    const { id = '', name = '' } = fields;
    const given = { account: session.account.id, id, name, requestId: visit.request.id };
    try {
      await renamePasskey(accounts, visit.code, given);
    } catch (error) {
      const isName = error instanceof Problem && error.errors?.[0]?.pointer === '/name';
      if (!isName) throw error;
      const wrong = name.trim() === '' ? 'name_required' : 'passkey_name_invalid';
      return show(own, PASSKEY_NAME, { kind: 'passkey', id, name, errors: { name: wrong } });
    }
    return backTo(own, 'saved');
  });
}
