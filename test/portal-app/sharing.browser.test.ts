/** The sharing page of a tenant's users: two people share a car and take it back, consents, hostile texts, and an ended session. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { compactVerify, createRemoteJWKSet } from 'jose';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { changeDisplayName, signUp } from '../../server/accounts/index.ts';
import { applyDefinition } from '../../server/definitions/index.ts';
import { beginSession } from '../../server/portal/index.ts';
import type { TenantSpec } from '../../server/tenants/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { savedText } from '../helpers/chromium.ts';
import { manifestWriter } from '../helpers/server.ts';
import { ownersMay } from '../invitations/inviting.ts';
import { configClient } from '../policies/config-client.ts';
import { password } from '../portal/enrolling.ts';
import { attacks } from './attacks.ts';
import { axe, createPortal, executablePath, look, whileSent } from './portal.ts';

const firstPageMax = 170 * 1024;
const spec: Partial<TenantSpec> = {
  displayName: 'Cars of Ghent',
  login: {
    selfRegistration: 'invitation',
    sharingPage: true,
    brand: { colours: { primary: '#0a7a3c', background: '#7a1f5c' } },
  },
  restore: { allowPastDates: true },
};

const names = (en: string, nl: string, fr: string) =>
  Object.entries({ en, nl, fr }).map(([language, name]) => ({ language, name }));

type Content = { title: string; mediaType: 'text/plain'; body: string };
type EndOfLife = { startDate: string; endDate: string; gracePeriod: string };
const text = (title: string): Content => ({
  ...{ title, mediaType: 'text/plain', body: 'We use where the car was.\nFor nothing else.' },
});

describe.skipIf(executablePath === undefined)('the sharing page', async () => {
  if (executablePath === undefined) return;
  const site = await createPortal({ role: 'security-admin', tenant: spec });
  const { server, base, open } = site;
  const began = Date.now();
  const past = (days: number) => new Date(began - days * 86_400_000).toISOString();

  /** People of a tenant that share cars. */
  async function sharing(tenant: string, car = 'shared car', may = 'may drive') {
    const config = await configClient(server, tenant, 'security-admin');
    const put = async (path: string, body: object) => {
      const answer = await config('PUT', path, { body });
      expect([path, answer.status, answer.body]).toEqual([path, 200, {}]);
    };
    await put('/actor-types/user', {});
    await put('/resource-types/car', { displayNames: names(car, 'deelauto', 'voiture partagée') });
    await put('/relationship-types/user:is_owner_of:car', {});
    const displayNames = names(may, 'mag rijden met', 'peut conduire');
    await put('/relationship-types/user:drives:car', { invitation: { enabled: true }, displayNames });
    for (const verb of ['invitation:create', 'invitation:revoke', 'invitation:resend', 'delete'])
      await put(`/policies/${encodeURIComponent(`user:drives:car:${verb}`)}`, { rego: ownersMay() });
    const own = 'package p\noutcome := "allow" if input.subject.id == input.resource.id';
    await put(`/policies/${encodeURIComponent('user:relationships:list')}`, { rego: own });
    const headers = { authorization: `Bearer ${await server.client(tenant, 'pg:tenant:admin')}` };
    let people = 0;
    return {
      /** A definition with versions of one document, in effect for some days. */
      async define(name: string, versions: { content?: Content; days: number; endOfLife?: EndOfLife }[]) {
        await applyDefinition(server.services, manifestWriter, tenant, {
          ...{ tenantRef: { name: tenant }, managementPolicy: 'Enforce', adoptionPolicy: 'Refuse', name },
          versions: versions.map(({ content, days, endOfLife }, n) => ({
            ...{ version: String(n + 1), optInConfig: { type: 'direct' }, ...(endOfLife && { endOfLife }) },
            documents: [{ version: '1.0', language: 'en', effectiveDate: past(days), ...(content && { content }) }],
          })),
        });
        await server.services.snapshots.refresh(tenant);
      },
      async lose(id: string, car: string) {
        const url = `/${tenant}/actors/user/${id}/relationships/is_owner_of/car/${car}`;
        expect((await server.app.inject({ method: 'DELETE', url, headers })).statusCode).toBe(204);
      },
      async person(displayName: string, ...cars: string[]) {
        const email = `sharer${people++}@example.com`;
        const made = await signUp(server.services.accounts, tenant, { email, password, invitedEmail: email });
        if (made.status !== 'created') throw new Error(made.status);
        const { id } = made.account;
        await changeDisplayName(server.services.accounts, tenant, {
          account: id,
          name: displayName,
          requestId: 'test',
        });
        const url = `/${tenant}/actors/user/${id}/relationships`;
        for (const car of cars) {
          const payload = { relationshipType: 'is_owner_of', to: { type: 'car', id: car } };
          expect((await server.app.inject({ method: 'POST', url, headers, payload })).statusCode).toBe(201);
        }
        const value = await beginSession(server.services.accounts, tenant, made.account, Date.now());
        const cookies = [{ name: 'accord_own_session', value, url: `${base}/${tenant}/` }];
        return { id, email, cookies, token: await server.user(tenant, id) };
      },
    };
  }
  async function signedBy(tenant: string, receipt: string) {
    const keys = createRemoteJWKSet(new URL(`${base}/${tenant}/.well-known/jwks.json`));
    const { payload } = await compactVerify(receipt, keys);
    return JSON.parse(new TextDecoder().decode(payload));
  }
  const at = (tenant: string, path = '') => `${base}/${tenant}/account/sharing${path}`;
  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

  test('the first page is small', () => {
    const index = readFileSync(join(site.directory, 'sharing.html'), 'utf8');
    const assets = [...index.matchAll(/(?:src|href)="__ACCORD_BASE__\/portal\/(assets\/[^"]+)"/g)].map(
      ([, file]) => file,
    );
    expect(assets.length).toBeGreaterThan(1);
    const sizes = assets.map((file) => gzipSync(readFileSync(join(site.directory, file ?? ''))).length);
    expect(sizes.reduce((sum, one) => sum + one, 0)).toBeLessThan(firstPageMax);
    for (const large of ['editor', 'flow', 'palette', 'why']) expect(assets.join(' ')).not.toContain(large);
  });

  test('two people share a car, and one takes it back', async () => {
    const { tenant } = site;
    const { person, lose, define } = await sharing(tenant);
    const [alice, bob] = [await person('Alice', 'car-7', 'car-8'), await person('Bob')];
    await using first = await open({}, alice.cookies);
    await using second = await open({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' }, bob.cookies);
    const [hers, his] = [first.page, second.page];
    await hers.goto(`${base}/${tenant}/account`);
    await hers.getByRole('link', { name: 'Shares, invitations and consents' }).click();
    await heading(hers, 'My shares');
    await hers.getByText('Nobody has access through you.').waitFor();
    expect(await axe(hers)).toEqual([]);

    await hers.getByRole('link', { name: 'My invitations' }).click();
    await hers.getByLabel('Mail address of the other person').fill('nobody');
    await hers.getByLabel('Mail address of the other person').fill(bob.email);
    await hers.getByLabel('Last day of the access').fill('2020-01-01');
    await hers.getByText('The day has passed.').waitFor();
    await hers.getByLabel('Last day of the access').fill('2090-01-01');
    const what = hers.getByLabel('What');
    const offers = await what.getByRole('option').allTextContents();
    await what.selectOption(offers.find((one) => one.includes('car-8')) as string);
    // What is typed outlives the page.
    const kept = () => hers.evaluate('Object.values(localStorage).join()') as Promise<string>;
    await expect.poll(kept).toContain('2090-01-01');
    await lose(alice.id, 'car-8');
    await hers.reload();
    await expect.poll(() => hers.getByLabel('Mail address of the other person').inputValue()).toBe(bob.email);
    // What was chosen is gone, and nothing else is shared in its place.
    await expect.poll(() => what.inputValue()).toBe('');
    await hers.getByRole('button', { name: 'Send the invitation' }).click();
    await what.selectOption(offers.find((one) => one.includes('car-7')) as string);
    const last = hers.getByLabel('Last day of the access');
    await whileSent(hers, 'POST', '/sharing/invitations', () => last.fill('2091-01-01'));
    await hers.getByRole('button', { name: 'Send the invitation' }).click();
    await hers.getByText('Waiting', { exact: true }).waitFor();
    // What is typed while it is sent stays.
    await expect.poll(() => last.inputValue()).toBe('2091-01-01');
    await hers.getByRole('button', { name: /^Send again: shared car car-7/ }).click();
    await hers.getByText(/It can be sent again in \d+ seconds/).waitFor();
    expect(await axe(hers)).toEqual([]);
    await hers.getByText('may drive · to s***').waitFor();
    await look(hers, 'sharing-invitations-1440-light');

    await his.goto(at(tenant, '/invitations'));
    await his.getByText('from Alice').waitFor();
    expect(await axe(his)).toEqual([]);
    await look(his, 'sharing-invitations-390-dark');
    const accept = his.getByRole('button', { name: 'Accept: shared car car-7' });
    await accept.focus();
    await his.keyboard.press('Enter');
    await his.getByText('Nobody has invited you.').waitFor();
    await his.getByRole('link', { name: 'My shares' }).click();
    await his.getByText('from Alice').waitFor();
    expect(await axe(his)).toEqual([]);
    await look(his, 'sharing-shares-390-dark');

    await hers.getByRole('link', { name: 'My shares' }).click();
    await hers.getByText('with s***@example.com').waitFor();
    expect(await axe(hers)).toEqual([]);
    await look(hers, 'sharing-shares-1440-light');
    await hers.getByRole('button', { name: /^Take back: shared car car-7/ }).click();
    const asked = hers.getByRole('dialog');
    await asked.getByText('The other person loses this access at once (may drive).').waitFor();
    expect(await axe(hers)).toEqual([]);
    await asked.getByRole('button', { name: 'Take back' }).click();
    await hers.getByText('Nobody has access through you.').waitFor();
    await his.reload();
    await his.getByText('Nobody has shared anything with you.').waitFor();

    // Consents: one that is new, and one whose version ends.
    const before = { content: text('Use of trip data'), days: 20 };
    await define('trip-data', [before]);
    const payload = { name: 'trip-data', version: '1', document: { version: '1.0', language: 'en' } };
    const url = `/${tenant}/consents`;
    const headers = { authorization: `Bearer ${bob.token}` };
    expect((await server.app.inject({ method: 'POST', url, headers, payload })).statusCode).toBe(201);
    const endOfLife = { startDate: past(5), endDate: past(-40), gracePeriod: 'P30D' };
    const after = { content: text('Use of trip data, and of the speed'), days: 10 };
    await define('trip-data', [{ ...before, endOfLife }, after]);
    await define('newsletter', [{ content: text('A letter each month'), days: 3 }]);
    await define('without-text', [{ days: 3 }]);
    await his.getByRole('link', { name: 'My consents' }).click();
    await his.getByRole('button', { name: 'Agree: A letter each month', exact: true }).waitFor();
    await his.getByText('We use where the car was.').first().waitFor();
    await his.getByText('What is known: without-text, version 1, document 1.0, en.').waitFor();
    expect(await axe(his)).toEqual([]);
    await look(his, 'sharing-consents-390-dark');
    await his.getByRole('button', { name: 'Agree to the new version: Use of trip data, and of the speed' }).click();
    await his.getByText('In force', { exact: true }).waitFor();
    await his.getByRole('button', { name: 'Do not agree: A letter each month' }).click();
    await his.getByText('Your answer was recorded').waitFor();
    await his.getByRole('button', { name: 'Receipt: Use of trip data, and of the speed' }).click();
    const receipt = his.getByRole('region', { name: 'Receipt: Use of trip data, and of the speed' });
    const saved = his.waitForEvent('download');
    await receipt.getByRole('button', { name: 'Save the receipt' }).click();
    const file = await saved;
    expect(file.suggestedFilename()).toBe('trip-data-2.receipt.jws');
    expect(await signedBy(tenant, await savedText(file))).toMatchObject({
      '@type': 'dpv:ConsentReceipt',
      'dpv:hasRecordOfActivity': { 'dpv:hasDataSubject': { 'dct:identifier': bob.id } },
    });
    await receipt.getByText('What it says').click();
    await receipt.getByText('dpv:ConsentReceipt').first().waitFor();
    expect(await axe(his)).toEqual([]);
    await look(his, 'sharing-receipt-390-dark');
    await his.getByRole('button', { name: 'Take back: Use of trip data, and of the speed' }).click();
    await his.getByRole('dialog').getByRole('button', { name: 'Take back' }).click();
    await his.getByText('You have agreed to nothing.').waitFor();
    const logged = async () => {
      const log = await server.app.inject({ url: `${url}/events/me?limit=50`, headers });
      return (log.json().logs as { type: string }[]).map(({ type }) => type);
    };
    const types = ['registered', 'refused', 'revoked', 'invited', 'read'];
    await expect.poll(logged).toEqual(expect.arrayContaining(types));

    expect([first.complaints, second.complaints].flat().filter((one) => !/status of 429/.test(one))).toEqual([]);
    // In French, Dutch, and wide; then the session ends under the page.
    await his.setViewportSize({ width: 1440, height: 900 });
    await his.getByRole('button', { name: /^Account and looks/ }).click();
    await his.getByRole('menuitemradio', { name: 'Français' }).click();
    await heading(his, 'Mes consentements');
    expect(await axe(his)).toEqual([]);
    await look(his, 'sharing-consents-1440-dark-fr');
    await hers.getByRole('link', { name: 'My invitations' }).click();
    await hers.getByRole('button', { name: /^Account and looks/ }).click();
    await hers.getByRole('menuitemradio', { name: 'Français' }).click();
    await hers.getByText('peut conduire · à s***').waitFor();
    expect(await hers.getByRole('option', { name: 'voiture partagée car-7 · peut conduire' }).count()).toBe(1);
    expect(await axe(hers)).toEqual([]);
    await look(hers, 'sharing-invitations-1440-light-fr');
    await his.getByRole('button', { name: /^Compte et apparence/ }).click();
    await his.getByRole('menuitemradio', { name: 'Nederlands' }).click();
    await heading(his, 'Mijn toestemmingen');
    expect(await axe(his)).toEqual([]);
    await look(his, 'sharing-consents-1440-dark');
    await asAdmin(server.db.adminUrl, 'delete from accord.page_session where tenant = $1 and account = $2', [
      tenant,
      bob.id,
    ]);
    const over = his.getByRole('dialog', { name: 'Uw sessie is beëindigd' });
    // Shares that were read within ten seconds are not read again, consents are at each visit; the dialog covers the links.
    const visit = (name: string) => his.getByRole('link', { name }).click({ timeout: 1000 });
    const isOver = async () => {
      for (const name of ['Wat ik deel', 'Mijn toestemmingen']) await visit(name).catch(() => {});
      return over.isVisible();
    };
    await expect.poll(isOver).toBe(true);
    const back = his.url().endsWith('/consents') ? 'consents' : 'shares';
    expect(await over.getByRole('link').getAttribute('href')).toBe(`/${tenant}/account/log-in?to=${back}`);
  });

  test('texts that try to be scripts are shown as texts', async () => {
    const all = attacks.join(' ');
    // Documents take no letters that turn others around.
    const shown = all.replaceAll('\u202e', '');
    const tenant = await server.tenant({ ...spec, displayName: all.slice(0, 200) });
    const { person, define } = await sharing(tenant, attacks[1], attacks[2]);
    const [alice, bob] = [await person(attacks[1] as string, '<img src=x onerror=window.hurt=1>'), await person('Bob')];
    await define('hostile', [
      { content: { title: shown.slice(0, 180), mediaType: 'text/plain', body: `It says: ${shown}` }, days: 3 },
    ]);
    await using hers = await open({}, alice.cookies);
    await hers.page.goto(at(tenant, '/invitations'));
    await hers.page.getByLabel('Mail address of the other person').fill(bob.email);
    await hers.page.getByRole('button', { name: 'Send the invitation' }).click();
    await hers.page.getByText('Waiting', { exact: true }).waitFor();
    await using opened = await open({}, bob.cookies);
    const { page, complaints, context } = opened;
    const elsewhere: string[] = [];
    context.on('request', (request) => {
      if (!request.url().startsWith(base) && !/^(data|blob):/.test(request.url())) elsewhere.push(request.url());
    });
    for (const path of ['/invitations', '', '/consents']) {
      await page.goto(at(tenant, path));
      await page.getByRole('heading', { level: 1 }).waitFor();
      // What a script would ask has been asked, half a second after the last answer.
      await page.waitForLoadState('networkidle');
      if (path === '/invitations') {
        await page.getByText('<img src=x').first().waitFor();
        await page.getByRole('button', { name: /^Accept/ }).click();
        await page.getByText('Nobody has invited you.').waitFor();
      }
      expect([path, await page.evaluate('window.hurt')]).toEqual([path, undefined]);
      const made = page.locator('img[src="x"], svg[onload], a[href^="javascript:"], iframe, script:not([src])');
      expect([path, await made.count()]).toEqual([path, 0]);
      await look(page, `sharing-hostile${path.replace('/', '-')}`);
    }
    expect(elsewhere).toEqual([]);
    expect([...complaints, ...hers.complaints]).toEqual([]);
  });
});
