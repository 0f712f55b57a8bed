/** People in the portal: finding one, the time line, ending what there is, and erasing; by role. */
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { asAdmin } from '../helpers/admin.ts';
import { axe, createPortal, executablePath, look } from './portal.ts';

const policy = `package p
default outcome := "deny"
outcome := "allow" if {
  some link in input.graph.subject
  link.relationshipType == "drives"
  link.to.id == input.resource.id
}`;
/** An id with all that an address has to escape. */
const odd = 'zoë/1 & co%2F';

describe.skipIf(executablePath === undefined)('people', async () => {
  if (executablePath === undefined) return;
  const site = await createPortal({ role: 'security-admin' });
  const { tenant, open, server, base } = site;
  const at = (path: string) => `${base}/portal/t/${tenant}${path}`;
  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
  const as = async (role: 'security-admin' | 'config-viewer' | 'support' | 'config-editor') => {
    const { browser, email } = await site.people.enrolled(tenant, role);
    return { email, cookies: browser.cookies.map(({ name, value }) => ({ name, value, url: `${base}/` })) };
  };
  /** What a page asks the API of the tenant for when somebody comes back to it a minute later. */
  const comeBack = async (page: Page) => {
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url().split(`/tenants/${tenant}`)[1] ?? ''));
    const session = page.waitForResponse('**/portal/session');
    await page.evaluate(`{
      const now = Date.now;
      Date.now = () => now() + 60_000;
      dispatchEvent(new Event('visibilitychange'));
    }`);
    await session;
    return asked.filter((path) => path !== '');
  };

  beforeAll(async () => {
    const token = await server.member(tenant, 'security-admin');
    const backend = await server.client(tenant, 'pg:tenant:admin');
    const call = async (method: 'PUT' | 'POST' | 'DELETE', url: string, payload?: object, by = token) => {
      const answer = await server.app.inject({
        ...{ method, url, headers: { authorization: `Bearer ${by}` } },
        ...(payload && { payload }),
      });
      expect([url, answer.statusCode < 300 ? 200 : answer.body]).toEqual([url, 200]);
    };
    const c = `/tenants/${tenant}`;
    await call('PUT', `${c}/actor-types/user`, { attributes: { displayName: { type: 'string' } } });
    await call('PUT', `${c}/resource-types/car`, {});
    await call('PUT', `${c}/relationship-types/user:drives:car`, { invitation: { enabled: true } });
    await call('PUT', `${c}/relationship-types/user:cares_for:user`, {
      displayNames: [{ language: 'en', name: 'looks after' }],
    });
    await call('PUT', `${c}/policies/car:drive`, { rego: policy });
    await server.services.snapshots.refresh(tenant);
    for (const id of ['1', '2'])
      await call('POST', `${c}/actors/user/alice/relationships`, {
        relationshipType: 'drives',
        to: { type: 'car', id },
      });
    await call('POST', `${c}/actors/user/carol/relationships`, {
      relationshipType: 'cares_for',
      to: { type: 'user', id: 'alice' },
    });
    await call('POST', `${c}/actors/user/${encodeURIComponent('rob@home')}/relationships`, {
      relationshipType: 'drives',
      to: { type: 'car', id: '3' },
    });
    await call('POST', `${c}/actors/user/${encodeURIComponent(odd)}/relationships`, {
      relationshipType: 'drives',
      to: { type: 'car', id: '2' },
    });
    const many = Array.from({ length: 51 }, (_, index) => `wim${index + 10}`);
    await Promise.all(many.map((id) => call('PUT', `/${tenant}/actors/user/${id}`, { displayName: 'Wim' }, backend)));
    await call('PUT', `/${tenant}/actors/user/alice`, { displayName: 'Alice Aerts' }, backend);
    await call(
      'POST',
      `/${tenant}/sharing/invitations`,
      {
        relationshipType: 'drives',
        to: { type: 'car', id: '1' },
        invitor: { type: 'user', id: 'alice' },
        invitee: { contact: { type: 'email', value: 'bob@example.com' } },
      },
      backend,
    );
    await asAdmin(
      server.db.adminUrl,
      `insert into accord.decision (tenant, at, caller, action, request, answer, revision, duration_us)
       values ($1, date_trunc('milliseconds', now()), 'client:backend', 'car:drive', '{"subject":{"type":"user","id":"alice"},"resource":{"type":"car","id":"9"}}',
         '{"outcome":"deny","reason":"alice is not related"}', 1, 5)`,
      [tenant],
    );
  });

  test('finds somebody by the beginning of an id, whatever the id is made of', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('/people'));
    await page.getByText('Search for a person').waitFor();
    await page.getByLabel('The beginning of an id').fill('ali');
    await page.keyboard.press('Enter');
    const row = page.getByRole('row', { name: /alice/ });
    await row.waitFor();
    expect(await axe(page)).toEqual([]);
    await row.focus();
    await page.keyboard.press('Enter');
    await heading(page, 'Alice Aerts');
    // A name that is the id in lower case finds it.
    await page.goto(at('/people?q=Alice'));
    await page.getByRole('row', { name: /alice/ }).waitFor();
    // Also those behind the first page.
    await page.goto(at('/people?q=WIM'));
    await page.getByRole('row', { name: /wim10/ }).waitFor();
    expect(await page.getByRole('row', { name: /wim60/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByRole('row', { name: /wim60/ }).waitFor();
    // Who was invited and did not accept is kept by the address, and can be erased by it.
    await page.goto(at('/people?q=bob@example.com'));
    await page.getByText('Nobody has an account or an accepted invitation of bob@example.com.').waitFor();
    await page.getByRole('link', { name: 'Count what is kept of this address, and erase it' }).click();
    await page.getByText('Invitations to them').waitFor();
    await expect.poll(() => page.getByLabel('E-mail address of the person').inputValue()).toBe('bob@example.com');
    // An id may look like an address, or like the beginning of one.
    for (const [typed, found] of [
      ['rob@', /rob@home/],
      ['rob@home', /rob@home/],
    ] as const) {
      await page.goto(at(`/people?q=${encodeURIComponent(typed)}`));
      await page.getByRole('row', { name: found }).waitFor();
    }
    await page.goto(at('/people?q=zo'));
    await page.getByRole('row', { name: /zoë/ }).click();
    await heading(page, odd);
    await page.getByText(`user/${odd} drives car/2`).first().waitFor();
    await page.reload();
    await page.getByText(`user/${odd} drives car/2`).first().waitFor();
    // A resource is nobody: there is nothing to erase of it as of a person.
    await page.goto(at('/people/car/2'));
    await page.getByText('car is a type of resources, not of people.').waitFor();
    expect(await page.getByRole('button', { name: 'Erase' }).count()).toBe(0);
    await page.getByRole('link', { name: 'The relationships of 2' }).click();
    await page.getByRole('heading', { name: 'To car/2' }).waitFor();
    expect(complaints).toEqual([]);
  });

  test.each([
    { width: 1440, height: 900, colorScheme: 'light' },
    { width: 390, height: 844, colorScheme: 'dark' },
  ] as const)('shows a person: $width, $colorScheme', async ({ width, height, colorScheme }) => {
    await using opened = await open({ viewport: { width, height }, colorScheme });
    const { page, complaints } = opened;
    await page.goto(at('/people/user/alice'));
    await heading(page, 'Alice Aerts');
    await page.getByText('user/alice drives car/1').first().waitFor();
    await page.getByText('user/alice invited').waitFor();
    // By what people read, with the name of the API beside it where there is room.
    const reached = page.getByRole('region', { name: 'Can be reached by' });
    await reached.getByText('user/carol looks after cares_for').waitFor();
    await page.getByText('user/carol looks after user/alice').waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, `people-person-${width}-${colorScheme}`);
    await page.getByRole('button', { name: 'Decisions' }).click();
    await page.getByText('user/alice invited').waitFor({ state: 'detached' });
    await expect.poll(() => new URL(page.url()).searchParams.get('kinds')).toBe('decision');
    const explain = await page.getByRole('link', { name: 'Explain' }).getAttribute('href');
    expect(explain).toMatch(/\/policies\/car(:|%3A)drive\?decision=/);
    expect(complaints).toEqual([]);
  });

  test('says that a time line does not have all relationships', async () => {
    await asAdmin(
      server.db.adminUrl,
      `insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id)
       select $1, 'user', 'fleet', 'drives', 'car', 'f' || n from generate_series(1, $2::int) n`,
      [tenant, limits.personRecordsMax + 1],
    );
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('/people/user/fleet'));
    await page.getByText('There are more than 1,000 relationships in one direction.').waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'people-truncated');
    await page.getByRole('button', { name: 'Decisions' }).click();
    await page.getByText('There are more than 1,000').waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  });

  test('searches what somebody has access to, and leads to the explanation', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('/people/user/alice'));
    const card = page.getByRole('region', { name: 'Has access to' });
    await card.getByLabel('Action (policy)').fill('car:drive');
    await card.getByRole('button', { name: 'Search' }).click();
    await card.getByText('car/2').waitFor();
    await expect.poll(() => card.getByRole('listitem').count()).toBe(2);
    const to = new URL((await card.getByRole('link', { name: 'Explain' }).first().getAttribute('href')) ?? '', base);
    expect(to.searchParams.get('subject')).toBe('user/alice');
    expect(to.searchParams.get('resource')).toBe('car/1');
    await look(page, 'people-access');
    await card.getByRole('link', { name: 'Explain' }).first().click();
    await page.getByText('Allowed: user:alice may car:drive on car:1').waitFor();
    expect(complaints).toEqual([]);
  });

  test('ends a relationship after a question, and undoes it', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('/people/user/alice'));
    const card = page.getByRole('region', { name: 'Relationships', exact: true });
    await card.getByRole('button', { name: 'End: user/alice drives car/2' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('1 relationship ends.').waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'people-end');
    await dialog.getByRole('button', { name: 'End the relationship' }).click();
    await card.getByRole('link', { name: 'car/2' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await card.getByRole('link', { name: 'car/2' }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('erases somebody after counting, and keeps the report', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('/people/user/carol'));
    await page.getByRole('button', { name: 'Erase' }).click();
    const panel = page.getByRole('complementary', { name: 'Erase' });
    await panel.getByText(/records? would be erased/).waitFor();
    const erase = panel.getByRole('button', { name: 'Erase this person' });
    await expect.poll(() => erase.isDisabled()).toBe(true);
    expect(await axe(page)).toEqual([]);
    await look(page, 'people-erase');
    await panel.getByLabel('Type carol to confirm').fill('carol');
    // An address that was typed is erased only when it was counted.
    await panel.getByLabel('E-mail address of the person').fill('carol@example.com');
    expect(await erase.isDisabled()).toBe(true);
    await panel.getByRole('button', { name: 'Count again' }).click();
    await panel.getByText('The address is not counted yet.').waitFor({ state: 'detached' });
    await panel.getByText(/records? would be erased/).waitFor();
    await erase.click();
    await panel.getByText('user/carol is erased.').waitFor();
    const saved = page.waitForEvent('download');
    await panel.getByRole('button', { name: 'Save the report as a file' }).click();
    expect((await saved).suggestedFilename()).toBe(`erasure-${tenant}.json`);
    await page.goto(at('/people/user/alice'));
    await page.getByText('No relationship leads to this person.').waitFor();
    expect(complaints).toEqual([]);
  });

  test('support sees a person masked and is offered nothing that it may not do; viewers are told who may', async () => {
    const support = await as('support');
    await using opened = await open();
    const { page, context, complaints } = opened;
    await page.goto(at('/people/user/alice'));
    await page.getByRole('button', { name: 'Show the consents' }).click();
    await page.getByText('This person has given no consent.').waitFor();
    await page.getByText('user/alice drives car/1').first().waitFor();
    // What the ledger has each reading of is not read because somebody comes back to the page.
    const asked = await comeBack(page);
    expect(asked).toContain('/people/user/alice/timeline?limit=50');
    expect(asked.filter((path) => path.startsWith('/consents'))).toEqual([]);
    // Who logs in after that, in another tab, is not shown what the one before was shown.
    await context.addCookies(support.cookies);
    await comeBack(page);
    await page.getByText('user/alice drives car/***').first().waitFor();
    expect(await page.getByText('car/1').count()).toBe(0);
    await page.goto(at('/people?q=Alice'));
    await page.getByRole('row', { name: /alice/ }).click();
    await page.getByText('user/alice drives car/***').first().waitFor();
    for (const name of ['Erase', 'Send again', 'Revoke the invitation', /^End/, 'Search'])
      expect(await page.getByRole('main').getByRole('button', { name, exact: true }).count()).toBe(0);
    expect(await page.getByText('car/1').count()).toBe(0);
    await look(page, 'people-support');
    // Each request of support is audited.
    expect(await comeBack(page)).toEqual([]);
    // What somebody typed goes with the log-out, and nothing of others.
    const keys = [support.email, 'somebody@else.example'].map((who) => `accord.draft.${encodeURIComponent(who)}/x`);
    await page.evaluate(`for (const key of ${JSON.stringify(keys)}) localStorage.setItem(key, '{}')`);
    await page.getByRole('button', { name: /^Account and looks/ }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.waitForURL(({ pathname }) => !pathname.includes('/people/'));
    const left = await page.evaluate('Object.keys(localStorage).filter((key) => key.startsWith("accord.draft."))');
    expect(left).toEqual(keys.slice(1));
    expect(complaints).toEqual([]);
    await using viewing = await open({}, (await as('config-viewer')).cookies);
    await viewing.page.goto(at('/people/user/alice'));
    await viewing.page.getByText('Config viewers do not see records of people.').waitFor();
    expect(viewing.complaints).toEqual([]);
  });

  test('speaks Dutch', async () => {
    await using opened = await open({ locale: 'nl-BE' });
    const { page, complaints } = opened;
    await page.goto(at('/people/user/alice'));
    await page.getByRole('heading', { name: 'Tijdlijn' }).waitFor();
    await page
      .getByText(/^Audit: (relatie|uitnodiging|persoon) .* (gewijzigd|gemaakt|gelezen|verwijderd|aanvaard)/)
      .first()
      .waitFor();
    await look(page, 'people-nl');
    expect(complaints).toEqual([]);
  });
});
