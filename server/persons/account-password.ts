/** Changing the password of one's own account, or choosing a first one. */
import type { FastifyReply } from 'fastify';
import { changePassword } from '../accounts/index.ts';
import type { App } from '../http/fastify.ts';
import { fieldErrorsOf } from '../oidc/index.ts';
import type { FieldErrors } from '../pages/index.ts';
import { beginSession } from '../portal/index.ts';
import { type AccountPageServices, backTo, type OwnVisit, ownPage, recently } from './account-visit.ts';

type Show = (own: OwnVisit, errors: FieldErrors<'currentPassword' | 'password'>) => Promise<FastifyReply>;

/** @param show the page, with what is wrong */
export function registerPassword(app: App, services: AccountPageServices, show: Show): void {
  const changed = recently(services, 'password', async (own) => {
    const { visit, session, fields } = own;
    const { accounts } = services;
    const given = {
      ...{ account: session.account.id, current: fields.currentPassword ?? '', password: fields.password ?? '' },
      ...{ network: visit.request.ip, requestId: visit.request.id },
    };
    let result: Awaited<ReturnType<typeof changePassword>>;
    try {
      result = await changePassword(accounts, visit.code, given);
    } catch (error) {
      const errors = fieldErrorsOf(error);
      if (errors?.password === undefined) throw error;
      return show(own, { password: errors.password });
    }
    if ('refused' in result) {
      if (result.retryAfterSeconds !== undefined) visit.reply.header('retry-after', result.retryAfterSeconds);
      return show(own, { currentPassword: 'password_wrong' });
    }
    await services.oidc.waitForRevision(visit.code, result.revision);
    // All sessions have ended with the password, this one too: who knew both goes on in a new one.
    const device = visit.device;
    visit.setCookie(
      'session',
      await beginSession(accounts, visit.code, result.account, accounts.clock.now(), { device }),
    );
    return backTo(own, 'saved');
  });
  ownPage(app, services, ['POST', '/password'], changed);
}
