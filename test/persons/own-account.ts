/** People of a tenant that shares cars, at the pages of their accounts, in browsers without JavaScript. */
import { signUp } from '../../server/accounts/index.ts';
import type { Clock } from '../../server/core/clock.ts';
import type { PortalOptions } from '../../server/room/room.ts';
import type { TenantSpec } from '../../server/tenants/index.ts';
import { Browser, type Page } from '../helpers/browser.ts';
import { createTestServer } from '../helpers/server.ts';
import { invitingTenant } from '../invitations/inviting.ts';
import { configClient } from '../policies/config-client.ts';

export const password = 'correct horse battery staple';

/** The real time, which log-ins at the issuer have, and what a test adds to it. */
class ShiftedClock implements Clock {
  shiftMs = 0;
  now = () => Date.now() + this.shiftMs;
  monotonic = () => performance.now();
}

export async function accountServer(spec: Partial<TenantSpec> = {}, portal?: PortalOptions) {
  const clock = new ShiftedClock();
  const server = await createTestServer({}, undefined, clock, portal);
  const cars = await invitingTenant(server, spec);
  const { tenant } = cars;
  await server.services.snapshots.refresh(tenant);
  const account = `/${tenant}/account`;
  let number = 0;

  async function logIn(email: string, browser = new Browser(server), at = account): Promise<Page> {
    return browser.submit(await browser.get(at), '/log-in', { email, password });
  }
  return {
    ...{ server, cars, tenant, clock, account, logIn },
    accounts: server.services.accounts,
    /** Somebody with an account, logged in. */
    async person() {
      const email = `person${number++}@example.com`;
      const made = await signUp(server.services.accounts, tenant, { email, password, invitedEmail: email });
      if (made.status !== 'created') throw new Error(made.status);
      const browser = new Browser(server);
      const page = await logIn(email, browser);
      const { id } = made.account;
      return {
        ...{ email, id, browser, page },
        show: () => browser.get(account),
        /** Ends something of the page, and says yes where it is asked. */
        async end(action: string, fields: Record<string, string>): Promise<Page> {
          const shown = await browser.get(account);
          const [, csrf = ''] = /name="csrf" value="([^"]*)"/.exec(shown.html) ?? [];
          const asked = await browser.post(account + action, { csrf, ...fields });
          return asked.html.includes('name="confirmed"') ? browser.submit(asked, action, { confirmed: '1' }) : asked;
        },
      };
    },
    /** A definition with a text, in effect. */
    async define(name: string, title: string) {
      const config = await configClient(server, tenant, 'config-editor');
      const put = async (path: string, body: object) => {
        const answer = await config('PUT', `/consent-definitions/${name}${path}`, { body });
        if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
      };
      await put('', {});
      await put('/versions/1', { optInConfig: { type: 'direct' } });
      const effectiveDate = new Date(clock.now() + 1000).toISOString();
      const content = { title, mediaType: 'text/plain', body: 'We use it.' };
      await put('/versions/1/documents/en/1.0', { effectiveDate, content });
      clock.shiftMs += 1000;
      await server.services.snapshots.refresh(tenant);
    },
  };
}

/** The ids of a list of the page, by the action of its forms. */
export function idsOf({ html }: Page, action: string): string[] {
  return [...html.matchAll(/<form method="post" action="([^"]*)">(.*?)<\/form>/gs)].flatMap(
    ([, at = '', inside = '']) => (at.endsWith(action) ? [/name="id" value="([^"]*)"/.exec(inside)?.[1] ?? ''] : []),
  );
}
