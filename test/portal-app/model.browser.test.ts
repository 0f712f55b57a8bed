/** The model in the portal: types as a picture and lists, the relationships explorer, invitations, import and export; by role. */
import { beforeAll, describe, expect, test } from 'vitest';
import { putRelationshipType } from '../../server/types/index.ts';
import { holdTable } from '../helpers/admin.ts';
import { savedText } from '../helpers/chromium.ts';
import { manifestWriter } from '../helpers/server.ts';
import { goAway } from './away.ts';
import { axe, comeBackLater, createPortal, executablePath, look } from './portal.ts';

const policy = `package p
default outcome := "deny"
outcome := "allow" if {
  some link in input.graph.subject
  link.relationshipType == "may_use"
  link.to.id == input.resource.id
}`;

describe.skipIf(executablePath === undefined)('the model', async () => {
  if (executablePath === undefined) return;
  const site = await createPortal({ role: 'security-admin' });
  const { tenant, open, server, base } = site;
  const at = (path: string) => `${base}/portal/t/${tenant}${path}`;
  const c = `/tenants/${tenant}`;
  const as = async (role: 'config-viewer' | 'support' | 'config-editor') => {
    const { browser } = await site.people.enrolled(tenant, role);
    return browser.cookies.map(({ name, value }) => ({ name, value, url: `${base}/` }));
  };
  const token = await server.member(tenant, 'security-admin');
  const backend = await server.client(tenant, 'pg:tenant:admin');
  const ask = (method: 'GET' | 'PUT' | 'POST' | 'DELETE', url: string, payload?: object, by = token) =>
    server.app.inject({ method, url, headers: { authorization: `Bearer ${by}` }, ...(payload && { payload }) });
  const call = async (...what: Parameters<typeof ask>) => {
    const answer = await ask(...what);
    expect([what[1], answer.statusCode < 300 ? 200 : answer.body]).toEqual([what[1], 200]);
  };
  const relate = (from: string, relationshipType: string, to: string) => {
    const [fromType, fromId] = from.split('/');
    const [type, id] = to.split('/');
    return call('POST', `${c}/actors/${fromType}/${fromId}/relationships`, { relationshipType, to: { type, id } });
  };

  beforeAll(async () => {
    await call('PUT', `${c}/actor-types/user`, { attributes: { displayName: { type: 'string' } } });
    const named = (name: string) => ({ displayNames: [{ language: 'en', name }] });
    await call('PUT', `${c}/actor-types/household`, named('home'));
    await call('PUT', `${c}/resource-types/car`, { attributes: { color: { type: 'string', required: true } } });
    await call('PUT', `${c}/relationship-types/user:lives_in:household`, named('has a key of'));
    await call('PUT', `${c}/relationship-types/household:keeps:car`, { maxPerTarget: 1 });
    await call('PUT', `${c}/relationship-types/user:may_use:car`, {
      inheritedThrough: [{ relationship: 'user:lives_in:household', from: 'household:keeps:car' }],
      invitation: { enabled: true, binding: 'contact' },
    });
    await call('PUT', `${c}/policies/car:use`, { rego: policy });
    await call('PUT', `${c}/policies/user:may_use:car:invitation:create`, {
      rego: policy.replace('package p', 'package q'),
    });
    await server.services.snapshots.refresh(tenant);
    await relate('user/alice', 'may_use', 'car/1');
    await relate('user/alice', 'lives_in', 'household/h1');
    await relate('household/h1', 'keeps', 'car/2');
    await relate('user/ben', 'may_use', 'car/1');
    await call(
      'POST',
      `/${tenant}/sharing/invitations`,
      {
        relationshipType: 'may_use',
        to: { type: 'car', id: '1' },
        invitor: { type: 'user', id: 'alice' },
        invitee: { contact: { type: 'email', value: 'bob@example.com' } },
      },
      backend,
    );
  });

  test.each([
    { width: 1440, height: 900, colorScheme: 'light' },
    { width: 1440, height: 900, colorScheme: 'dark' },
    { width: 390, height: 844, colorScheme: 'light' },
  ] as const)('draws the types and says the same in lists: $width, $colorScheme', async (looks) => {
    const { width, height, colorScheme } = looks;
    await using opened = await open({ viewport: { width, height }, colorScheme });
    const { page, complaints } = opened;
    await page.goto(at('/model'));
    const picture = page.getByRole('region', { name: 'Types and their relationships' });
    const box = picture.getByRole('button', { name: /^may use/ });
    await box.waitFor();
    await page.getByText('A user may use a car also when it has a key of a home that keeps the car.').waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, `model-types-${width}-${colorScheme}`);
    await box.click();
    const panel = page.getByRole('complementary', { name: /user:may_use:car/ });
    await panel.getByText('Only the invited address').waitFor();
    await panel.getByRole('link', { name: 'user:may_use:car:invitation:create' }).waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, `model-type-${width}-${colorScheme}`);
    await panel.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'List' }).click();
    await page.getByRole('row', { name: /user:may_use:car/ }).waitFor();
    // The display name, and the name of the API beside it.
    await page.getByRole('row', { name: /^has a key of user:lives_in:household/ }).waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, `model-list-${width}-${colorScheme}`);
    expect(complaints).toEqual([]);
  });

  test('makes, changes and deletes types, and loses nobody’s change', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('/model?view=list'));
    await page.getByRole('button', { name: 'New type', exact: true }).click();
    await page.getByRole('complementary').getByLabel('Name').first().fill('garage');
    await page.getByRole('button', { name: 'Add a language' }).click();
    await page.getByLabel('In words, such as may drive').fill('place to park');
    await page.getByRole('button', { name: 'Add an attribute' }).click();
    await page.getByRole('complementary').getByLabel('Name').last().fill('city');
    await page.getByRole('button', { name: 'Save' }).click();
    const panel = page.getByRole('complementary', { name: 'Resource type garage' });
    await panel.getByText('city').waitFor();
    await panel.getByText('place to park').waitFor();
    expect(JSON.parse((await ask('GET', `${c}/resource-types/garage`)).body)).toMatchObject({
      attributes: { city: { type: 'string' } },
      displayNames: [{ language: 'en', name: 'place to park' }],
    });
    await page.getByRole('button', { name: 'New relationship type' }).click();
    const form = page.getByRole('complementary', { name: 'New relationship type' });
    await form.getByRole('combobox', { name: 'From' }).selectOption('user');
    await form.getByRole('textbox', { name: 'Relationship' }).fill('rents');
    await form.getByRole('combobox', { name: 'To' }).selectOption('garage');
    await form.getByLabel('It is shared by invitation').check();
    expect(await axe(page)).toEqual([]);
    await look(page, 'model-form');
    await form.getByRole('button', { name: 'Save' }).click();
    const made = page.getByRole('complementary', { name: 'Relationship type user:rents:garage' });
    await made.getByRole('button', { name: 'Edit' }).click();
    // Somebody else writes while the form is open.
    await page.getByLabel('Seen from the other end').waitFor();
    await call('PUT', `${c}/relationship-types/user:rents:garage`, { inverse: 'rented_by' });
    await page.getByLabel('Seen from the other end').fill('let_to');
    // The page has read it since: the form is of what it was filled with.
    const read = page.waitForResponse((one) => one.url().includes('/relationship-types?'));
    await comeBackLater(page);
    await (await read).finished();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Somebody else changed this after you opened it.').waitFor();
    await expect.poll(() => page.getByLabel('Seen from the other end').inputValue()).toBe('let_to');
    expect(JSON.parse((await ask('GET', `${c}/relationship-types/user:rents:garage`)).body).inverse).toBe('rented_by');
    await page.goto(at('/model?view=list&open=relationship-types%2Fuser:rents:garage'));
    await made.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('row', { name: /user:rents:garage/ }).waitFor({ state: 'detached' });
    await expect.poll(async () => (await ask('GET', `${c}/relationship-types/user:rents:garage`)).statusCode).toBe(404);
    // The refusal of the 412 is logged by the browser itself.
    expect(complaints.filter((one) => !/4(04|12)/.test(one))).toEqual([]);
  });

  test('the picture is edited in place, with the mouse and by keyboard, and undone', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('/model'));
    // What can be undone stays until it is.
    await page.evaluate(`{
      const later = setTimeout;
      globalThis.setTimeout = (act, ms, ...rest) => later(act, ms === 8_000 ? 600_000 : ms, ...rest);
    }`);
    const picture = page.getByRole('region', { name: 'Types and their relationships' });
    const node = (id: string) => picture.locator(`.react-flow__node[data-id="${id}"]`);
    const stored = async (name: string) => {
      const { statusCode, body } = await ask('GET', `${c}/relationship-types/${name}`);
      return statusCode === 200 ? (JSON.parse(body).inheritedThrough ?? []) : statusCode;
    };
    const form = page.getByRole('complementary', { name: 'New relationship type' });
    const relation = form.getByRole('textbox', { name: 'Relationship' });
    // From the dot of a type to another type.
    const dot = (await node('actor-types/user').locator('.begin').boundingBox())!;
    const car = (await node('resource-types/car').boundingBox())!;
    await page.mouse.move(dot.x + dot.width / 2, dot.y + dot.height / 2);
    await page.mouse.down();
    await page.mouse.move(car.x + 20, car.y + 10, { steps: 8 });
    await page.mouse.up();
    expect(await form.getByRole('combobox', { name: 'From' }).inputValue()).toBe('user');
    expect(await form.getByRole('combobox', { name: 'To' }).inputValue()).toBe('car');
    await relation.fill('cleans');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByText('user:cleans:car is saved.').waitFor();
    expect(await stored('user:cleans:car')).toEqual([]);
    // Through two that are chosen with Shift.
    await node('relationship-types/household:keeps:car').click({ modifiers: ['Shift'] });
    await node('relationship-types/user:lives_in:household').click();
    await look(page, 'model-picking');
    expect(await axe(page)).toEqual([]);
    await page.getByRole('button', { name: 'A user cleans a car also when it has a key of' }).click();
    const cleans = page.getByRole('complementary', { name: 'Edit user:cleans:car' });
    expect(await cleans.getByRole('checkbox', { name: /has a key of/ }).isChecked()).toBe(true);
    await cleans.getByRole('button', { name: 'Save' }).click();
    const pair = { relationship: 'user:lives_in:household', from: 'household:keeps:car' };
    await expect.poll(() => stored('user:cleans:car')).toEqual([pair]);
    const bracket = node(`inherits/user:cleans:car ${pair.relationship} ${pair.from}`);
    await bracket.getByText('A user cleans a car also when').waitFor();
    await look(page, 'model-bracket');
    // The bracket alone is deleted, by keyboard, and comes back.
    await bracket.focus();
    await page.keyboard.press('Delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Stop inheriting' }).click();
    await expect.poll(() => stored('user:cleans:car')).toEqual([]);
    // Those of what was saved before are there, too.
    const undo = page.getByRole('button', { name: 'Undo' });
    await expect.poll(() => undo.count()).toBe(3);
    await undo.last().click();
    await bracket.waitFor();
    expect(await stored('user:cleans:car')).toEqual([pair]);
    await node('relationship-types/user:lives_in:household').focus();
    await page.keyboard.press('Delete');
    await page.getByRole('dialog').getByText('2 relationship types are inherited through it').waitFor();
    await page.keyboard.press('Escape');
    await node('relationship-types/user:cleans:car').focus();
    await page.keyboard.press('Delete');
    const question = page.getByRole('dialog');
    await question.getByText('0 policies are named after it').waitFor();
    await question.getByRole('button', { name: 'Delete' }).click();
    await expect.poll(() => stored('user:cleans:car')).toBe(404);
    await page.locator('.toast').filter({ hasText: 'was deleted' }).getByRole('button', { name: 'Undo' }).click();
    await bracket.waitFor();
    // A type by keyboard: R, and Enter on the other.
    await node('actor-types/household').focus();
    await page.keyboard.press('r');
    await page.getByText('Choose the type that the relationship from home leads to.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('Choose the type that').waitFor({ state: 'detached' });
    await page.keyboard.press('r');
    await node('actor-types/user').focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => form.getByRole('combobox', { name: 'From' }).inputValue()).toBe('household');
    expect(await form.getByRole('combobox', { name: 'To' }).inputValue()).toBe('user');
    await picture.getByRole('button', { name: 'Type', exact: true }).click();
    await page.getByRole('complementary', { name: 'New type' }).waitFor();
    await call('DELETE', `${c}/relationship-types/user:cleans:car`);
    expect(complaints).toEqual([]);
  });

  test('in a narrow window the form relates and inherits', async () => {
    await using opened = await open({ viewport: { width: 390, height: 844 } });
    const { page, complaints } = opened;
    await page.goto(at('/model?open=actor-types%2Fuser'));
    await page.getByRole('button', { name: 'Relationship from here' }).click();
    const form = page.getByRole('complementary', { name: 'New relationship type' });
    expect(await form.getByRole('combobox', { name: 'From' }).inputValue()).toBe('user');
    await look(page, 'model-form-390');
    expect(await page.locator('.react-flow__handle.begin').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test('what a manifest owns is changed as a text to apply', async () => {
    const key = { from: 'user', name: 'washes', to: 'car' };
    await putRelationshipType(server.services.types, manifestWriter, tenant, key, {});
    await server.services.snapshots.refresh(tenant);
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('/model?view=list&open=relationship-types%2Fuser:washes:car'));
    const panel = page.getByRole('complementary', { name: /user:washes:car/ });
    await panel.getByText('Managed by files test').waitFor();
    expect(await panel.getByRole('button', { name: 'Edit' }).count()).toBe(0);
    // Nor in the picture, which says whose it is.
    await page.getByRole('button', { name: 'Picture' }).click();
    await page.getByRole('button', { name: /^washes.*managed by files test/ }).focus();
    await page.keyboard.press('Delete');
    await page.getByRole('status').getByText('Managed by files test').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await panel.getByRole('button', { name: 'Open a change' }).click();
    await page.getByLabel('Most to one target').fill('2');
    await page.getByRole('button', { name: 'Show the change' }).click();
    const change = page.getByRole('dialog', { name: 'The change' });
    await change.locator('pre').getByText('maxPerTarget: 2').waitFor();
    await change.locator('pre').getByText('kind: RelationshipType').waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'model-change');
    expect(complaints).toEqual([]);
  });

  test.each([
    { width: 1440, height: 900, colorScheme: 'light' },
    { width: 390, height: 844, colorScheme: 'dark' },
  ] as const)('explores relationships: $width, $colorScheme', async ({ width, height, colorScheme }) => {
    await using opened = await open({ viewport: { width, height }, colorScheme });
    const { page, complaints } = opened;
    await page.goto(at('/model/relationships'));
    await page.getByLabel('Type').selectOption('user');
    await page.getByLabel('Id', { exact: true }).fill('al');
    await page.locator('datalist option[value="alice"]').waitFor({ state: 'attached' });
    await page.getByLabel('Id', { exact: true }).fill('alice');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    const picture = page.getByRole('region', { name: 'What surrounds user/alice' });
    await picture.getByRole('button', { name: '1, car' }).waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, `model-explorer-${width}-${colorScheme}`);
    await picture.getByRole('button', { name: '1, car' }).click();
    await page.getByRole('heading', { name: 'To car/1' }).waitFor();
    await page.getByRole('cell', { name: 'user/ben', exact: true }).waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe('?type=car&id=1');
    expect(complaints).toEqual([]);
  });

  test('adds and ends a relationship, and exports who may', async () => {
    // A spreadsheet takes the full width for a formula, too.
    await relate('user/\uff1dsum', 'may_use', 'car/1');
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('/model/relationships?type=car&id=1'));
    await page.getByRole('cell', { name: 'user/ben', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Add a relationship' }).click();
    const panel = page.getByRole('complementary');
    await panel.getByLabel('Relationship type').selectOption('user:may_use:car');
    await panel.getByLabel('Id of the user').fill('dora');
    await panel.getByLabel('Id of the car').fill('1');
    // Escape asks before it throws away what was typed; in the question it closes the question alone.
    await page.keyboard.press('Escape');
    const question = page.getByRole('dialog', { name: 'Close without saving?' });
    await question.waitFor();
    // Keys are the question's when it has the focus, a moment after it is seen.
    await expect.poll(() => question.locator(':focus').count()).toBe(1);
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'detached' });
    expect(await panel.getByLabel('Id of the car').inputValue()).toBe('1');
    await panel.getByRole('button', { name: 'Add a relationship' }).click();
    await page.getByRole('cell', { name: 'user/dora', exact: true }).waitFor();
    const search = page.getByRole('region', { name: 'Who may, and what may it' });
    await search.getByLabel('Action (policy)').fill('car:use');
    await expect.poll(() => search.getByLabel('Of the type').inputValue()).toBe('user');
    await search.getByRole('button', { name: 'Search' }).click();
    await search.getByRole('cell', { name: 'user/dora', exact: true }).waitFor();
    await search.getByRole('button', { name: 'Why? user/alice' }).click();
    const first = search.getByRole('region', { name: 'Why: user/alice and car/1' });
    await first.getByText('Allowed').first().waitFor();
    // A person has a page; of a resource its relationships are shown.
    const leads = (name: string) => first.getByRole('link', { name, exact: true }).first().getAttribute('href');
    await expect.poll(() => leads('car:1')).toContain('/model/relationships?type=car&id=1');
    await expect.poll(() => leads('user:alice')).toContain('/people/user/alice');
    expect(await axe(page)).toEqual([]);
    await look(page, 'model-who-may');
    const saving = page.waitForEvent('download');
    await search.getByRole('button', { name: 'Export as CSV' }).click();
    const csv = (await savedText(await saving)).trim().split('\r\n');
    expect(csv).toEqual([
      'subjectType,subjectId,resourceType,resourceId,action',
      ...['alice', 'ben', 'dora', "'\uff1dsum"].map((one) => `user,${one},car,1,car:use`),
    ]);
    await page.getByRole('button', { name: 'End: user/dora may_use car/1' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End the relationship' }).click();
    await page.getByRole('button', { name: 'End: user/dora may_use car/1' }).waitFor({ state: 'detached' });
    // Through a household.
    await page.goto(at('/model/relationships?type=car&id=2'));
    await search.getByLabel('Action (policy)').fill('car:use');
    await expect.poll(() => search.getByLabel('Of the type').inputValue()).toBe('user');
    await search.getByRole('button', { name: 'Search' }).click();
    await search.getByRole('button', { name: 'Why? user/alice' }).click();
    const why = search.getByRole('region', { name: 'Why: user/alice and car/2' });
    await why.getByText('Allowed: user:alice may car:use on car:2').waitFor();
    // Each relationship on the path, by what people read, leads to itself.
    await why.getByText('It is inherited through:').waitFor();
    const hop = 'user:alice has a key of household:h1';
    await why.getByRole('link', { name: hop }).waitFor();
    await why.getByRole('link', { name: 'household:h1 keeps car:2' }).waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'model-why-path');
    await why.getByRole('link', { name: 'Try it in the policy' }).click();
    await page.getByRole('heading', { level: 1, name: 'car:use' }).waitFor();
    await page.getByText('Allowed: user:alice may car:use on car:2').waitFor();
    await page.getByRole('link', { name: hop }).waitFor();
    await page.getByLabel('Resource id').fill('3');
    await page.getByText('These facts were loaded for user/alice car/2.').waitFor();
    await page.getByRole('button', { name: 'Load what is stored now' }).click();
    await page.getByText('These facts were loaded for').waitFor({ state: 'detached' });
    await page.getByText(/^Denied:/).waitFor();
    // What would change the answer is dashed on the path.
    await page.getByText('It would be inherited through:').waitFor();
    await page
      .locator('.why-path li.missing')
      .getByRole('link', { name: 'household:h1 keeps car:3', exact: true })
      .waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'policies-missing-path');
    const adds = page.getByRole('link', { name: 'Add household:h1 keeps car:3' }).first();
    const form = new URL((await adds.getAttribute('href')) ?? '', page.url()).href;
    await page.getByRole('link', { name: hop, exact: true }).click();
    await page.getByRole('heading', { name: 'From user/alice' }).waitFor();
    await page.locator('tr.on, tr[aria-selected=true]').getByText('has a key of').waitFor();
    // The form that makes what is missing is filled in.
    await page.goto(form);
    await expect.poll(() => panel.getByLabel('Id of the car').inputValue()).toBe('3');
    await expect.poll(() => panel.getByLabel('Id of the household').inputValue()).toBe('h1');
    await expect.poll(() => panel.getByLabel('Relationship type').inputValue()).toBe('household:keeps:car');
    expect(complaints).toEqual([]);
  });

  test('imports a file, tells errors by line, and exports', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('/model/import'));
    const line = (id: string, relationshipType = 'may_use') =>
      JSON.stringify({ from: { type: 'user', id }, relationshipType, to: { type: 'car', id: '5' } });
    const body = [line('erin'), line('finn'), line('gus', 'steals')].join('\n');
    await page.getByLabel('File (NDJSON)').setInputFiles({
      ...{ name: 'cars.ndjson', mimeType: 'application/x-ndjson', buffer: Buffer.from(body) },
    });
    await page.getByRole('button', { name: 'Import 3 lines' }).click();
    await page.getByText('3 lines: 2 created, 0 updated, 0 unchanged').waitFor();
    await page.getByRole('heading', { name: '1 line was refused' }).waitFor();
    await page.getByRole('cell', { name: '3', exact: true }).waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'model-import');
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export all relationships' }).click();
    const file = await savedText(await saving);
    expect(file).toContain('"erin"');
    const entries = file.trimEnd().split('\n').length;
    await page.getByText(`${tenant}-relationships.ndjson is saved: ${entries} entries.`).waitFor();
    expect(complaints).toEqual([]);
  });

  test('long work outlives a server that goes away; what did not come to its end is told, and no file is saved', async () => {
    await using opened = await open();
    const { page } = opened;
    const files: string[] = [];
    page.on('download', (one) => files.push(one.suggestedFilename()));
    await page.goto(at('/model/import'));
    const exporting = page.getByRole('button', { name: 'Export all relationships' });
    await exporting.waitFor();
    await using held = await holdTable(server.db.adminUrl, 'accord.relationship');
    await exporting.click();
    await page.getByText(/^0 of \d+/).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('The export was cancelled after 0 entries. No file was saved.').waitFor();
    await exporting.click();
    await page.getByText(/^0 of \d+/).waitFor();
    const line = JSON.stringify({
      from: { type: 'user', id: 'hal' },
      relationshipType: 'may_use',
      to: { type: 'car', id: '5' },
    });
    const file = { name: 'hal.ndjson', mimeType: 'application/x-ndjson', buffer: Buffer.from(line) };
    await page.getByLabel('File (NDJSON)').setInputFiles(file);
    await page.getByRole('button', { name: 'Import 1 line' }).click();
    await expect.poll(held.waiting).toBe(3);
    const comeBack = await goAway(server, base);
    await page.getByRole('region', { name: 'Export' }).getByText('The server does not answer.').waitFor();
    await page.getByRole('region', { name: 'Import' }).getByText('The server does not answer.').first().waitFor();
    await page.getByText(`The export failed. ${tenant}-relationships.ndjson was not saved.`).waitFor();
    await page.getByText(/^hal\.ndjson is still chosen\./).waitFor();
    await look(page, 'model-import-away');
    await comeBack();
    await page.getByRole('button', { name: 'Go on with this import' }).click();
    await held.letGo();
    await page.getByText('1 line: 1 created, 0 updated, 0 unchanged').waitFor();
    expect(files).toEqual([]);
    await exporting.click();
    await page.getByText(/-relationships\.ndjson is saved: \d+ entries\./).waitFor();
    expect(files).toEqual([`${tenant}-relationships.ndjson`]);
  });

  test('lists invitations by status, and revokes one', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('/model/invitations?status=accepted'));
    await page.getByText('There are no such invitations.').waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    const row = page.getByRole('row', { name: /b\*\*\*@example\.com/ });
    await row.click();
    const panel = page.getByRole('complementary', { name: 'Invitation' });
    await panel.getByText('Only the invited address').waitFor();
    // What became of the mail is said by a word, whatever it is.
    await panel
      .getByText(/^(waits to be sent|sent|failed|delivered)$/)
      .first()
      .waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'model-invitations');
    await panel.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await row.getByText('Revoked').waitFor();
    await panel.getByRole('button', { name: 'Revoke' }).waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  });

  test('invites somebody for an actor, with a reason; what is refused keeps what was typed', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('/model/invitations'));
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    const form = page.getByRole('complementary', { name: 'Invite' });
    await form.getByLabel('Id of the car').fill('1');
    await form.getByLabel('For whom').fill('alice');
    await form.getByLabel('Email address').fill('zoe@10.0.0.1');
    await form.getByLabel('Reason').fill('ticket 4711');
    expect(await axe(page)).toEqual([]);
    await look(page, 'model-invite');
    await form.getByRole('button', { name: 'Send the invitation' }).click();
    await form.getByRole('alert').waitFor();
    await form.getByLabel('Email address').fill('zoe@example.com');
    await form.getByRole('button', { name: 'Send the invitation' }).click();
    const made = page.getByRole('complementary', { name: 'Invitation' });
    await made.getByText('user/alice invited z***@example.com: may_use car/1').waitFor();
    await page.getByRole('row', { name: /z\*\*\*@example\.com/ }).waitFor();
    // The browser itself tells of the answer 400.
    expect(complaints.filter((one) => !one.includes('400'))).toEqual([]);
  });

  test('viewers see types and no records; support sees no ids; editors change types and no records', async () => {
    await using viewing = await open({}, await as('config-viewer'));
    await viewing.page.goto(at('/model?view=list'));
    await viewing.page.getByRole('row', { name: /user:may_use:car/ }).waitFor();
    expect(await viewing.page.getByRole('button', { name: 'New type' }).count()).toBe(0);
    for (const path of ['relationships', 'invitations', 'import']) {
      await viewing.page.goto(at(`/model/${path}`));
      await viewing.page.getByText('Config viewers do not see records.').waitFor();
    }
    await using supporting = await open({}, await as('support'));
    await supporting.page.goto(at('/model/relationships?type=user&id=alice'));
    await supporting.page.getByRole('cell', { name: 'car/***' }).waitFor();
    expect(
      await supporting.page
        .getByRole('main')
        .getByRole('button', { name: /^(End|Add)/ })
        .count(),
    ).toBe(0);
    await using editing = await open({ locale: 'nl-BE' }, await as('config-editor'));
    await editing.page.goto(at('/model?view=list'));
    await editing.page.getByRole('button', { name: 'Nieuw type' }).waitFor();
    await look(editing.page, 'model-nl');
    await editing.page.goto(at('/model/relationships?type=user&id=alice'));
    await editing.page.getByRole('heading', { name: 'Van user/alice' }).waitFor();
    expect(await editing.page.getByRole('button', { name: /^Beëindigen/ }).count()).toBe(0);
    expect([...viewing.complaints, ...supporting.complaints, ...editing.complaints]).toEqual([]);
  });
});
