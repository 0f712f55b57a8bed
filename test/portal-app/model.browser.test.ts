/** The model in the portal: types as a picture and lists, the relationships explorer, invitations, import and export; by role. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { putRelationshipType } from '../../server/types/index.ts';
import { manifestWriter } from '../helpers/server.ts';
import { axe, comeBackLater, createPortal, executablePath, look } from './portal.ts';

const policy = `package p
default outcome := "deny"
outcome := "allow" if {
  some link in input.graph.subject
  link.relationshipType == "may_use"
  link.to.id == input.resource.id
}`;

describe.skipIf(executablePath === undefined)('the model', { timeout: 120_000 }, async () => {
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

  test('what a manifest owns is not offered to be changed', async () => {
    const key = { from: 'user', name: 'washes', to: 'car' };
    await putRelationshipType(server.services.types, manifestWriter, tenant, key, {});
    await server.services.snapshots.refresh(tenant);
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('/model?view=list&open=relationship-types%2Fuser:washes:car'));
    const panel = page.getByRole('complementary', { name: /user:washes:car/ });
    await panel.getByText('Managed by files test').waitFor();
    expect(await panel.getByRole('button', { name: 'Edit' }).count()).toBe(0);
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
    await search.getByRole('region', { name: 'Why: user/alice and car/1' }).getByText('Allowed').first().waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'model-who-may');
    const saving = page.waitForEvent('download');
    await search.getByRole('button', { name: 'Export as CSV' }).click();
    const csv = readFileSync(await (await saving).path(), 'utf8')
      .trim()
      .split('\r\n');
    expect(csv).toEqual([
      'subjectType,subjectId,resourceType,resourceId,action',
      ...['alice', 'ben', 'dora'].map((one) => `user,${one},car,1,car:use`),
    ]);
    await page.getByRole('button', { name: 'End: user/dora may_use car/1' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End the relationship' }).click();
    await page.getByRole('button', { name: 'End: user/dora may_use car/1' }).waitFor({ state: 'detached' });
    // Through a household.
    await page.goto(at('/model/relationships?type=car&id=2'));
    await search.getByLabel('Action (policy)').fill('car:use');
    await search.getByRole('button', { name: 'Search' }).click();
    await search.getByRole('button', { name: 'Why? user/alice' }).click();
    const why = search.getByRole('region', { name: 'Why: user/alice and car/2' });
    await why.getByText('Allowed: user:alice may car:use on car:2').waitFor();
    await why.getByText('through user:alice lives_in household:h1').waitFor();
    await why.getByRole('link', { name: 'Try it in the policy' }).click();
    await page.getByRole('heading', { level: 1, name: 'car:use' }).waitFor();
    await page.getByText('Allowed: user:alice may car:use on car:2').waitFor();
    await page.getByLabel('Resource id').fill('3');
    await page.getByText('These facts were loaded for user/alice car/2.').waitFor();
    await page.getByRole('button', { name: 'Load what is stored now' }).click();
    await page.getByText('These facts were loaded for').waitFor({ state: 'detached' });
    await page.getByText(/^Denied:/).waitFor();
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
    const file = readFileSync(await (await saving).path(), 'utf8');
    expect(file).toContain('"erin"');
    expect(complaints).toEqual([]);
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
    await panel.getByText(/^(waits to be sent|sent|failed)$/).waitFor();
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
