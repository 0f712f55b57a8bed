/** Texts of tenants that try to be scripts: they are shown as texts on every page, and no page runs or loads anything of theirs. */
import { describe, expect, test } from 'vitest';
import { putTenant } from '../../server/tenants/index.ts';
import { manifestWriter, tenantSpec } from '../helpers/server.ts';
import { configClient } from '../policies/config-client.ts';
import { attacks } from './attacks.ts';
import { createPortal, executablePath } from './portal.ts';

describe.skipIf(executablePath === undefined)('texts that try to be scripts', { timeout: 240_000 }, async () => {
  if (executablePath === undefined) return;
  const spec = { displayName: attacks[1] as string, decisionLog: { mode: 'all' as const } };
  const site = await createPortal({ role: 'security-admin', tenant: spec });
  const { tenant, server, open } = site;
  await putTenant(server.services.tenants, manifestWriter, tenant, tenantSpec(spec));
  const config = await configClient(server, tenant, 'security-admin');
  const text = attacks.join(' ');
  const ids = attacks.map((one) => one.replaceAll('/', '∕').slice(0, 60));
  await config('PUT', '/actor-types/user', { body: { attributes: { displayName: { type: 'string' } } } });
  await config('PUT', '/resource-types/car', { body: {} });
  await config('PUT', '/relationship-types/user:drives:car', { body: {} });
  const rego = `package p\n\n# ${text.replaceAll('\n', ' ')}\ndefault outcome := "deny"\nreason := ${JSON.stringify(text)}`;
  expect((await config('PUT', '/policies/car%3Adrive', { body: { rego } })).status).toBe(200);
  expect((await config('PUT', `/policies/${encodeURIComponent('<img src=x>:read')}`, { body: { rego } })).status).toBe(
    200,
  );
  const backend = await server.client(tenant, 'pg:tenant:admin');
  const headers = { authorization: `Bearer ${backend}` };
  const made: number[] = [];
  for (const id of ids) {
    const url = `/${tenant}/actors/user/${encodeURIComponent(id)}/relationships`;
    const payload = { relationshipType: 'drives', to: { type: 'car', id } };
    made.push((await server.app.inject({ method: 'POST', url, headers, payload })).statusCode);
    const asked = { subject: { type: 'user', id }, action: 'car:drive', resource: { type: 'car', id, note: text } };
    await server.app.inject({ method: 'POST', url: `/authz/${tenant}`, headers, payload: asked });
  }
  const attributes = { displayName: text };
  await server.app.inject({
    method: 'PUT',
    url: `/${tenant}/actors/user/${encodeURIComponent(ids[1] as string)}`,
    headers,
    payload: attributes,
  });
  const client = { grantTypes: ['client_credentials'], displayName: attacks[0] };
  expect((await config('PUT', '/clients/shop', { body: client })).status).toBe(200);
  const template = { subject: 'Hello', html: `<p>${attacks[1]}</p>`, text: attacks[0] };
  expect((await config('PUT', '/mail/templates/greeting/en', { body: template })).status).toBe(200);

  test('no page runs them', async () => {
    // One with a control of direction may be refused as an id; the others are stored.
    expect(made.filter((status) => status === 201).length).toBeGreaterThanOrEqual(attacks.length - 2);
    await using opened = await open();
    const { page, complaints, context } = opened;
    const elsewhere: string[] = [];
    context.on('request', (request) => {
      if (!request.url().startsWith(site.base) && !/^(data|blob):/.test(request.url())) elsewhere.push(request.url());
    });
    let dialogs = 0;
    page.on('dialog', (dialog) => {
      dialogs++;
      void dialog.dismiss();
    });
    const id = encodeURIComponent(ids[1] as string);
    const pages = [
      ...['overview', 'policies', 'policies/car%3Adrive', `policies/${encodeURIComponent('<img src=x>:read')}`],
      ...['model', 'model/relationships', `people/user/${id}`, 'people', 'consents', 'consents/ledger'],
      ...['activity', 'activity/events', 'activity/templates/greeting/en', 'activity/query'],
      ...['settings/members', 'settings/clients/shop', 'settings/audit', 'settings/token'],
    ];
    for (const path of pages) {
      await page.goto(`${site.base}/portal/t/${tenant}/${path}`);
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      await page.waitForLoadState('networkidle');
      expect([path, await page.evaluate('window.hurt')]).toEqual([path, undefined]);
      expect([path, await page.locator('img[src="x"], svg[onload], a[href^="javascript:"], iframe').count()]).toEqual([
        path,
        0,
      ]);
    }
    expect(dialogs).toBe(0);
    expect(elsewhere).toEqual([]);
    expect(complaints.filter((one) => /Content Security Policy|Trusted/i.test(one))).toEqual([]);
  });

  test('the person’s page shows such a name as it is written', async () => {
    await using opened = await open();
    const { page } = opened;
    await page.goto(`${site.base}/portal/t/${tenant}/people/user/${encodeURIComponent(ids[1] as string)}`);
    await page.getByRole('main').getByText('<img src=x').first().waitFor();
    expect(await page.getByRole('main').innerText()).toContain(ids[1] as string);
  });
});
