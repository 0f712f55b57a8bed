/** Members who accept invitations and log in at the portal, in browsers without a screen. */
import { inviteMember } from '../../server/members/index.ts';
import { Browser, type Page } from '../helpers/browser.ts';
import type { TestServer } from '../helpers/server.ts';

export const password = 'correct horse battery staple';

export type Role = 'security-admin' | 'config-editor' | 'config-viewer' | 'support';

export const cookiesOf = (browser: Browser) => browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');

export function enrolling(server: TestServer) {
  let people = 0;
  const newAddress = () => `person${people++}@team.example`;

  async function invited(tenant: string, role: Role, email = newAddress()) {
    const { result } = await inviteMember(server.services.members, tenant, { email, role }, { actor: 'test' });
    return { email, token: new URL(result.url).hash.slice(1) };
  }

  /** Somebody who has accepted an invitation in this browser. */
  async function enrolled(tenant: string, role: Role = 'security-admin', address = newAddress()) {
    const browser = new Browser(server);
    const { email, token } = await invited(tenant, role, address);
    const page = await browser.post('/portal/invitations/open', { token });
    const form = await browser.get('/portal/invitations/enrol');
    const home = await browser.submit(form, '/portal/invitations/enrol', { displayName: 'Ann', password });
    return { browser, email, page, home, token };
  }

  async function logIn(browser: Browser, email: string, secret = password, from = '/portal'): Promise<Page> {
    const page = await browser.get(from);
    return browser.submit(page, '/log-in', { email, password: secret });
  }

  /** As the web application does it. @returns where the browser goes afterwards */
  async function logOut(browser: Browser): Promise<Page> {
    const headers = { 'x-accord-portal': '1', 'sec-fetch-site': 'same-origin', cookie: cookiesOf(browser) };
    const ended = await server.app.inject({ method: 'POST', url: '/portal/session/end', headers });
    browser.replaceCookies(browser.cookies.filter(({ name }) => name !== 'accord_portal_session'));
    return browser.get((ended.json() as { location: string }).location);
  }

  return { newAddress, invited, enrolled, logIn, logOut };
}
