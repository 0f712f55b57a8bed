/** The portal around its screens: addresses, keyboard, languages, looks, an ended session; and what `why` draws. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { asAdmin } from '../helpers/admin.ts';
import { lookAround } from './looks.ts';
import { comeBackLater, createPortal, executablePath, look, openPalette } from './portal.ts';

const names = ['Overview', 'Policies', 'Model', 'Consents', 'People', 'Activity', 'Settings'];
const firstPageMax = 200 * 1024;

describe.skipIf(executablePath === undefined)('the portal', async () => {
  if (executablePath === undefined) return;
  const site = await createPortal({ role: 'security-admin' }, { ACCORD_ENVIRONMENT: 'production' });
  const { tenant, open } = site;
  const at = (path: string) => `${site.base}/portal${path}`;
  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

  test('the first page is small', () => {
    const index = readFileSync(join(site.directory, 'index.html'), 'utf8');
    const assets = [...index.matchAll(/(?:src|href)="__ACCORD_BASE__\/portal\/(assets\/[^"]+)"/g)];
    expect(assets.length).toBeGreaterThan(1);
    const bytes = assets.reduce(
      (sum, [, file]) => sum + gzipSync(readFileSync(join(site.directory, file ?? ''))).length,
      0,
    );
    expect(bytes).toBeLessThan(firstPageMax);
  });

  test('shows each screen in both widths and themes, with the look of production', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at(`/t/${tenant}/overview`));
    await page.locator('.is-production').getByText('production').waitFor();
    const rail = page.getByRole('navigation', { name: 'Main' });
    for (const name of names) {
      await rail.getByRole('link', { name, exact: true }).click();
      // The settings have no page of their own: they begin with the members.
      await heading(page, name === 'Settings' ? 'Members' : name);
      await lookAround(page, `portal-${name}`);
    }
    await page.goto(at('/t/gallery/why'));
    await page.getByRole('region', { name: 'masked', exact: true }).waitFor();
    await lookAround(page, 'portal-why');
    expect(complaints).toEqual([]);
  });

  test('leads to the only tenant, and says where there is none', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at(''));
    await heading(page, 'Overview');
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/portal/t/${tenant}/overview`);
    await page.goto(at('/t/elsewhere/policies'));
    await page.getByText('There is no tenant elsewhere').waitFor();
    expect(complaints).toEqual([]);
  });

  test('Ctrl-K goes to a screen by keyboard', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at(`/t/${tenant}/overview`));
    await heading(page, 'Overview');
    const palette = await openPalette(page);
    await palette.fill('advanced');
    await page.getByRole('option', { name: 'Access token', selected: true }).waitFor();
    await palette.fill('consen');
    await page.getByRole('option', { name: 'Consents', exact: true, selected: true }).waitFor();
    await look(page, 'portal-palette');
    await page.keyboard.press('Enter');
    await heading(page, 'Consents');
    expect(complaints).toEqual([]);
  });

  test('a pasted request id, or the id of a record, opens what has it', async () => {
    const decision = `insert into accord.decision (tenant, at, caller, action, request, answer, revision, duration_us, request_id)
      values ($1, now(), 'client:b', 'car:read', '{"subject":{"id":"alice"}}', '{"outcome":"deny"}', 1, 5, 'request-7') returning id`;
    const [row] = (await asAdmin(site.server.db.adminUrl, decision, [tenant])) as { id: string }[];
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at(`/t/${tenant}/overview`));
    await heading(page, 'Overview');
    await (await openPalette(page)).fill('request-7');
    await page.getByRole('option', { name: 'deny car:read' }).waitFor();
    await page.getByRole('option', { name: 'request-7', exact: true }).click();
    await heading(page, 'Find by id');
    await page.getByRole('link', { name: 'deny car:read' }).waitFor();
    await lookAround(page, 'portal-found');
    await (await openPalette(page)).fill(row?.id ?? '');
    await page.getByRole('option', { name: 'deny car:read' }).click();
    await expect.poll(() => new URL(page.url()).search).toBe(`?decision=${row?.id}`);
    await page.goto(at(`/t/${tenant}/overview`));
    const guide = page.waitForEvent('popup');
    await page.getByRole('link', { name: 'Guide' }).click();
    await (await guide).getByRole('main').getByText('The portal is a web application').first().waitFor();
    await (await guide).close();
    // There is no such policy: the browser says so itself.
    expect(complaints.filter((one) => !one.includes('404'))).toEqual([]);
  });

  test('speaks Dutch, and keeps it', async () => {
    await using opened = await open();
    const { page } = opened;
    await page.goto(at(`/t/${tenant}/policies`));
    await page.getByRole('button', { name: /^Account and looks/ }).click();
    await look(page, 'portal-account');
    await page.getByRole('menuitemradio', { name: 'Nederlands' }).click();
    await heading(page, 'Policy’s');
    await page.reload();
    await heading(page, 'Policy’s');
    await expect.poll(() => page.evaluate('document.documentElement.lang')).toBe('nl');
  });

  test('says over the page that the session has ended, and goes on with what was typed after a log-in in another tab', async () => {
    await using opened = await open();
    const { page, context } = opened;
    const cookies = await context.cookies();
    await page.goto(at(`/t/${tenant}/policies?state=bad`));
    await heading(page, 'Policies');
    await context.clearCookies();
    await page.getByRole('button', { name: /^Account and looks/ }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    await look(page, 'portal-session-ended');
    const link = await dialog.getByRole('link', { name: 'Log in again' }).getAttribute('href');
    const to = new URL(link ?? '', site.base).searchParams.get('to');
    expect(to).toBe(`/portal/t/${tenant}/policies?state=bad`);
    // A form without a draft, too.
    await context.addCookies(cookies);
    await page.goto(at(`/t/${tenant}/model?make=type`));
    await page.getByRole('complementary').getByLabel('Name').first().fill('bicycle');
    await context.clearCookies();
    await page.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor();
    const [tab] = await Promise.all([
      context.waitForEvent('page'),
      dialog.getByRole('link', { name: 'Log in again' }).click(),
    ]);
    await tab.getByLabel('Email address').waitFor();
    await comeBackLater(page);
    await dialog.waitFor();
    await context.addCookies(cookies);
    await tab.close();
    await comeBackLater(page);
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'bicycle' }).first().waitFor();
  });

  test('why says in one sentence what was missing', async () => {
    await using opened = await open();
    const { page } = opened;
    await page.goto(at('/t/gallery/why'));
    const deny = page.getByRole('region', { name: 'deny', exact: true });
    await deny.getByText('Denied: what is missing is “user:alice is_owner_of record:rec-pat').waitFor();
    const relationships = deny.locator('.why-relations');
    await expect.poll(() => relationships.locator('.why-item.missing').count()).toBe(1);
    // Of the path over which it would be inherited, what is there is not dashed.
    await expect.poll(() => relationships.locator('.why-path li').count()).toBe(4);
    expect(await relationships.locator('.why-path li.missing').count()).toBe(3);
    const hop = relationships.getByRole('link', { name: 'user:alice lives in household:h-1' });
    expect(await hop.getAttribute('href')).toBe(
      '/portal/t/gallery/model/relationships?type=user&id=alice&relationship=user%2Falice+lives_in+household%2Fh-1',
    );
    const masked = page.getByRole('region', { name: 'masked path', exact: true }).locator('.why-path');
    await masked.getByText('lives in').waitFor();
    expect(await masked.getByRole('link').count()).toBe(0);
    const line = deny.locator('.why-policy').getByRole('link', { name: 'line 11' });
    expect(await line.getAttribute('href')).toBe('/portal/t/gallery/policies/records-read?line=11');
    const allow = page.getByRole('region', { name: 'allow', exact: true });
    await allow.getByText('Allowed: user:alice may records-read on record:rec-pat').waitFor();
    await expect.poll(() => allow.locator('.why-item.lit').count()).toBe(3);
  });
});
