/** The activity of the portal in a browser: decisions, events, subscriptions with their deliveries, mail, templates, queries. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { asAdmin } from '../helpers/admin.ts';
import { configClient } from '../policies/config-client.ts';
import { goAway } from './away.ts';
import { axe, comeBackLater, createPortal, executablePath, look, openPalette, styleOf, whileSent } from './portal.ts';

describe.skipIf(executablePath === undefined)('the activity', async () => {
  if (executablePath === undefined) return;
  const site = await createPortal({ role: 'security-admin', tenant: { decisionLog: { mode: 'all' } } });
  const { tenant, server, open, base } = site;
  const config = await configClient(server, tenant);
  const rego = 'package p\ndefault outcome := "deny"\noutcome := "allow" if input.subject.id == "alice"';
  expect((await config('PUT', '/policies/car%3Adrive', { body: { rego } })).status).toBe(200);
  const backend = await server.client(tenant, 'pg:tenant:admin');
  const headers = { authorization: `Bearer ${backend}` };
  for (const id of ['alice', 'bob']) {
    const payload = { subject: { type: 'user', id }, action: 'car:drive', resource: { type: 'car', id: '7' } };
    await server.app.inject({ method: 'POST', url: `/authz/${tenant}`, headers, payload });
  }
  await server.services.authz.log.close(); // it writes behind the answers
  const at = (path: string) => `${site.base}/portal/t/${tenant}/activity${path}`;

  test('decisions are filtered, and one leads to its policy', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('?outcome=deny'));
    await page.getByRole('cell', { name: 'user/bob → car:drive → car/7' }).waitFor();
    expect(await page.getByRole('cell', { name: 'user/alice' }).count()).toBe(0);
    await page.getByRole('cell', { name: 'user/bob' }).click();
    const link = page.getByRole('link', { name: 'Explain it in the policy' });
    await link.waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'activity-decisions');
    await link.click();
    await page.getByRole('heading', { level: 1, name: 'car:drive' }).waitFor();
    await page
      .getByText(/^Denied/)
      .first()
      .waitFor();
    // Its id, pasted, leads there too.
    const { decisions } = (await config('GET', '/decisions?outcome=deny')).body;
    await page.goto(at(''));
    await page.getByRole('cell', { name: 'user/alice' }).waitFor();
    await (await openPalette(page)).fill(decisions[0].id);
    await page.getByRole('option', { name: decisions[0].id }).click();
    await page.waitForURL(`**/policies/car%3Adrive?decision=${decisions[0].id}`);
    expect(complaints).toEqual([]);
  });

  test('events have gapless numbers', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    // Events get their numbers behind the writes.
    const authorization = `Bearer ${await server.client(tenant, 'events:read')}`;
    const url = `/tenants/${tenant}/event-stream/events`;
    const told = async () => (await server.app.inject({ url, headers: { authorization } })).body;
    await expect.poll(told).toContain('POLICY_UPDATED');
    await page.goto(at('/events'));
    await page.getByRole('cell', { name: 'POLICY_UPDATED' }).waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'activity-events');
    expect(complaints).toEqual([]);
  });

  test('a subscription is made, its secret shown once and rotated, changed, paused and deleted', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('/subscriptions'));
    await page.getByRole('button', { name: 'New subscription' }).click();
    await page.getByLabel('Endpoint').fill('https://hooks.example.com/accord');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('The signing secret is shown this once').waitFor();
    const first = await page.locator('.panel pre.code').innerText();
    expect(first).toMatch(/^whsec_/);
    await page.locator('.panel').getByRole('link').click();
    await page.getByRole('heading', { level: 2, name: 'Deliveries' }).waitFor();
    await page.getByRole('heading', { level: 1, name: 'https://hooks.example.com/accord' }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Subscriptions' }).first().click();
    await page.getByRole('row', { name: /^https:\/\/hooks\.example\.com\/accord all delivers/ }).click();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const form = page.getByRole('complementary', { name: 'Edit' });
    await form.getByLabel('Requests in a second').fill('5');
    await form.getByLabel('Only about resources').fill('car');
    await form.getByLabel('Authentication').selectOption('bearer');
    await form.getByLabel('Token').fill('a-token-of-the-endpoint');
    expect(await axe(page)).toEqual([]);
    await look(page, 'activity-subscription-edit');
    // Somebody else saves meanwhile: nothing of theirs is replaced before it was seen.
    const admin = await configClient(server, tenant, 'security-admin');
    const { resources } = (await admin('GET', '/event-stream/subscriptions')).body;
    const stored = `/event-stream/subscriptions/${resources[0]}`;
    const theirs = { endpoint: 'https://hooks.example.com/accord', eventTypes: ['RELATIONSHIP_*'] };
    expect((await admin('PUT', stored, { body: theirs })).status).toBe(200);
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByText('RELATIONSHIP_*').waitFor();
    await form.getByRole('button', { name: 'Go on with mine' }).click();
    await form.getByLabel('Event types').fill('RELATIONSHIP_*, POLICY_UPDATED');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The subscription is saved.').waitFor();
    await form.waitFor({ state: 'detached' });
    expect((await admin('GET', stored)).body).toMatchObject({
      ...{ eventTypes: ['RELATIONSHIP_*', 'POLICY_UPDATED'], maxPerSecond: 5, enabled: true, format: 'cloudevents' },
      ...{ filters: { resourceTypes: ['car'] }, auth: { type: 'bearer' } },
    });
    expect(await page.evaluate('JSON.stringify({ ...localStorage })')).not.toContain('a-token-of-the-endpoint');
    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    const asked = page.getByRole('dialog');
    await asked.getByText('For another 24 hours').waitFor();
    await asked.getByRole('button', { name: 'Rotate the secret' }).click();
    const rotated = page.getByRole('complementary', { name: 'The new signing secret' });
    const secret = rotated.locator('pre.code');
    await secret.focus();
    await page.keyboard.press('Escape');
    expect(await secret.innerText()).toMatch(/^whsec_/);
    expect(await secret.innerText()).not.toBe(first);
    expect((await admin('GET', stored)).body.signingSecrets.length).toBe(2);
    await look(page, 'activity-subscription-rotated');
    await rotated.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('paused', { exact: true }).waitFor();
    // While it is paused a replay waits, and can be cancelled.
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByLabel('Since').fill('2026-01-01T00:00');
    await page.getByRole('button', { name: 'Start the replay' }).click();
    const replays = page.getByRole('region', { name: 'Replays' });
    await replays.getByText('running').waitFor();
    await expect.poll(() => replays.getByRole('progressbar').getAttribute('value')).toBe('0');
    expect(await axe(page)).toEqual([]);
    await look(page, 'activity-replay');
    await replays.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the replay' }).click();
    await replays.getByText('cancelled').waitFor();
    await replays.getByText('0 delivered, 0 failed').waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'activity-subscription');
    await page.getByRole('button', { name: 'Delete the subscription' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the subscription' }).click();
    await page.getByText('Events are sent to no endpoint.').waitFor();
    // The browser itself tells of the answer 412.
    expect(complaints.filter((one) => !one.includes('412'))).toEqual([]);
  });

  test('a form and a list outlive a server that goes away, and a form a session that ends', async () => {
    await using opened = await open();
    const { page, context } = opened;
    const cookies = await context.cookies();
    await page.goto(at(''));
    await page.getByRole('cell', { name: 'user/bob' }).waitFor();
    await page.getByRole('link', { name: 'Subscriptions' }).click();
    await page.getByRole('button', { name: 'New subscription' }).click();
    const form = page.getByRole('complementary', { name: 'New subscription' });
    await form.getByLabel('Endpoint').fill('https://hooks.example.com/away');
    await form.getByLabel('Types').fill('POLICY_UPDATED');
    const create = form.getByRole('button', { name: 'Create', exact: true });
    const isAsTyped = async () => {
      expect(await form.getByLabel('Endpoint').inputValue()).toBe('https://hooks.example.com/away');
      expect(await form.getByLabel('Types').inputValue()).toBe('POLICY_UPDATED');
    };
    const comeBack = await goAway(server, base);
    await create.click();
    const alert = form.getByRole('alert');
    await alert.getByText('The server does not answer.').waitFor();
    await alert.getByText('Check your connection. What you typed stays on this page.').waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'activity-away');
    await isAsTyped();
    await comeBack();
    await context.clearCookies();
    await create.click();
    const ended = page.getByRole('dialog', { name: 'Your session has ended' });
    await ended.waitFor();
    await isAsTyped();
    await context.addCookies(cookies);
    await comeBackLater(page);
    await ended.waitFor({ state: 'detached' });
    await isAsTyped();
    await create.click();
    await form.getByText('The signing secret is shown this once').waitFor();
    const { resources } = (await config('GET', '/event-stream/subscriptions')).body;
    expect(resources.length).toBe(1);
    // A list whose objects do not arrive is none of their names.
    const each = '**/event-stream/subscriptions/*';
    await page.route(each, (route) => route.abort());
    await page.goto(at('/subscriptions'));
    const list = page.getByRole('main');
    await list.getByText('The server does not answer.').waitFor();
    await page.unroute(each);
    await list.getByRole('button', { name: 'Try again' }).click();
    await list.getByRole('cell', { name: 'https://hooks.example.com/away' }).waitFor();
    await config('DELETE', `/event-stream/subscriptions/${resources[0]}`);
    // A list.
    await page.goto(at(''));
    await page.getByRole('cell', { name: 'user/bob' }).waitFor();
    const comeBackAgain = await goAway(server, base);
    await page.getByLabel('Outcome').selectOption('deny');
    await page.getByRole('main').getByText('The server does not answer.').waitFor();
    await comeBackAgain();
    await page.getByRole('main').getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('cell', { name: 'user/bob' }).waitFor();
  });

  test('a member who is removed is told so, and sees no more records', async () => {
    const { browser, email } = await site.people.enrolled(tenant, 'config-editor');
    const cookies = browser.cookies.map(({ name, value }) => ({ name, value, url: `${base}/` }));
    await using opened = await open({}, cookies);
    const { page } = opened;
    await page.goto(at('?outcome=deny'));
    const row = page.getByRole('cell', { name: 'user/bob' });
    await row.click();
    const details = page.getByRole('complementary');
    await details.getByRole('link', { name: 'Explain it in the policy' }).waitFor();
    // The answer to a query, and what a policy was told and answered, are records, too.
    const query = await opened.context.newPage();
    await query.goto(at('/query'));
    await query.getByRole('button', { name: 'Run' }).click();
    const answer = query.getByRole('region', { name: 'Answer' });
    await answer.waitFor();
    const { decisions } = (await config('GET', '/decisions?outcome=deny')).body;
    const policy = await opened.context.newPage();
    await policy.goto(at(`/../policies/car%3Adrive?decision=${decisions[0].id}`));
    const denied = policy.getByText(/^Denied/);
    await denied.first().waitFor();
    const input = policy.getByRole('textbox', { name: /input/i });
    await input.getByText('bob').waitFor();
    await asAdmin(server.db.adminUrl, 'delete from accord.member where tenant = $1 and email = $2', [tenant, email]);
    await comeBackLater(page);
    const dialog = page.getByRole('dialog', { name: 'You are not a member of this tenant any more' });
    await dialog.waitFor();
    expect(await axe(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Stay on this page' }).click();
    await details.waitFor({ state: 'detached' });
    // The list, too, is asked for again.
    await page.getByRole('main').getByRole('alert').first().waitFor();
    expect(await row.count()).toBe(0);
    await look(page, 'activity-member-removed');
    for (const [other, shown] of [
      [query, answer],
      [policy, denied.first()],
      [policy, input.getByText('bob')],
    ] as const) {
      await comeBackLater(other);
      await shown.waitFor({ state: 'detached' });
    }
    await Promise.all([query.close(), policy.close()]);
    await page.getByRole('alert').getByRole('link', { name: 'Your tenants' }).click();
    await page.getByRole('heading', { level: 1, name: 'You are not a member of a tenant.' }).waitFor();
  });

  test('a mail template is previewed, saved, and given back', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('/templates'));
    await page.getByRole('row', { name: /relationship-invitation en/ }).click();
    await page.getByRole('heading', { level: 1, name: 'relationship-invitation (en)' }).waitFor();
    await page.getByRole('button', { name: 'Show as' }).click();
    await page.getByRole('menuitem', { name: 'Manifest' }).click();
    const shown = await page.getByRole('dialog').locator('pre').innerText();
    const { subject, html, text } = (await config('GET', '/mail/templates/relationship-invitation/en')).body;
    expect(parse(shown)).toMatchObject({
      ...{ kind: 'MailTemplate', metadata: { name: 'relationship-invitation-en', namespace: tenant } },
      spec: { tenantRef: { name: tenant }, name: 'relationship-invitation', language: 'en', subject, html, text },
    });
    await page.keyboard.press('Escape');
    const part = (label: string) => page.getByRole('textbox', { name: label, exact: true });
    const type = async (label: string, words: string) => {
      await part(label).click();
      await page.keyboard.press('Control+a');
      await page.keyboard.insertText(words);
    };
    await type('Subject', '{{ name }} lends');
    await page.getByRole('heading', { level: 2, name: /lends$/ }).waitFor();
    // It follows what is typed; what is wrong is said at its line, beside the mail as it was.
    await type('HTML (Liquid)', '<p>\n  {{ nobody }}</p>');
    await page.getByText('Line 2, column 6: the mail has no variable nobody').waitFor();
    await page.locator('.template-part.html .cm-lint-marker-error').waitFor();
    await page.getByText('This is the mail as it was before the errors.').waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'activity-template-error');
    // The variables of the mail are completed.
    await type('HTML (Liquid)', '<p>{{ ');
    await page.keyboard.type('acti');
    await page.getByRole('option', { name: 'actionUrl' }).click();
    await page.keyboard.type(' | upc');
    await page.getByRole('option', { name: 'upcase' }).click();
    await part('HTML (Liquid)').getByText('{{ actionUrl | upcase', { exact: false }).waitFor();
    await type('HTML (Liquid)', html);
    await page.getByText('This is the mail as it was before the errors.').waitFor({ state: 'detached' });
    await type('Subject', '{{ name }} shares with you');
    await page.getByRole('heading', { level: 2, name: /shares with you$/ }).waitFor();
    const title = page.frameLocator('iframe[title="The mail as it looks"]').getByRole('heading', { level: 1 });
    await title.waitFor();
    // The mail has its own styles, which the policy of the portal's pages would not let it have.
    expect(await styleOf(title, 'fontSize')).toBe('22px');
    // By the page: nothing is drawn in a frame that is out of sight, so that nothing in it becomes stable.
    await page.locator('iframe[title="The mail as it looks"]').scrollIntoViewIfNeeded();
    await look(page, 'activity-template-preview');
    // Somebody else makes one before the first save, and changes it before the draft is seen again.
    const path = '/mail/templates/relationship-invitation/en';
    const theirs = (subject: string) => config('PUT', path, { body: { subject, text: 'Theirs' } });
    const subjectOf = async () => (await config('GET', path)).body.subject;
    const save = page.getByRole('button', { name: 'Save' });
    await theirs('theirs');
    await save.click();
    await page.getByText('Somebody else changed this after you opened it.').waitFor();
    await page.getByRole('definition').getByText('theirs', { exact: true }).waitFor();
    expect(await save.isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Go on with mine' }).click();
    await theirs('theirs again');
    await comeBackLater(page);
    await page.getByRole('definition').getByText('theirs again', { exact: true }).waitFor();
    expect([await save.isDisabled(), await subjectOf()]).toEqual([true, 'theirs again']);
    expect(await axe(page)).toEqual([]);
    await look(page, 'activity-template-conflict');
    await page.getByRole('button', { name: 'Go on with mine' }).click();
    await whileSent(page, 'PUT', path, () => type('Subject', 'typed meanwhile'));
    await save.click();
    await page.getByText('The template is saved.').waitFor();
    expect(await subjectOf()).toBe('{{ name }} shares with you');
    expect(await part('Subject').textContent()).toBe('typed meanwhile');
    await save.click();
    await expect.poll(subjectOf).toBe('typed meanwhile');
    await page.getByText('What you typed before is kept').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Use the built-in one' }).click();
    // Nor is deleted what somebody saved since.
    await theirs('theirs at last');
    await page.getByRole('dialog').getByRole('button', { name: 'Use the built-in one' }).click();
    await page.getByRole('dialog').getByText('Somebody else changed this after you opened it.').waitFor();
    expect(await subjectOf()).toBe('theirs at last');
    await page.reload();
    await page.getByRole('button', { name: 'Use the built-in one' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Use the built-in one' }).click();
    await page.getByText('The built-in template is used.').waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'activity-template');
    // Another language, and one that is missing, which begins as a copy.
    const languages = page.getByRole('navigation', { name: 'Languages of this mail' });
    await languages.getByRole('link', { name: 'nl' }).click();
    await page.getByRole('heading', { level: 1, name: 'relationship-invitation (nl)' }).waitFor();
    await page.getByRole('heading', { level: 2, name: 'Maria Jansen deelt iets met je bij Example' }).waitFor();
    await languages.getByRole('button', { name: 'Another language' }).click();
    await page.getByLabel('Language, such as de or pt-BR').fill('de');
    await page.keyboard.press('Enter');
    await page.getByText('There is no template in de yet. What stands here is the one in en').waitFor();
    await languages.getByRole('link', { name: 'de missing' }).waitFor();
    await type('Subject', '{{ name }} teilt etwas');
    await page.getByRole('heading', { level: 2, name: 'Maria Jansen teilt etwas' }).waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'activity-template-missing');
    await save.click();
    await languages.getByRole('link', { name: 'de own' }).waitFor();
    expect((await config('GET', '/mail/templates/relationship-invitation/de')).body).toMatchObject({
      ...{ subject: '{{ name }} teilt etwas', html, builtIn: false },
    });
    await page.getByText('There is no template in de yet').waitFor({ state: 'detached' });
    await page.getByText(/What you typed before|Somebody else changed this/).waitFor({ state: 'detached' });
    await languages.getByRole('link', { name: 'fr' }).click();
    await page.getByRole('heading', { level: 2, name: 'Maria Jansen partage quelque chose avec vous' }).waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await axe(page)).toEqual([]);
    await look(page, 'activity-template-narrow');
    expect(complaints.filter((one) => !/40[04]|412/.test(one))).toEqual([]);
  });

  test('a test mail is sent with values; what is wrong is said at its field', async () => {
    const own = { subject: 'Rent of {{ car.plate }}', text: 'Paid: {{ amount }}' };
    expect((await config('PUT', '/mail/templates/rent-paid/en', { body: own })).status).toBe(200);
    await using opened = await open();
    const { page, complaints } = opened;
    const panel = page.getByRole('complementary', { name: 'Send a test mail' });
    const send = () => panel.getByRole('button', { name: 'Send it' }).click();
    const wrong = (field: string) =>
      expect.poll(() => panel.getByLabel(field).getAttribute('aria-invalid')).toBe('true');
    await page.goto(at('/templates/email-verification/en'));
    await page.getByRole('button', { name: 'Send a test mail' }).click();
    expect(await panel.getByLabel('To').inputValue()).toBe(site.email);
    expect(await panel.getByLabel('application').inputValue()).toBe('Cars of Ghent');
    expect(await panel.getByLabel('validHours').inputValue()).toBe('24');
    expect(await axe(page)).toEqual([]);
    await panel.getByLabel('To').fill('nobody');
    await send();
    await wrong('To');
    await panel.getByLabel('To').fill('ann@example.org');
    await panel.getByLabel('validHours').fill('a day');
    await send();
    await wrong('validHours');
    await panel.getByText('Must be a number.').waitFor();
    expect(await panel.getByRole('alert').count()).toBe(0);
    expect(await axe(page)).toEqual([]);
    await look(page, 'activity-test-mail');
    await panel.getByLabel('validHours').fill('48');
    await send();
    await panel.getByRole('status').getByText('a***@example.org').waitFor();
    expect(await panel.getByLabel('validHours').getAttribute('aria-invalid')).not.toBe('true');

    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(at('/templates/rent-paid/en'));
    // Nobody knows its values: its variables stand for them.
    await page.getByRole('heading', { level: 2, name: 'Rent of plate' }).waitFor();
    await page.getByRole('button', { name: 'Send a test mail' }).click();
    await panel.getByLabel('car').fill('{"plate": "AB-1"');
    await panel.getByText('This is no JSON').waitFor();
    await panel.getByLabel('car').fill('{"plate": "AB-1"}');
    await send();
    await wrong('amount');
    expect(await axe(page)).toEqual([]);
    await look(page, 'activity-test-mail-narrow');
    await panel.getByLabel('amount').fill('12');
    await send();
    await panel.getByRole('link', { name: 'In the log of mails' }).click();
    await page.getByRole('cell', { name: 'rent-paid (en)' }).waitFor();
    await page.getByRole('cell', { name: 'email-verification (en)' }).waitFor();
    expect(complaints.filter((one) => !one.includes('400'))).toEqual([]);
  });

  test('nothing in the frame of a mail runs, loads, or reaches the portal', async () => {
    await using opened = await open();
    const { page } = opened;
    // What arrives of it, at the portal and elsewhere: the browser also tells of requests that it did not send. The page itself asks, too.
    const asked: string[] = [];
    const count = ({ method, url, headers }: IncomingMessage) => {
      const one = `${method} ${headers.host}${url}`;
      if (/hostile|portal\/frame/.test(one) || !one.includes(new URL(base).host)) asked.push(one);
    };
    server.app.server.on('request', count);
    const elsewhere = createServer((request, response) => {
      count(request);
      response.end();
    }).listen(0, '127.0.0.1');
    await once(elsewhere, 'listening');
    page.on('dialog', () => asked.push('a dialog'));
    await page.goto(at('/templates'));
    await page.getByRole('table').waitFor();
    const before = { url: page.url(), title: await page.title() };
    const canary = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
    const html = `<!doctype html><html><head><meta http-equiv="refresh" content="0;url=${base}/portal/session?hostile">
