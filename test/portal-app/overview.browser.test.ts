/** The overview in a browser: an empty tenant's five steps, a tenant where something happens, and what each role sees. */
import { describe, expect, test } from 'vitest';
import { isInUse } from '../../portal/src/screens/overview/data.ts';
import { axe, createPortal, executablePath, look } from './portal.ts';

test.each([
  ['nothing', {}, 'off', false],
  ['a policy', { policy: true }, 'off', false],
  ['relationships without a policy', { relationship: true }, 'off', false],
  ['a policy and a decision', { policy: true, decision: true }, 'all', true],
  ['a policy and relationships, where decisions would be seen', { policy: true, relationship: true }, 'all', false],
  ['a policy and relationships, where they are not', { policy: true, relationship: true }, 'off', true],
  ['a policy and consents, where only denials are seen', { policy: true, consent: true }, 'denies', true],
] as const)('a tenant with %s', (_, done, log, inUse) => {
  const none = { policy: false, decision: false, relationship: false, invitation: false, consent: false };
  expect(isInUse({ ...none, ...done }, log)).toBe(inUse);
});

describe.skipIf(executablePath === undefined)('the overview', async () => {
  if (executablePath === undefined) return;
  const site = await createPortal({ role: 'security-admin', tenant: { decisionLog: { mode: 'all' } } });
  const { tenant, open, server, people } = site;
  const at = (path = '') => `${site.base}/portal/t/${tenant}/overview${path}`;
  const call = async (method: 'PUT' | 'POST', path: string, body: object) => {
    const authorization = `Bearer ${await server.member(tenant, 'security-admin')}`;
    const answer = await server.app.inject({
      method,
      url: `/tenants/${tenant}${path}`,
      headers: { authorization },
      payload: body,
    });
    if (answer.statusCode > 299) throw new Error(`${path}: ${answer.body}`);
  };

  test('an empty tenant has five steps, which tick themselves off', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at());
    await page.getByRole('heading', { level: 2, name: 'Five steps' }).waitFor();
    await page.getByText('0 of 5 done').waitFor();
    await page.getByText('Accord answers one question').waitFor();
    expect(await page.getByRole('heading', { name: 'The last 24 hours' }).count()).toBe(0);
    expect(await axe(page)).toEqual([]);
    await look(page, 'overview-empty');
    await call('PUT', '/policies/doc:read', {
      rego: 'package doc.read\n\ndefault outcome := "deny"\n\noutcome := "allow" if input.subject.id == "alice"\n',
    });
    await page.getByText('1 of 5 done').waitFor();
    await page.getByRole('link', { name: 'Ask doc:read a question' }).waitFor();
    // Of what is done there is no more than its name.
    await page.getByText('Done: Write the first policy').waitFor();
    expect(await page.getByRole('region', { name: 'Five steps' }).getByRole('listitem').count()).toBe(4);
    expect(await axe(page)).toEqual([]);
    await look(page, 'overview-first-policy');
    expect(complaints).toEqual([]);
  });

  test('a decision is counted, shown with its reason, and leads to why', async () => {
    await call('PUT', '/consent-definitions/terms', {});
    const token = await server.client(tenant, 'authz:evaluate');
    const asked = await server.app.inject({
      method: 'POST',
      url: `/${tenant}/access/v1/evaluation`,
      headers: { authorization: `Bearer ${token}` },
      payload: { subject: { type: 'user', id: 'bob' }, action: { name: 'read' }, resource: { type: 'doc', id: '1' } },
    });
    expect(asked.json()).toMatchObject({ decision: false });
    await using opened = await open();
    const { page, complaints } = opened;
    const link = page.getByRole('link', { name: 'See why' });
    await server.services.authz.log.close();
    await page.goto(at());
    await page.getByRole('heading', { level: 2, name: 'What needs somebody' }).waitFor();
    await expect.poll(() => link.getAttribute('href')).toMatch(/\/policies\/doc%3Aread\?decision=/);
    await page.getByText('May user bob do doc:read on doc 1?').waitFor();
    await page.getByRole('heading', { name: 'The last 24 hours' }).waitFor();
    // There is no relationship, invitation or consent, and the tenant decides all the same.
    expect(await page.getByRole('heading', { name: 'Five steps' }).count()).toBe(0);
    await page.getByText('Figures').first().click();
    expect(await axe(page)).toEqual([]);
    await look(page, 'overview');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await axe(page)).toEqual([]);
    await look(page, 'overview-narrow-dark');
    expect(complaints).toEqual([]);
  });

  test.each(['config-editor', 'config-viewer', 'support'] as const)('%s', async (role) => {
    const { browser } = await people.enrolled(tenant, role);
    const cookies = browser.cookies.map(({ name, value }) => ({ name, value, url: `${site.base}/` }));
    await using opened = await open({}, cookies);
    const { page, complaints } = opened;
    await page.goto(at());
    await page.getByRole('heading', { level: 2, name: 'What needs somebody' }).waitFor();
    const seen = {
      'config-editor': 'The last 24 hours',
      'config-viewer': 'Your role shows the configuration',
      support: 'The last 24 hours',
    };
    await page.getByText(seen[role]).waitFor();
    const bob = async () => [role, await page.getByText('user bob').count()];
    await expect.poll(bob).toEqual([role, role === 'config-editor' ? 1 : 0]);
    expect(await axe(page)).toEqual([]);
    await look(page, `overview-${role}`);
    expect(complaints).toEqual([]);
  });
});
