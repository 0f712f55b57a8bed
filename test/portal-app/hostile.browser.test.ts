/**
 * Every page of the portal: with texts of tenants that try to be scripts, which are shown as texts and run and load nothing; by each role;
 * and as other sites would use it, in a frame or with the session of who is logged in.
 */
import { createServer } from 'node:http';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { putTenant } from '../../server/tenants/index.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { manifestWriter, tenantSpec } from '../helpers/server.ts';
import { untilPasses } from '../helpers/wait.ts';
import { configClient } from '../policies/config-client.ts';
import { attacks } from './attacks.ts';
import { walker } from './looks.ts';
import { pagesOf } from './pages.ts';
import { createPortal, executablePath } from './portal.ts';

/** Buttons that write. */
const writes =
  /^(New|Add|Create|Save|Delete|Remove|Erase|Register|Import|Restore|Resend|Withdraw|Take|Revoke|Invite|Rotate|Change|Edit|Retry|Replay|Pause|Test|End|Make)\b/;

/** Pages and forms that a role does not get to see. */
const closed = {
  'config-editor': /^(Members|Audit log)/,
  'config-viewer': /^(New|Given consents|Ledger|Events|Mail$|Members|Audit log)/,
  support: /^(New|Events|Members)/,
};

describe.skipIf(executablePath === undefined)('texts that try to be scripts', async () => {
  if (executablePath === undefined) return;
  const foreign = createServer((_, answer) => answer.setHeader('content-type', 'text/html').end('<title>Evil</title>'));
  await new Promise<void>((done) => foreign.listen(0, 'localhost', done));
  closeAtEnd(() => foreign.close());
  const elsewhere = `http://localhost:${(foreign.address() as { port: number }).port}/`;
  const spec = { displayName: attacks[1] as string, decisionLog: { mode: 'all' as const } };
  const site = await createPortal({ role: 'security-admin', tenant: spec });
  const { tenant, server, open } = site;
  await putTenant(server.services.tenants, manifestWriter, tenant, tenantSpec(spec));
  const config = await configClient(server, tenant, 'security-admin');
  const text = attacks.join(' ');
  const ids = attacks.map((one) => one.replaceAll('/', '∕').slice(0, 60));
  const displayNames = [{ language: 'en', name: attacks[1] }];
  const types: [path: string, body: object][] = [
    ['/actor-types/user', { attributes: { displayName: { type: 'string' } }, displayNames }],
    ['/resource-types/car', { displayNames }],
    ['/relationship-types/user:drives:car', { displayNames, invitation: { enabled: true } }],
  ];
  for (const [path, body] of types) expect((await config('PUT', path, { body })).status).toBe(200);
  const rego = `package p\n\n# ${text.replaceAll('\n', ' ')}\ndefault outcome := "deny"\nreason := ${JSON.stringify(text)}`;
  expect((await config('PUT', '/policies/car%3Adrive', { body: { rego } })).status).toBe(200);
  expect((await config('PUT', `/policies/${encodeURIComponent('<img src=x>:read')}`, { body: { rego } })).status).toBe(
    200,
  );
  await server.services.snapshots.refresh(tenant);
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

  const hook = await config('POST', '/event-stream/subscriptions', {
    body: { endpoint: 'https://hooks.example.com/accord', eventTypes: ['*'] },
  });
  expect(hook.status).toBe(201);
  const issuer = { issuer: 'https://login.example.com', jwksUri: 'https://login.example.com/jwks' };
  expect((await config('PUT', '/trusted-issuers/login', { body: issuer })).status).toBe(200);
  expect((await config('PUT', '/consent-definitions/trips', { body: {} })).status).toBe(200);
  /** Pages show them as they are written; the reasons of members stand in the audit and the ledger. */
  const said = {
    graph: `why drawn ${attacks[1]}`,
    obligation: `duty ${attacks[0]}`,
    case: `case ${attacks[2]}`,
    title: `title ${attacks[8]}`,
    body: `body ${attacks[7]}`,
    registered: `registered ${attacks[6]}`,
    invited: `invited ${attacks[1]}`,
    library: `library ${attacks[0]}`,
    endpoint: `https://hooks.example.com/${attacks[3]}`,
  };
  const end = { type: 'outcome', outcome: 'deny', reason: said.graph, obligations: [said.obligation] };
  const graph = {
    nodes: [
      { id: 'start', type: 'start' },
      { id: 'end', ...end },
    ],
    edges: [{ from: 'start', to: 'end' }],
  };
  const subject = { type: 'user', id: 'alice' };
  const resource = { type: 'car', id: '1' };
  const write = async (method: 'PUT' | 'POST', path: string, body: object) => {
    const answer = await config(method, path, { body });
    expect([path, answer.status < 300, answer.body]).toEqual([path, true, expect.anything()]);
    return answer.body as { id: string };
  };
  const cases = [{ name: said.case, input: { subject, resource }, expect: { outcome: 'deny' } }];
  await write('PUT', '/policies/car%3Adrawn', { graph, tests: cases });
  await write('PUT', '/policy-libraries/lib', {
    modules: [{ name: 'm', rego: `package lib\n\n# ${said.library}\nx := 1` }],
  });
  await write('POST', '/event-stream/subscriptions', { endpoint: said.endpoint, eventTypes: ['*'] });
  // An id is in the alphabet of names.
  const named = `/event-stream/subscriptions/${encodeURIComponent(attacks[1] as string)}`;
  expect((await config('PUT', named, { body: { endpoint: said.endpoint, eventTypes: ['*'] } })).status).toBe(400);
  const trips = '/consent-definitions/trips/versions/1';
  await write('PUT', trips, { optInConfig: { type: 'direct' } });
  const document = (content: object) => ({ effectiveDate: new Date(Date.now() + 3000).toISOString(), content });
  const plain = { title: said.title, mediaType: 'text/plain', body: said.body };
  await write('PUT', `${trips}/documents/en/a`, document(plain));
  await write('PUT', `${trips}/documents/nl/a`, document({ title: said.title, mediaType: 'text/html', body: text }));
  await server.services.snapshots.refresh(tenant);
  const asked = { subject, action: 'car:drawn', resource };
  await server.app.inject({ method: 'POST', url: `/authz/${tenant}`, headers, payload: asked });
  const agreed = { userId: 'alice', name: 'trips', version: '1', document: { version: 'a', language: 'en' } };
  // Once the document is in effect.
  const register = () => write('POST', '/consents', { ...agreed, reason: said.registered });
  await untilPasses('the document in effect', register);
  const invitee = { contact: { type: 'email', value: 'bob@example.com' } };
  const drives = { relationshipType: 'drives', to: resource, invitor: subject, invitee };
  const invitation = await write('POST', '/sharing/invitations', { ...drives, reason: said.invited });
  const person = encodeURIComponent(ids[1] as string);
  const strange = encodeURIComponent('<img src=x>:read');
  const pages = pagesOf({
    'policies/$name': ['policies/car%3Adrive', `policies/${strange}`],
    'policies/$name/revisions': ['policies/car%3Adrive/revisions'],
    'consents/$name': ['consents/trips'],
    'consents/definitions/$name': ['consents/definitions/trips'],
    'people/$type/$id': [`people/user/${person}`],
    'activity/subscriptions/$id': [`activity/subscriptions/${hook.body.id}`],
    'activity/templates/$name/$language': ['activity/templates/greeting/en'],
    'settings/clients/$id': ['settings/clients/shop'],
    'settings/issuers/$name': ['settings/issuers/login'],
  });
  /** More places where these texts are. */
  const more = ['policies/car%3Adrawn', 'people/user/alice', `model/invitations?open=${invitation.id}`];
  const at = (path: string) => `${site.base}/portal/t/${tenant}/${path}`;

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
    const go = walker(page);
    await page.goto(at('overview'));
    const seen: string[] = [];
    for (const path of [...pages, ...more]) {
      await go(at(path));
      seen.push(await page.getByRole('main').innerText());
      for (const field of await page.getByRole('main').locator('input, textarea').all())
        seen.push(await field.inputValue());
      expect([path, await page.evaluate('window.hurt')]).toEqual([path, undefined]);
      // The previews of log-in pages are frames, in a sandbox.
      const drawn = 'img[src="x"], svg[onload], a[href^="javascript:"], iframe:not([sandbox])';
      for (const frame of page.frames())
        expect([path, frame.url(), await frame.locator(drawn).count()]).toEqual([path, frame.url(), 0]);
    }
    const { graph, obligation, title, endpoint, body, library } = said;
    const shown = seen.join('\n');
    expect([graph, obligation, said.case, title, endpoint].filter((one) => !shown.includes(one))).toEqual([]);
    // What is opened from a page.
    await page.goto(at('consents/trips'));
    const english = page.getByRole('cell', { name: 'en', exact: true });
    await page.getByRole('region', { name: 'Documents' }).getByRole('row').filter({ has: english }).click();
    await page.getByText(body).first().waitFor();
    await page.goto(at('policies?library=m'));
    await page.getByText(library).first().waitFor();
    expect(await page.evaluate('window.hurt')).toBe(undefined);
    expect(dialogs).toBe(0);
    expect(elsewhere).toEqual([]);
    expect(complaints.filter((one) => /Content Security Policy|Trusted/i.test(one))).toEqual([]);
  });

  test('the person’s page shows such a name as it is written', async () => {
    await using opened = await open();
    const { page } = opened;
    await page.goto(at(`people/user/${person}`));
    await page.getByRole('main').getByText('<img src=x').first().waitFor();
    await expect.poll(() => page.getByRole('main').innerText()).toContain(ids[1] as string);
  });

  test('each page as editor, viewer and support: nothing is asked that is refused, and nothing offered that would be', async () => {
    const walk = async (role: keyof typeof closed) => {
      const { browser } = await site.people.enrolled(tenant, role);
      const cookies = browser.cookies.map(({ name, value }) => ({ name, value, url: `${site.base}/` }));
      await using opened = await open({}, cookies);
      const { page, complaints } = opened;
      const found: string[] = [];
      let path = 'overview';
      const tell = (what: string) => found.push(`${role} ${path}: ${what}`);
      page.on('response', (response) => {
        if (response.status() >= 400) tell(`${response.status()} ${response.request().method()} ${response.url()}`);
      });
      const go = walker(page);
      await page.goto(at(path));
      for (path of pages) {
        await go(at(path));
        const main = page.getByRole('main');
        for (const alert of await main.locator('.notice.bad').allInnerTexts()) tell(alert);
        const buttons = role === 'config-editor' ? [] : await main.getByRole('button').allInnerTexts();
        for (const text of buttons.filter((one) => writes.test(one) && one !== 'Create a token'))
          tell(`offers ${text}`);
      }
      path = 'Ctrl-K';
      await page.keyboard.press('Control+k');
      const options = page.getByRole('option');
      await options.filter({ hasText: 'Policies' }).first().waitFor();
      for (const text of await options.allInnerTexts()) if (closed[role].test(text)) tell(`offers ${text}`);
      return [...found, ...complaints.map((one) => `${role}: ${one}`)];
    };
    const found = await Promise.all([walk('config-editor'), walk('config-viewer'), walk('support')]);
    expect(found.flat()).toEqual([]);
  });

  /** A page of another site, in a browser where somebody is logged in at the portal. */
  const evil = async (page: Page, body: string) => {
    await page.goto(elsewhere);
    await page.evaluate((html) => {
      (globalThis as unknown as { document: { body: { innerHTML: string } } }).document.body.innerHTML = html;
    }, body);
  };

  test('clickjacking: another site cannot frame a page of the portal', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    for (const path of ['portal', `portal/t/${tenant}/settings/members`, 'portal/tenants', 'portal/log-in']) {
      await evil(page, `<iframe src="${site.base}/${path}"></iframe>`);
      await expect
        .poll(() => complaints.filter((one) => /frame-ancestors|X-Frame-Options/.test(one)).length)
        .toBeGreaterThan(0);
      await expect.poll(() => page.frames().some((frame) => frame.url().startsWith(site.base))).toBe(false);
      complaints.length = 0;
    }
  });

  test('CSRF: another site cannot write with the session of who is logged in', async () => {
    await using opened = await open();
    const { page } = opened;
    await page.goto(at('policies'));
    const isLoggedIn = () =>
      page.evaluate(`fetch('/portal/session', { headers: { 'x-accord-portal': '1' } }).then(({ status }) => status)`);
    expect(await isLoggedIn()).toBe(200);
    const c = `${site.base}/tenants/${tenant}`;
    const payload = JSON.stringify({ rego: 'package evil' });
    const sends = (url: string, method: string, more: object) =>
      page.evaluate(
        `fetch(${JSON.stringify(url)}, { method: '${method}', credentials: 'include', ...${JSON.stringify(more)} })
          .then(({ status }) => status, () => 'refused by the browser')`,
      );
    await evil(page, `<form method="post" action="${site.base}/portal/session/end"><button>go</button></form>`);
    const headers = { 'x-accord-portal': '1', 'content-type': 'application/json' };
    expect(await sends(`${c}/policies/car%3Adrive`, 'PUT', { headers, body: payload })).toBe('refused by the browser');
    // What a browser sends without asking first.
    const plain = { mode: 'no-cors', headers: { 'content-type': 'text/plain' }, body: payload };
    for (const path of ['/policies/car%3Adrive/revisions/1/restore', '/portal-tokens', '/graphql'])
      expect(await sends(c + path, 'POST', plain)).toBe(0);
    await page.getByRole('button', { name: 'go' }).click();
    await page.waitForURL(`${site.base}/**`);
    await page.goto(at('policies'));
    expect(await isLoggedIn()).toBe(200);
    expect((await config('GET', '/policies/car%3Adrive')).body).toMatchObject({ revision: 1, rego });
    expect((await config('GET', '/portal-tokens')).body.tokens ?? []).toEqual([]);
  });
});