<link rel="stylesheet" href="${canary}/a.css"><style>@import url(${canary}/b.css); body { background: url(${canary}/c.png); color: rgb(1, 2, 3) }</style>
<script src="${base}/portal/assets/x.js?hostile"></script><script src="${canary}/x.js"></script><base href="${canary}/" target="_top"></head>
<body onload="parent.document.title='run'"><p id="shown">Shown</p><script>top.document.title = 'run'; alert(1); fetch('${base}/portal/session?hostile')</script>
<img src="${canary}/d.png" onerror="top.location='${canary}'"><img src="${base}/tenants/${tenant}/policies?hostile"><video src="${canary}/e.mp4"></video>
<iframe src="${base}/portal?hostile"></iframe><object data="${canary}/f"></object><embed src="${canary}/g"><svg onload="alert(2)"><use href="${base}/portal/assets/x.svg?hostile#a"/></svg>
<form id="f" action="${base}/portal/session/end?hostile" method="post"><button id="press">Press</button><input name="x" autofocus onfocus="form.submit()"></form>
<a id="up" href="${base}/portal/log-out?hostile" target="_top">Up</a><a id="out" href="javascript:alert(3)">Out</a></body></html>`;
    const posted = JSON.stringify([html, `${base}/portal/frame`]);
    await page.evaluate(`{
      const [html, action] = ${posted};
      const frame = Object.assign(document.createElement('iframe'), { name: 'hostile', title: 'hostile' });
      frame.setAttribute('sandbox', '');
      const form = Object.assign(document.createElement('form'), { method: 'post', action, target: 'hostile' });
      form.append(Object.assign(document.createElement('input'), { type: 'hidden', name: 'html', value: html }));
      document.body.append(frame, form);
      form.submit();
    }`);
    const frame = page.frameLocator('iframe[title="hostile"]');
    await frame.locator('#shown').waitFor();
    expect(await styleOf(frame.locator('#shown'), 'color')).toBe('rgb(1, 2, 3)');
    for (const id of ['press', 'up', 'out']) await frame.locator(`#${id}`).click({ force: true });
    // What would be asked has been, half a second after the last answer.
    await page.waitForLoadState('networkidle');
    server.app.server.off('request', count);
    elsewhere.close();
    expect(asked).toEqual([`POST ${new URL(base).host}/portal/frame`]);
    expect({ url: page.url(), title: await page.title() }).toEqual(before);
  });

  test('a query is asked; what is wrong is said', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('/query'));
    // The schema is open, beside the query where there is room.
    const schema = await page.locator('pre.code', { hasText: 'type Query' }).boundingBox();
    const run = await page.getByRole('button', { name: 'Run' }).boundingBox();
    expect(schema?.x).toBeGreaterThan((run?.x ?? 0) + (run?.width ?? 0));
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('region', { name: 'Answer' }).getByText('"allRelationships"').waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'activity-query');
    const editor = page.locator('.cm-content').first();
    await editor.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('{{ allMembers }');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('alert').waitFor();
    // The browser itself tells of the answer 400.
    expect(complaints.filter((one) => !one.includes('400'))).toEqual([]);
  });

  test('narrow and dark, and nothing is wider than the window', async () => {
    await using opened = await open({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
    const { page, complaints } = opened;
    for (const path of ['', '/events', '/subscriptions', '/mail', '/templates', '/query']) {
      await page.goto(at(path));
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect([path, await axe(page)]).toEqual([path, []]);
      await look(page, `activity-narrow${path.replace('/', '-')}`);
    }
    expect(complaints).toEqual([]);
  });
});
