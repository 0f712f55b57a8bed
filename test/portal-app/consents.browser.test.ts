/** Consents in a browser: a definition's time line, making one by the forms, acting for users, the ledger, and each role. */
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { applyDefinition } from '../../server/definitions/index.ts';
import { sealTenant } from '../../server/ledger/seal.ts';
import { holdTable } from '../helpers/admin.ts';
import { manifestWriter } from '../helpers/server.ts';
import { axe, createPortal, executablePath, look, styleOf, whileSent } from './portal.ts';

const day = 86_400_000;
const from = (days: number) => new Date(Date.now() + days * day).toISOString();
const html = '<h1>Trip data</h1>\n<p>The car records <strong>where it is</strong>.</p>\n';

describe.skipIf(executablePath === undefined)('consents', async () => {
  if (executablePath === undefined) return;
  const site = await createPortal({ role: 'security-admin', tenant: { restore: { allowPastDates: true } } });
  const { tenant, open, server, people } = site;
  const at = (path: string) => `${site.base}/portal/t/${tenant}/consents${path}`;
  const admin = async (method: 'GET' | 'POST' | 'PUT', path: string, payload?: object) => {
    const headers = { authorization: `Bearer ${await server.member(tenant, 'security-admin')}` };
    const answer = await server.app.inject({
      method,
      url: `/tenants/${tenant}${path}`,
      headers,
      ...(payload && { payload }),
    });
    if (answer.statusCode > 299) throw new Error(`${path}: ${answer.body}`);
    return answer.json();
  };
  // Version 1 is on its way out, and version 2 is in effect.
  await applyDefinition(server.services, manifestWriter, tenant, {
    tenantRef: { name: tenant },
    managementPolicy: 'Enforce',
    adoptionPolicy: 'Refuse',
    name: 'trip-data',
    versions: [
      {
        version: '1',
        optInConfig: { type: 'direct' },
        endOfLife: { startDate: from(-10), endDate: from(90), gracePeriod: 'P30D' },
        documents: [
          { version: '2024-01', language: 'en', effectiveDate: from(-200) },
          { version: '2024-01', language: 'nl', effectiveDate: from(-200) },
        ],
      },
      {
        version: '2',
        optInConfig: { type: 'direct' },
        documents: [
          { version: '2025-05', language: 'nl', effectiveDate: from(-60) },
          {
            ...{ version: '2025-05', language: 'en', effectiveDate: from(-60) },
            content: { title: 'Trip data', mediaType: 'text/html', body: html },
          },
        ],
      },
    ],
  });
  await server.services.snapshots.refresh(tenant);
  const agree = (userId: string, version: string, document: string, language = 'en') =>
    admin('POST', '/consents', {
      userId,
      name: 'trip-data',
      version,
      document: { version: document, language },
      reason: 'Form 1',
    });
  await agree('alice', '2', '2025-05');
  await agree('dirk', '2', '2025-05', 'nl');

  test('a time line, which previews another day by keyboard', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('/'));
    await page.getByRole('heading', { level: 1, name: 'Consents' }).waitFor();
    await page.getByRole('cell', { name: 'trip-data' }).click();
    await page.getByRole('heading', { level: 1, name: 'trip-data' }).waitFor();
    await page.getByText('Managed by').waitFor();
    expect(await page.getByRole('button', { name: 'New version' }).count()).toBe(0);
    const seen = page.getByRole('region', { name: 'What users see' });
    const about = (who: string) =>
      seen.locator('.seen > div').filter({ has: page.getByRole('heading', { name: who, exact: true }) });
    const invited = 'Who agreed to version 1, and was invited on the first day';
    await about(invited).getByText('grace', { exact: true }).waitFor();
    await about('Who agreed to version 1').getByText('valid', { exact: true }).waitFor();
    await about('A new user').getByText('Is asked for version 2 (2025-05, en).').waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'consents-definition');
    const today = page.getByRole('slider', { name: 'Today on the time line' });
    await today.focus();
    await page.keyboard.press('Home');
    await about('A new user').getByText('Nothing is asked in this language.').waitFor();
    await page.keyboard.press('End');
    await about('Who agreed to version 1').getByText('expired', { exact: true }).waitFor();
    await page.getByText('What changes when').click();
    await page.getByRole('button', { name: /version 1 begins to end/ }).click();
    await about(invited).getByText('grace', { exact: true }).waitFor();
    await look(page, 'consents-definition-moved');
    const before = await today.inputValue();
    const box = (await page.locator('.time-line svg').boundingBox()) as { x: number; y: number; width: number };
    await page.mouse.click(box.x + box.width * 0.3, box.y + 40);
    await expect.poll(async () => Number(await today.inputValue())).toBeLessThan(Number(before));
    await about('A new user').getByText('Is asked for version 1 (2024-01, en).').waitFor();
    await page.getByRole('button', { name: 'Back to today' }).click();
    await page.getByText('Now:').waitFor();
    expect(complaints).toEqual([]);
  });

  test('the text with its digest, adoption, and the manifest', async () => {
    await using opened = await open({ colorScheme: 'dark' });
    const { page, complaints } = opened;
    await page.goto(at('/trip-data'));
    const documents = page.getByRole('region', { name: 'Documents' });
    await documents.getByRole('row').filter({ hasText: 'Trip data' }).click();
    await page.getByText('matches the text').waitFor();
    await page.locator('pre').getByText('<strong>where it is</strong>').waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'consents-text-dark');
    const served = (await page.getByRole('link', { name: 'Open as users get it' }).getAttribute('href')) as string;
    expect(await (await fetch(site.base + served)).text()).toBe(html);
    const adoption = page.getByRole('region', { name: 'Adoption' });
    await adoption.getByRole('cell', { name: 'en 1, nl 1' }).waitFor();
    await adoption.getByRole('button', { name: 'Who is left' }).nth(1).click();
    await page.getByRole('button', { name: 'Copy alice' }).waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Copy as manifest' }).click();
    const manifest = () => page.getByRole('dialog').locator('pre').innerText();
    await expect.poll(manifest).toContain('kind: ConsentDefinition');
    await expect.poll(manifest).toContain('<strong>where it is</strong>');
    const { spec } = parse(await manifest());
    await page.keyboard.press('Escape');
    // It has no form of its own: its spec is changed as YAML.
    await page.getByRole('button', { name: 'Open a change' }).click();
    const editor = page.getByRole('textbox', { name: 'The spec of the ConsentDefinition' });
    const type = async (text: string) => {
      await editor.click();
      await page.keyboard.press('Control+a');
      await page.keyboard.insertText(text);
    };
    const show = page.getByRole('button', { name: 'Show the change' });
    const write = async (made: object) => {
      await type(stringify({ ...spec, ...made }));
      await show.click();
    };
    await type('languageFallback: lookup\ntitles: *none\n');
    await show.click();
    await page
      .getByText(/^Unresolved alias .*: none$/)
      .first()
      .waitFor();
    await write({ languageFallback: 'guess' });
    await page.getByText('/languageFallback must be').first().waitFor();
    await look(page, 'consents-change-refused');
    // An answer about a text that is not there any more opens nothing.
    const stopped = page.waitForEvent('requestfailed', (one) => one.url().endsWith('/resources/manifest/check'));
    const lookup = stringify({ ...spec, languageFallback: 'lookup' });
    await whileSent(page, 'POST', '/resources/manifest/check', () => type(lookup));
    await write({ languageFallback: 'none' });
    await stopped;
    await show.click();
    const change = page.getByRole('dialog', { name: 'The change' });
    await change.locator('pre').getByText('languageFallback: lookup').waitFor();
    await change.getByText('files test owns this').waitFor();
    await change.getByRole('textbox', { name: 'Changed' }).getByText('languageFallback').waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'consents-change');
    expect(complaints).toEqual([]);
  });

  test('is made by forms, which say their rules before they refuse', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('?new=1'));
    await page.getByLabel('Name').fill('trip-data');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('There is a trip-data already.').waitFor();
    await page.getByLabel('Name').fill('terms of use');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'terms of use' }).waitFor();
    await page.getByRole('button', { name: 'New version' }).click();
    await page.getByRole('textbox', { name: 'Version', exact: true }).fill('1');
    expect(await axe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'New document' }).click();
    const save = page.getByRole('button', { name: 'Save', exact: true });
    await page.getByLabel('Version of the document').fill('a');
    await page.getByLabel('In effect from').fill('2020-01-01T00:00');
    await page.getByText('It must be in the future.').waitFor();
    await expect.poll(() => save.isDisabled()).toBe(true);
    await page.getByLabel('In effect from').fill('2031-01-01T00:00');
    await page.getByLabel('Title of the text').fill('Terms');
    await page.getByLabel('Kind of text').selectOption('text/html');
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill('<p onclick="x()">Be kind.</p>');
    expect(await axe(page)).toEqual([]);
    await look(page, 'consents-document-form');
    // What is typed outlives the page.
    await page.reload();
    await page.getByRole('button', { name: 'New document' }).click();
    const title = page.getByLabel('Title of the text');
    await expect.poll(() => title.inputValue()).toBe('Terms');
    // What is typed while it is saved stays on the page, as a change of what is saved.
    const version = '/consent-definitions/terms%20of%20use/versions/1';
    await whileSent(page, 'PUT', `${version}/documents/en/a`, () => title.fill('Terms, typed meanwhile'));
    await save.click();
    await page.getByText('Of its HTML, this was removed').waitFor();
    await page.getByText('onclick', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    const changing = page.getByRole('complementary', { name: 'Change document a' });
    await changing.waitFor();
    await expect.poll(() => title.inputValue()).toBe('Terms, typed meanwhile');
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill('<p>Be kind.</p>');
    await whileSent(page, 'PUT', `${version}/documents/en/a`, () => title.fill('Terms, once more'));
    await save.click();
    await page.getByRole('row').filter({ hasText: 'Terms, typed meanwhile' }).waitFor();
    await expect.poll(() => title.inputValue()).toBe('Terms, once more');
    await save.click();
    await changing.waitFor({ state: 'detached' });
    await page.getByRole('row').filter({ hasText: 'Terms, once more' }).waitFor();
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    const text = page.getByRole('textbox', { name: 'Text', exact: true });
    await expect.poll(() => text.inputValue()).toBe('<p>Be kind.</p>');
    await page.getByLabel('In effect from').fill('2031-02-01T00:00');
    await save.click();
    await page.getByText('Document a is saved.').waitFor();
    // Somebody else changes it while the form is open.
    const conflict = page.getByText('Somebody else changed this after you opened it.');
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await title.fill('Mine');
    const theirs = { title: 'Theirs', mediaType: 'text/plain', body: 'Be kind.' };
    await admin('PUT', `${version}/documents/en/a`, { effectiveDate: '2031-03-01T00:00:00Z', content: theirs });
    await save.click();
    await conflict.waitFor();
    await page.getByRole('definition').getByText('Theirs', { exact: true }).waitFor();
    expect(await save.isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Go on with mine' }).click();
    await save.click();
    await page.getByRole('row').filter({ hasText: 'Mine' }).waitFor();
    await page.getByRole('button', { name: 'End version 1' }).click();
    await page.getByText('No other version is in effect').waitFor();
    await page.getByLabel('Grace').fill('a month');
    await page.getByText('This is not a duration such as P30D.').waitFor();
    await page.getByLabel('Grace').fill('P1M');
    expect(await axe(page)).toEqual([]);
    await look(page, 'consents-end-form');
    await save.click();
    await page.getByRole('button', { name: 'Change the end of version 1' }).click();
    const { config: end } = await admin('GET', `${version}/end-of-life`);
    await page.getByLabel('Grace').fill('P3M');
    await admin('PUT', `${version}/end-of-life`, { ...end, gracePeriod: 'P2M' });
    await save.click();
    await conflict.waitFor();
    const tree = await admin('GET', '/consent-definitions/terms%20of%20use/tree');
    expect(tree.versions[0]).toMatchObject({
      config: { version: '1', endOfLife: { gracePeriod: 'P2M' } },
      documents: [{ config: { version: 'a', content: { title: 'Mine' } } }],
    });
    // The browser itself tells of what is refused.
    expect(complaints.filter((one) => !/4(09|12)/.test(one))).toEqual([]);
  });

  test('registers for a user with a reason, gives a receipt, and takes back', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('/given'));
    await page.getByRole('button', { name: 'Register for a user' }).click();
    const panel = page.getByRole('complementary', { name: 'Register for a user' });
    const fields = {
      User: 'carol',
      Definition: 'trip-data',
      Version: '2',
      'Version of the document': '2025-05',
      Language: 'en',
    };
    for (const [label, value] of Object.entries(fields))
      await panel.getByRole('textbox', { name: label, exact: true }).fill(value);
    const button = panel.getByRole('button', { name: 'Register for a user' });
    await expect.poll(() => button.isDisabled()).toBe(true);
    await panel.getByLabel('Reason').fill('Signed form 4711');
    expect(await axe(page)).toEqual([]);
    await button.click();
    await page.getByText('The consent of carol is registered.').waitFor();
    await page.getByRole('searchbox', { name: 'User' }).fill('carol');
    await page.keyboard.press('Enter');
    await page.waitForURL(/userId=carol/);
    // The rows of everybody are shown until those of carol have come.
    await page.getByRole('row', { name: /carol.*trip-data|trip-data.*carol/ }).click();
    await page.getByRole('button', { name: 'Receipt' }).click();
    await page.getByText('What it says').click();
    await page.getByText('spdx:checksum').first().waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'consents-given');
    await page.getByLabel('Reason').fill('On the phone');
    await page.getByRole('button', { name: 'Take back for the user' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Take back for the user' }).click();
    await page.getByText('The consent of carol is taken back.').waitFor();
    await page.getByText('No consent matches.').waitFor();
    const logged = async () => {
      const { logs } = await admin('GET', '/consents/events?userId=carol');
      return logs.map((one: { type: string; reason?: string }) => `${one.type} ${one.reason}`);
    };
    await expect.poll(logged).toEqual(expect.arrayContaining(['revoked On the phone', 'registered Signed form 4711']));
    expect(complaints).toEqual([]);
  });

  test('the ledger is filtered by its address, verified, and exported', async () => {
    await sealTenant({ ...server.services, clock: server.services.clock, observe: () => {} }, tenant);
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('/ledger?type=registered&userId=alice'));
    await page.getByRole('cell', { name: 'trip-data 2 2025-05 en' }).click();
    await page.getByText('Form 1').waitFor();
    expect(await page.getByRole('cell', { name: 'read', exact: true }).count()).toBe(0);
    const verify = page.getByRole('button', { name: 'Verify the ledger' });
    const progress = page.getByRole('progressbar', { name: 'Each entry is compared with its seal.' });
    const figures = page.getByText(/^(\d+) of \1/);
    // What does not come to its end never reads as verified.
    await using held = await holdTable(server.db.adminUrl, 'accord.ledger_inbox');
    await verify.click();
    await figures.waitFor();
    expect(await progress.getAttribute('value')).toBe(await progress.getAttribute('max'));
    expect(await axe(page)).toEqual([]);
    await expect.poll(held.endWaiting).toBe(1);
    await page.getByText('The connection ended before all of the answer had arrived.').waitFor();
    await verify.click();
    await figures.waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText(/cancelled at entry (\d+) of \1\. The ledger is not verified\./).waitFor();
    expect(await page.getByText('The ledger is valid').count()).toBe(0);
    expect(await page.getByText('The last one in this browser').count()).toBe(0);
    await held.letGo();
    // The one that was cancelled gives its place back.
    const isFree = () =>
      admin('GET', '/consents/events/verify').then(
        () => true,
        () => false,
      );
    await expect.poll(isFree).toBe(true);
    await verify.click();
    await page.getByText(/The ledger is valid: [\d,]+ entries/).waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'consents-ledger');
    await page.reload();
    await page.getByText('The last one in this browser').waitFor();
    await page.getByText('Compare with an earlier checkpoint').click();
    await page.getByLabel('Checkpoint (compact JWS)').fill('no.checkpoint.here');
    await page.getByRole('button', { name: 'Verify the ledger' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Export' }).click();
    const downloaded = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'CSV' }).click();
    expect((await downloaded).suggestedFilename()).toBe(`${tenant}-ledger.csv`);
    await page.getByText(`${tenant}-ledger.csv is saved: 1 entry.`).waitFor();
    expect(complaints.filter((one) => !/400|INCOMPLETE_CHUNKED/.test(one))).toEqual([]);
  });

  test('narrow, dark and Dutch', async () => {
    await using opened = await open({ viewport: { width: 390, height: 844 }, colorScheme: 'dark', locale: 'nl-NL' });
    const { page, complaints } = opened;
    for (const path of ['/', '/trip-data', '/given', '/ledger']) {
      await page.goto(at(path));
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.getByRole('table').first().waitFor();
      if (path === '/given') {
        // Rows are cards, of the same table to screen readers.
        const row = page.getByRole('row').nth(1);
        await expect.poll(() => styleOf(row, 'display')).toBe('block');
        const headers = await page.getByRole('columnheader').allInnerTexts();
        expect([headers.length > 2, await row.getByRole('cell').count()]).toEqual([true, headers.length]);
      }
      expect([path, await axe(page)]).toEqual([path, []]);
      await look(page, `consents-narrow${path.replaceAll('/', '-')}`);
    }
    expect(complaints).toEqual([]);
  });

  const asRole = async (role: 'config-editor' | 'config-viewer' | 'support') => {
    const { browser } = await people.enrolled(tenant, role);
    const cookies = browser.cookies.map(({ name, value }) => ({ name, value, url: `${site.base}/` }));
    await using opened = await open({}, cookies);
    const { page, complaints } = opened;
    await page.goto(at('/trip-data'));
    await page.getByRole('region', { name: 'What users see' }).waitFor();
    const adoption = page.getByRole('heading', { name: 'Adoption' });
    await expect.poll(() => adoption.count()).toBe(role === 'config-editor' ? 1 : 0);
    expect(await axe(page)).toEqual([]);
    await page.goto(at('/'));
    await page.getByRole('cell', { name: 'trip-data' }).waitFor();
    const ledger = page.getByRole('link', { name: 'Ledger' });
    await expect.poll(() => ledger.count()).toBe(role === 'config-viewer' ? 0 : 1);
    if (role !== 'config-viewer') {
      await page.goto(at('/given'));
      await page.getByRole('cell', { name: '2025-05, nl' }).waitFor();
      await expect.poll(() => page.getByText('dirk').count()).toBe(role === 'support' ? 0 : 1);
      expect(await page.getByRole('button', { name: 'Register for a user' }).count()).toBe(0);
      await page.goto(at('/ledger'));
      await page.getByRole('cell', { name: 'trip-data 2 2025-05 nl' }).first().waitFor();
      expect(await page.getByRole('button', { name: 'Export' }).count()).toBe(0);
    }
    expect(complaints).toEqual([]);
  };
  test('an editor, a viewer and support', async () => {
    await Promise.all([asRole('config-editor'), asRole('config-viewer'), asRole('support')]);
  });
});
