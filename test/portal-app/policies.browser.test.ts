/** The screen Policies: the list, writing with errors and completion, trying, saving, two editors at once, impact, revisions, manifests. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { sql } from '../../server/core/db/sql.ts';
import { putPolicy } from '../../server/policies/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { manifestWriter } from '../helpers/server.ts';
import { configClient, graphSaying } from '../policies/config-client.ts';
import { types } from '../relationships/sharing.ts';
import { goAway } from './away.ts';
import { lookAround, walker } from './looks.ts';
import { axe, createPortal, executablePath, look, whileSent } from './portal.ts';

const drive = `package car.drive

default outcome := "deny"

outcome := "allow" if {
	some link in input.graph.subject
	link.relationshipType == "drives"
	link.to.type == input.resource.type
	link.to.id == input.resource.id
}
`;
const open = `package car.open
default outcome := "deny"
outcome := "allow" if input.subject.id == input.resource.owner
reason := "not yours" if outcome == "deny"
`;
const alice = { type: 'user', id: 'alice' };

describe.skipIf(executablePath === undefined)('policies', async () => {
  if (executablePath === undefined) return;
  const site = await createPortal({ role: 'config-editor', tenant: { decisionLog: { mode: 'all' } } });
  const { server, tenant, people } = site;
  const config = await configClient(server, tenant);
  const put = async (path: string, body: object) => {
    const answer = await config('PUT', path, { body });
    expect([path, answer.status, answer.body]).toEqual([path, 200, {}]);
  };
  for (const [path, body] of types) await put(path, body);
  const tests = [{ name: 'a stranger', input: { subject: alice }, expect: { outcome: 'deny' } }];
  await put('/policies/car%3Adrive', { rego: drive, tests });
  await put('/policies/car%3Aopen', { rego: open });
  await put('/policies/car%3Adrawn', { graph: graphSaying('allow') });
  const owner = { source: 'kubernetes', namespace: 'fleet', name: 'car-wash', uid: 'u' } as const;
  const body = { rego: open.replace('car.open', 'car.wash') };
  await putPolicy(server.services.policies, { ...manifestWriter, owner }, tenant, 'car:wash', body, { tests });
  const conditions = [{ type: 'Accepted', status: 'False', reason: 'CompileError', message: 'line 3: no such rule' }];
  await server.services.database.system((tx) =>
    tx.run(sql`insert into accord.resource (source, kind, namespace, name, uid, tenant, generation, spec_digest, status)
      values ('kubernetes', 'Policy', 'fleet', 'car-wash', 'u', ${tenant}, 4, '',
        ${JSON.stringify({ conditions, activeGeneration: 3 })}::jsonb)`),
  );
  const backend = await server.client(tenant, 'pg:tenant:admin');
  const decide = (action: string, id: string, owner = 'alice') =>
    server.app.inject({
      ...{ method: 'POST', url: `/authz/${tenant}`, headers: { authorization: `Bearer ${backend}` } },
      payload: { subject: alice, action, resource: { type: 'car', id, owner } },
    });
  for (const [id, owner] of [['a'], ['b'], ['c', 'bob']] as const) await decide('car:open', id, owner);
  await server.services.authz.log.close();

  const at = (path: string) => `${site.base}/portal/t/${tenant}${path}`;
  const policy = (name: string, more = '') => at(`/policies/${encodeURIComponent(name)}${more}`);
  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  const editor = (page: Page) => page.getByRole('textbox', { name: 'Rego of the policy' });
  const type = async (page: Page, text: string) => {
    await editor(page).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(text);
  };
  const member = async (role: 'security-admin' | 'config-editor' | 'config-viewer' | 'support') => {
    const { browser } = await people.enrolled(tenant, role);
    return cookiesOf(browser);
  };
  const cookiesOf = ({ cookies }: { cookies: readonly { name: string; value: string }[] }) =>
    cookies.map(({ name, value }) => ({ name, value, url: `${site.base}/` }));

  test('each page in both widths and themes', async () => {
    await using opened = await site.open();
    const { page, complaints } = opened;
    const go = walker(page);
    const shown = (name: string) => lookAround(page, `policies-${name}`);
    await page.goto(at('/policies'));
    await page.getByRole('link', { name: 'car:drive' }).waitFor();
    await page.getByText('1 server').first().waitFor();
    await page.getByText('Generation 4 is refused; generation 3 keeps serving.').waitFor();
    await page
      .getByRole('row', { name: /car:wash/ })
      .getByText('Keeps serving an older one')
      .waitFor();
    await shown('list');
    await go(at('/policies?new=1'));
    await page.getByLabel('Name', { exact: true }).waitFor();
    await shown('new');
    await go(policy('car:drive'));
    await page.getByText(/^Denied/).waitFor();
    await page.getByText('passes').waitFor();
    await shown('policy');
    await go(policy('car:drawn'));
    await page.getByText(/^Allowed/).waitFor();
    await shown('drawn');
    await go(policy('car:wash'));
    await page.getByText('Managed by kubernetes fleet/car-wash').waitFor();
    await shown('managed');
    await go(policy('car:drive', '/revisions?revision=1'));
    await page.getByText('stored now').waitFor();
    await page.locator('.cm-content').first().waitFor();
    await shown('revisions');
    expect(complaints).toEqual([]);
  });

  test('the list is searched, and the search stands in the address', async () => {
    await using opened = await site.open();
    const { page } = opened;
    await page.goto(at('/policies'));
    await page.getByRole('link', { name: 'car:open' }).waitFor();
    await page.getByLabel('Name or source contains').fill('drives');
    await page.getByRole('link', { name: 'car:open' }).waitFor({ state: 'detached' });
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('drives');
    await page.reload();
    await page.getByRole('link', { name: 'car:drive' }).waitFor();
    expect(await page.getByRole('link', { name: 'car:open' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await page.getByRole('link', { name: 'car:open' }).waitFor();
    await page.getByRole('link', { name: 'car:open' }).click();
    await heading(page, 'car:open');
  });

  test('a question is asked with what is stored, when somebody wants that', async () => {
    const payload = { relationshipType: 'drives', to: { type: 'car', id: 'c9' } };
    const headers = { authorization: `Bearer ${backend}` };
    await server.app.inject({ method: 'POST', url: `/${tenant}/actors/user/alice/relationships`, headers, payload });
    await using opened = await site.open();
    const { page, complaints } = opened;
    await page.goto(policy('car:drive'));
    await page.getByLabel('Resource id').fill('c9');
    await page.getByText('Denied: what is missing is “user:alice drives car:c9”').waitFor();
    await look(page, 'policies-missing-relationship');
    await page.getByRole('button', { name: 'Load what is stored now' }).click();
    await page.getByText('Allowed: user:alice may car:drive on car:c9: the rule in line 5').waitFor();
    await page.locator('.why-relations').getByText('found').waitFor();
    // The browser keeps the question, and no records of people.
    const kept = `Object.entries(localStorage).find(([key]) => key.endsWith('/policy-question/car:drive'))?.[1]`;
    await page.waitForFunction(`${kept}?.includes('c9')`);
    expect(await page.evaluate(kept)).not.toContain('drives');
    await look(page, 'policies-stored-facts');
    await page.getByRole('link', { name: 'line 5' }).first().click();
    await page.locator('.cm-told-line').getByText('outcome').waitFor();
    // The cursor is there, and by keyboard the way leads back to the rule, and from it to the line once more.
    await expect.poll(() => page.evaluate('document.activeElement.ariaLabel')).toBe('Rego of the policy');
    const rule = page.locator('.why-policy .why-item.marked');
    await expect.poll(() => rule.getAttribute('aria-current')).toBe('true');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    await rule.waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await rule.waitFor();
    await page.getByRole('button', { name: 'Line 5 in the answer' }).waitFor();
    await page.keyboard.press('Alt+Enter');
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('line 5');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate('document.activeElement.ariaLabel')).toBe('Rego of the policy');
    await page.getByRole('button', { name: 'Try it' }).click();
    await page.getByLabel('Resource id').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Try it' }).click();
    await expect.poll(() => page.getByLabel('Resource id').inputValue()).toBe('c9');
    expect(complaints).toEqual([]);
  });

  test('another page opens it with two things, of which it then asks', async () => {
    await using opened = await site.open();
    const { page, complaints } = opened;
    await page.goto(
      `${policy('car:drive')}?subject=${encodeURIComponent('user/bob')}&resource=${encodeURIComponent('car/c/1')}`,
    );
    await page.getByText('Denied: what is missing is “user:bob drives car:c/1”').waitFor();
    await expect.poll(() => page.getByLabel('Subject id').inputValue()).toBe('bob');
    await expect.poll(() => page.getByLabel('Resource id').inputValue()).toBe('c/1');
    // A line of the answer keeps the question.
    await page
      .getByRole('link', { name: /^line \d+$/ })
      .first()
      .click();
    await page.waitForURL(/line=\d+/);
    expect(await page.getByLabel('Resource id').inputValue()).toBe('c/1');
    expect(complaints).toEqual([]);
  });

  test('a new one is written, completed, corrected, tried, given a case, and saved', async () => {
    await using opened = await site.open();
    const { page, complaints } = opened;
    await page.goto(at('/policies'));
    await page.getByRole('button', { name: 'New policy' }).click();
    await expect.poll(() => page.evaluate('document.activeElement.placeholder')).toBe('car:drive');
    await page.getByLabel('Name', { exact: true }).fill('car:drive');
    await page.getByRole('button', { name: 'Write the policy' }).click();
    await page.getByText('There is a policy car:drive already.').waitFor();
    await page.getByLabel('Name', { exact: true }).fill('car sale');
    await page.getByText('It answers requests whose action is exactly “car sale”.').waitFor();
    await page.getByLabel('A relationship').check();
    await page.getByRole('button', { name: 'Write the policy' }).click();
    await heading(page, 'car sale');
    await page.getByRole('button', { name: 'Change the name' }).click();
    // Not that of another one that is not saved.
    const lent = `accord.draft.${encodeURIComponent(site.email)}/${tenant}/policy/car:lend`;
    await page.evaluate(`localStorage.setItem(${JSON.stringify(lent)}, '{"at":0,"value":{}}')`);
    await page.getByLabel('Name', { exact: true }).fill('car:lend');
    await page.getByRole('dialog').getByRole('button', { name: 'Change the name' }).click();
    await page.getByText('This browser has a policy car:lend already, which is not saved.').waitFor();
    await page.getByLabel('Name', { exact: true }).fill('car:sell');
    await page.getByRole('dialog').getByRole('button', { name: 'Change the name' }).click();
    await heading(page, 'car:sell');
    await page.getByText('This policy is not stored yet.').waitFor();
    await editor(page).getByText('package car.sell').waitFor();
    // Not `owns`, the first of the tenant, which no user has.
    await editor(page).getByText('"drives"').waitFor();
    // Completion knows the tenant's own names.
    await type(page, 'package car.sell\n\ndefault outcome := "deny"\n\noutcome := "allow" if "');
    await page.keyboard.type('is_o');
    await page.getByRole('option', { name: /^is_owner_of/ }).waitFor();
    await look(page, 'policies-completion');
    await page.keyboard.press('Escape');
    // And the fields of what is tried, and in a text first what it is compared with.
    await page.getByLabel('Resource id').fill('c1');
    const first = page.getByRole('option').first();
    await type(page, 'package car.sell\n\ndefault outcome := "deny"\n\noutcome := "allow" if input.');
    await page.keyboard.type('resource.i');
    await page.getByRole('option', { name: /^input\.resource\.id/ }).waitFor();
    await type(page, 'package car.sell\n\ndefault outcome := "deny"\n\noutcome := "allow" if input.');
    await page.keyboard.type('resource.co');
    await page.getByRole('option', { name: /^input\.resource\.color\s*attribute of car/ }).waitFor();
    await type(page, 'package car.sell\n\ndefault outcome := "deny"\n\noutcome := "allow" if input.action == "');
    await page.keyboard.type('ca');
    await expect.poll(() => first.textContent()).toMatch(/^car:\w+action$/);
    await page.keyboard.press('Escape');
    await page.getByRole('textbox', { name: 'Context (JSON)' }).click();
    await page.keyboard.insertText('{"country": {"code": "BE"}}');
    await type(page, 'package car.sell\n\ndefault outcome := "deny"\n\noutcome := "allow" if input.con');
    await page.keyboard.type('text.cou');
    await page.getByRole('option', { name: /^input\.context\.country\.code/ }).waitFor();
    await page.keyboard.press('Escape');
    await type(page, 'package car.sell\n\ndefault outcome := "deny"\n\noutcome := "allow" if "is_o');
    await page
      .getByText(/^Line 5/)
      .first()
      .waitFor();
    await look(page, 'policies-error');
    await expect.poll(() => page.getByRole('button', { name: 'Save…' }).isDisabled()).toBe(true);
    await format(page, drive.replace('car.drive', 'car.sell').replace('"drives"', '"is_owner_of"'));
    await page.getByLabel('Resource id').fill('c1');
    await page.getByText('Denied: what is missing is “user:alice is_owner_of car:c1”').waitFor();
    expect(
      await page
        .getByRole('link', { name: /^line \d/ })
        .first()
        .getAttribute('href'),
    ).toContain('line=');
    await page.getByLabel('Name of the case').fill('a stranger');
    await page.getByRole('button', { name: 'Add the question, expecting deny' }).click();
    await page.getByText('passes').waitFor();
    await page.getByText(/reach [\d.]+ % of the lines/).waitFor();
    await page.locator('.cm-reach.reached').first().waitFor();
    // A failing case says what it answered.
    await type(page, 'package car.sell\noutcome := "allow"');
    await page.getByText('fails', { exact: true }).waitFor();
    // It stands in the way of the save, until its new answer is accepted.
    await page.keyboard.press('Control+s');
    await page.getByText('The save is refused while 1 saved case fails.').waitFor();
    expect(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true);
    for (const key of ['', 'Control+z']) {
      if (key !== '') {
        await editor(page).click();
        await page.keyboard.press(key);
        await page.getByText('fails', { exact: true }).waitFor();
        const typed = drive.replace('car.drive', 'car.sell').replace('"drives"', '"is_owner_of"');
        await whileSent(page, 'POST', '/test', () => type(page, `${typed}# typed meanwhile\n`));
      }
      await page.getByRole('button', { name: 'Accept the new answer' }).click();
      await page.getByText('passes').waitFor();
    }
    await page.getByRole('button', { name: 'Go on editing' }).click();
    await page.getByRole('button', { name: 'Save…' }).click();
    await page.getByText('The decision log has no decision of this policy').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Revision 1 is saved and served.').waitFor();
    const { body: stored } = await config('GET', '/policies/car%3Asell');
    expect(stored.rego).toContain('"is_owner_of"');
    expect(stored.rego).toContain('# typed meanwhile');
    expect(stored.tests).toMatchObject([{ name: 'a stranger', expect: { outcome: 'deny' } }]);
    // It is deleted, and put back with its case.
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('Decisions about the action car:sell are denied from the next one on.').waitFor();
    await page.getByText('1 saved case goes with it.').waitFor();
    await page.getByRole('button', { name: 'Delete the policy' }).click();
    await heading(page, 'Policies');
    await page.getByRole('link', { name: 'car:sell' }).waitFor({ state: 'detached' });
    expect((await config('GET', '/policies/car%3Asell')).status).toBe(404);
    await page.getByRole('button', { name: 'Undo' }).last().click();
    await page.getByRole('link', { name: 'car:sell' }).waitFor();
    const { body: back } = await config('GET', '/policies/car%3Asell');
    expect([back.rego, back.tests]).toEqual([stored.rego, stored.tests]);
    expect(complaints.filter((one) => !/40[04]/.test(one))).toEqual([]);
  });

  /** A text that is to be formatted becomes the one that it is formatted to. */
  const format = async (page: Page, rego: string) => {
    // What does not parse is not changed, and the page says where.
    await page.getByRole('button', { name: 'Format', exact: true }).click();
    await page.getByText(/^The text cannot be formatted. Line 5, column \d+: /).waitFor();
    await look(page, 'policies-not-formatted');
    const untidy = rego.replaceAll('\n\t', '\n   ').replaceAll('\n\n', '\n');
    await type(page, untidy);
    await page.getByText(/^The text cannot be formatted/).waitFor({ state: 'detached' });
    const text = () => editor(page).locator('.cm-line').allTextContents();
    const lines = (of: string) => of.trimEnd().split('\n');
    await expect.poll(async () => (await text()).join('\n').trimEnd()).toBe(untidy.trimEnd());
    // The cursor stays in its word.
    await page.keyboard.press('Control+Home');
    for (let line = 1; line < lines(untidy).findIndex((one) => one.includes('link.to.type')) + 1; line++)
      await page.keyboard.press('ArrowDown');
    for (let column = 0; column < 3 + 'link.'.length; column++) await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Shift+Alt+F');
    await expect.poll(async () => (await text()).join('\n').trimEnd()).toBe(rego.trimEnd());
    await page.keyboard.insertText('X');
    await expect.poll(text).toContain('\tlink.Xto.type == input.resource.type');
    // One step back is what was typed, and another one the text as it was before it was formatted.
    await page.keyboard.press('Control+z');
    await page.keyboard.press('Control+z');
    await expect.poll(async () => (await text()).join('\n').trimEnd()).toBe(untidy.trimEnd());
    await page.getByRole('button', { name: 'Format', exact: true }).click();
    await expect.poll(async () => (await text()).join('\n').trimEnd()).toBe(rego.trimEnd());
  };

  const edit = async (page: Page, rego: string) => {
    await type(page, rego);
    await page.getByText('Not saved', { exact: true }).waitFor();
  };
  const save = async (page: Page) => {
    await page.getByRole('button', { name: 'Save…' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
  };
  const regoOf = async (name: string) => (await config('GET', `/policies/${encodeURIComponent(name)}`)).body.rego;
  const says = (package_: string, about: string) => `package ${package_}\n# ${about}\noutcome := "deny"\n`;

  test('of two editors who save at once, the second sees both and loses nothing', async () => {
    await put('/policies/car%3Alend', { rego: says('car.lend', 'first') });
    await using opened = await site.open();
    await using other = await site.open({}, await member('security-admin'));
    const { page } = opened;
    for (const one of [page, other.page]) {
      await one.goto(policy('car:lend'));
      await one.getByText('Nothing is changed.').waitFor();
    }
    await edit(page, says('car.lend', 'mine'));
    await edit(other.page, says('car.lend', 'theirs'));
    await save(other.page);
    await other.page.getByText('Revision 2 is saved and served.').waitFor();
    await save(page);
    await page.getByText('Somebody else saved this policy').waitFor();
    await page.getByRole('textbox', { name: 'Theirs, as it is stored' }).getByText('# theirs').waitFor();
    await page.getByRole('textbox', { name: 'Mine, which can be changed here' }).getByText('# mine').waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'policies-conflict');
    expect(await regoOf('car:lend')).toContain('# theirs');
    await page.getByRole('button', { name: 'Go on with mine' }).click();
    await editor(page).getByText('# mine').waitFor();
    await save(page);
    await page.getByText('Revision 3 is saved and served.').waitFor();
    expect(await regoOf('car:lend')).toContain('# mine');
    await page.getByRole('button', { name: 'Undo' }).click();
    await editor(page).getByText('# theirs').waitFor();
    await expect.poll(() => regoOf('car:lend')).toContain('# theirs');
    // Revision 5 is mine; what is typed while it is saved stays, and somebody else saves before the page has read it again.
    await page.getByText('Nothing is changed.').waitFor();
    await edit(page, says('car.lend', 'mine again'));
    await page.route('**/policies/car%3Alend', async (route) => {
      if (route.request().method() !== 'PUT') return route.fallback();
      await type(page, says('car.lend', 'typed meanwhile'));
      const response = await route.fetch();
      await put('/policies/car%3Alend', { rego: says('car.lend', 'theirs since') });
      await route.fulfill({ response });
    });
    await save(page);
    await page.getByText('Revision 5 is saved and served.').waitFor();
    await page.unroute('**/policies/car%3Alend');
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('The save of car:lend is not undone, because somebody else saved it since.').waitFor();
    await page
      .getByRole('textbox', { name: 'Mine, which can be changed here' })
      .getByText('# typed meanwhile')
      .waitFor();
    await expect.poll(() => regoOf('car:lend')).toContain('# theirs since');
  });

  test('of two editors who make a policy of one name, the second sees both', async () => {
    await using opened = await site.open();
    const { page } = opened;
    await page.goto(`${policy('car:both')}?template=deny`);
    await editor(page).waitFor();
    await type(page, says('car.both', 'mine'));
    await whileSent(page, 'PUT', '/policies/car%3Aboth', () =>
      put('/policies/car%3Aboth', { rego: says('car.both', 'theirs') }),
    );
    await save(page);
    await page.getByText('Somebody else saved this policy').waitFor();
    await page.getByRole('textbox', { name: 'Mine, which can be changed here' }).getByText('# mine').waitFor();
    await expect.poll(() => regoOf('car:both')).toContain('# theirs');
  });

  test('what is typed outlives a session that ends, and a closed page', async () => {
    await put('/policies/car%3Atow', { rego: says('car.tow', 'stored') });
    await using opened = await site.open();
    const { page, context } = opened;
    const cookies = await context.cookies();
    await page.goto(policy('car:tow'));
    await page.getByText('Nothing is changed.').waitFor();
    await edit(page, says('car.tow', 'typed before'));
    await page.getByText(/^Denied/).waitFor();
    await page.getByText('Checking…').waitFor({ state: 'detached' });
    await context.clearCookies();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(says('car.tow', 'typed after the end'));
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    await dialog.getByRole('button', { name: 'Stay on this page' }).click();
    await editor(page).getByText('# typed after the end').waitFor();
    await context.addCookies(cookies);
    await page.reload();
    await editor(page).getByText('# typed after the end').waitFor();
    await page.getByText('Not saved', { exact: true }).waitFor();
    await save(page);
    await page.getByText('Revision 2 is saved and served.').waitFor();
    expect(await regoOf('car:tow')).toContain('# typed after the end');
  });

  test('a server goes away and comes back: what is typed stays, is checked again without a key, and is saved', async () => {
    await put('/policies/car%3Arent', { rego: says('car.rent', 'stored') });
    await using opened = await site.open();
    const { page } = opened;
    await page.goto(policy('car:rent'));
    await page.getByText('Nothing is changed.').waitFor();
    await page.getByText(/^Denied/).waitFor();
    const comeBack = await goAway(server, site.base);
    await edit(page, says('car.rent', 'typed meanwhile'));
    const away = page.getByText('The server does not answer').first();
    await away.waitFor();
    await editor(page).getByText('# typed meanwhile').waitFor();
    await comeBack();
    await away.waitFor({ state: 'detached' });
    await page.getByText(/^Denied/).waitFor();
    await save(page);
    await page.getByText('Revision 2 is saved and served.').waitFor();
    expect(await regoOf('car:rent')).toContain('# typed meanwhile');
  });

  test('a member is removed while the page is open: the page says so, and what was typed is kept', async () => {
    await put('/policies/car%3Ahail', { rego: says('car.hail', 'stored') });
    const { browser, email } = await people.enrolled(tenant, 'config-editor');
    await using opened = await site.open({}, cookiesOf(browser));
    const { page } = opened;
    await page.goto(policy('car:hail'));
    await page.getByText('Nothing is changed.').waitFor();
    await page.getByText(/^Denied/).waitFor();
    await asAdmin(server.db.adminUrl, 'delete from accord.member where tenant = $1 and email = $2', [tenant, email]);
    await edit(page, says('car.hail', 'typed after the removal'));
    const dialog = page.getByRole('dialog', { name: 'You are not a member of this tenant any more' });
    await dialog.waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'policies-member-removed');
    await dialog.getByRole('button', { name: 'Stay on this page' }).click();
    await editor(page).getByText('# typed after the removal').waitFor();
    await page.getByRole('alert').getByRole('link', { name: 'Your tenants' }).click();
    await page.getByRole('heading', { level: 1, name: 'You are not a member of a tenant.' }).waitFor();
    await expect.poll(() => page.evaluate('JSON.stringify(localStorage)')).toContain('# typed after the removal');
    expect(await regoOf('car:hail')).toContain('# stored');
  });

  test('impact: which logged decisions would change, and each opens with its input', async () => {
    await using opened = await site.open();
    const { page, complaints } = opened;
    await page.goto(policy('car:open'));
    await page.getByText('Nothing is changed.').waitFor();
    await edit(page, 'package car.open\noutcome := "allow"\n');
    await page.getByRole('button', { name: 'Save…' }).click();
    await page.getByText('1 of 3 decisions would change.').waitFor();
    await page.getByText('1 decision from deny to allow').waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'policies-impact');
    await page.getByRole('group').filter({ hasText: 'deny → allow' }).getByRole('link').click();
    await page.getByText('Recorded: deny, by revision 1.').waitFor();
    await page.getByText(/^Allowed/).waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('decision')).toMatch(/^[\w-]{36}$/);
    await page.getByRole('textbox', { name: 'Input of the policy (JSON)' }).getByText('"bob"').waitFor();
    await look(page, 'policies-decision');
    await page.getByRole('button', { name: 'Discard the draft' }).click();
    await page.getByText(/^Denied/).waitFor();
    await page.getByText('not yours').first().waitFor();
    expect(complaints).toEqual([]);
  });

  test('impact: what changed since the decisions is told apart, and decisions about the same stand together', async () => {
    for (const id of ['a', 'b', 'b']) await decide('car:hire', id);
    await server.services.authz.log.close();
    await put('/policies/car%3Ahire', { rego: 'package car.hire\noutcome := "allow" if input.resource.id == "a"' });
    await using opened = await site.open();
    const { page, complaints } = opened;
    await page.goto(policy('car:hire'));
    await page.getByText('Nothing is changed.').waitFor();
    await edit(page, 'package car.hire\noutcome := "allow" if input.resource.id in {"a"}\n');
    await page.getByRole('button', { name: 'Save…' }).click();
    await page.getByText('0 of 3 decisions would change.').waitFor();
    await page.getByText(/^3 more are answered otherwise than they were/).waitFor();
    expect(await page.getByText('from deny to').count()).toBe(0);
    await page.reload();
    await editor(page).getByText('in {"a"}').waitFor();
    await edit(page, 'package car.hire\noutcome := "allow"\n');
    await page.getByRole('button', { name: 'Save…' }).click();
    await page.getByText('2 of 3 decisions would change.').waitFor();
    await page.getByText('2 decisions from deny to allow').waitFor();
    await page.getByText(/^1 more is answered otherwise than it was/).waitFor();
    await page.getByText('1 earlier decision about the same').click();
    expect(await page.getByRole('link', { name: 'user:alice · car:b' }).count()).toBe(2);
    expect(await axe(page)).toEqual([]);
    await look(page, 'policies-impact-since');
    expect(complaints).toEqual([]);
    expect((await config('DELETE', '/policies/car%3Ahire')).status).toBeLessThan(300);
  });

  test('answers of each kind are drawn: undefined, out of budget, an outcome of its own, input of a strange shape', async () => {
    await using opened = await site.open();
    const { page, complaints } = opened;
    await page.goto(policy('car:open'));
    await page.getByText('Nothing is changed.').waitFor();
    await type(page, 'package car.open\noutcome := "allow" if input.subject.id == "bob"\n');
    await page.getByText('no rule of car:open gave an outcome').waitFor();
    await type(
      page,
      'package car.open\noutcome := "allow" if { r := numbers.range(1, 5000); some i in r; some j in r; i * j == 0.5 }\n',
    );
    await page.getByText(/the policy did not answer/).waitFor();
    await page.getByText('policy_budget_exhausted').first().waitFor();
    await type(page, 'package car.open\noutcome := {"cars": 3}\n');
    await page.getByText('car:open gave an outcome of its own.').waitFor();
    const consented = 'some c in input.consents; c.name == "research"; c.sufficient';
    await type(page, `package car.open\ndefault outcome := "deny"\noutcome := "allow" if { ${consented} }\n`);
    await page.getByText('user:alice agrees to research').first().waitFor();
    await look(page, 'policies-missing-consent');
    await page.getByLabel('JSON', { exact: true }).check();
    const input = page.getByRole('textbox', { name: 'Input of the policy (JSON)' });
    await input.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('{"subject": 1, "graph": {"subject": "x", "resource": [1]}, "consents": {"a": 1}}');
    await page.getByText('somebody', { exact: true }).waitFor();
    await page.getByText(/^Denied/).waitFor();
    await page.keyboard.insertText('}');
    await page.getByText('This is not a JSON object').waitFor();
    await page.getByRole('button', { name: 'Discard the draft' }).click();
    expect(complaints).toEqual([]);
  });

  test('a policy of a manifest is read-only; a change of it is a text to apply', async () => {
    await using opened = await site.open();
    const { page, complaints } = opened;
    await page.goto(policy('car:wash'));
    await page.getByText('Managed by kubernetes fleet/car-wash').waitFor();
    await editor(page).click();
    await page.keyboard.insertText('not taken');
    expect(await editor(page).textContent()).not.toContain('not taken');
    expect(await page.getByRole('button', { name: /^(Save…|Format)$/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'Show as' }).click();
    await page.getByRole('menuitem', { name: 'Manifest (YAML)' }).click();
    await page.getByRole('dialog').getByText('kind: Policy').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Open a change' }).click();
    await page.getByText('passes').waitFor();
    await type(page, 'package car.wash\noutcome := "allow"');
    await page.getByText('outcome is "allow", expected "deny"').waitFor();
    await edit(page, says('car.wash', 'changed'));
    await page.getByText('passes').waitFor();
    await page.getByRole('button', { name: 'Finish the change…' }).click();
    await page.getByRole('button', { name: 'Show the change' }).click();
    const change = page.getByRole('dialog', { name: 'The change' });
    await change.getByText('kubectl patch policies.accord.dev car-wash -n fleet').waitFor();
    await change.locator('pre').getByText('# changed').waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'policies-change');
    expect(await regoOf('car:wash')).not.toContain('# changed');
    expect(complaints).toEqual([]);
  });

  test('an earlier revision is compared and restored', async () => {
    await put('/policies/car%3Apark', { rego: says('car.park', 'one') });
    await put('/policies/car%3Apark', { rego: says('car.park', 'two') });
    await using opened = await site.open({}, await member('security-admin'));
    const { page, complaints } = opened;
    await page.goto(policy('car:park', '/revisions'));
    await page.getByRole('button', { name: 'Difference to revision 1' }).click();
    await page.getByRole('textbox', { name: 'Revision 1' }).getByText('# one').waitFor();
    await page.getByRole('textbox', { name: 'Revision 2' }).getByText('# two').waitFor();
    await page.getByRole('button', { name: 'Restore revision 1' }).click();
    const dialog = page.getByRole('dialog', { name: 'Restore revision 1 of car:park?' });
    await dialog.getByText('becomes revision 3').waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'policies-restore');
    await dialog.getByRole('button', { name: 'Restore', exact: true }).click();
    await page.getByRole('heading', { name: 'Revision 3' }).waitFor();
    expect(await regoOf('car:park')).toContain('# one');
    expect(complaints).toEqual([]);
  });

  test('a viewer and support read; support sees why without whom', async () => {
    const { body: log } = await config('GET', '/decisions?action=car:open&outcome=deny');
    for (const role of ['config-viewer', 'support'] as const) {
      await using opened = await site.open({}, await member(role));
      const { page, complaints } = opened;
      await page.goto(at('/policies'));
      await page.getByRole('link', { name: 'car:open' }).waitFor();
      expect(await page.getByRole('button', { name: 'New policy' }).count()).toBe(0);
      await page.goto(policy('car:open', role === 'support' ? `?decision=${log.decisions[0].id}` : ''));
      await page.getByText('Your role reads policies and does not try them.').waitFor();
      expect(await page.getByRole('button', { name: 'Save…' }).count()).toBe(0);
      if (role === 'support') {
        await page.getByText(/^Denied/).waitFor();
        await page.getByText('user:***').first().waitFor();
        await page.getByText('Your role does not see this.').first().waitFor();
        expect(await page.getByText('bob').count()).toBe(0);
      }
      expect(await axe(page)).toEqual([]);
      await look(page, `policies-${role}`);
      await page.goto(policy('car:open', '/revisions'));
      await page.getByText('stored now').waitFor();
      expect(await page.getByRole('button', { name: /^Restore/ }).count()).toBe(0);
      if (role === 'support') {
        await page.goto(at('/activity'));
        await page.getByRole('cell', { name: '*** → car:open → ***' }).first().waitFor();
      }
      expect(complaints).toEqual([]);
    }
  });

  test('speaks Dutch', async () => {
    await using opened = await site.open({ locale: 'nl-NL' });
    const { page } = opened;
    await page.goto(policy('car:drive'));
    await page.getByText(/^Geweigerd/).waitFor();
    await page.getByRole('heading', { name: 'Probeer het' }).waitFor();
    // What CodeMirror says itself, too.
    await page.locator('.cm-content').first().click();
    await page.keyboard.press('Control+f');
    await page.getByPlaceholder('Zoek', { exact: true }).waitFor();
    await page.getByText('hoofdlettergevoelig').waitFor();
    await look(page, 'policies-dutch');
  });
});
