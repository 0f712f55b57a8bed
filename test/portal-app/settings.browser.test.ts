/** The settings of the portal in a browser: members, clients, issuers with a check of a token, keys, pages, limits, the access token, the audit log. */
import { describe, expect, test } from 'vitest';
import { startIdentityProvider } from '../core/auth/identity-provider.ts';
import { asAdmin } from '../helpers/admin.ts';
import { configClient } from '../policies/config-client.ts';
import { axe, createPortal, executablePath, look, styleOf, whileSent } from './portal.ts';

describe.skipIf(executablePath === undefined)('the settings', async () => {
  if (executablePath === undefined) return;
  const site = await createPortal({ role: 'security-admin' });
  const { tenant, open, email } = site;
  const idp = await startIdentityProvider();
  const at = (path: string) => `${site.base}/portal/t/${tenant}/settings${path}`;

  test('invites a member, whose link is shown once, and withdraws it', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at(''));
    await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
    await page.getByRole('button', { name: 'Invite a member' }).click();
    await page.getByLabel('E-mail address').fill('ben@team.example');
    await page.getByRole('radio', { name: /^Config viewer/ }).check();
    const sent = page.waitForRequest((one) => one.method() === 'POST' && one.url().endsWith('/members/invitations'));
    await page.getByRole('button', { name: 'Send the invitation' }).click();
    expect((await sent).headers()).toHaveProperty('idempotency-key');
    await page.getByText('ben@team.example is invited.').waitFor();
    await expect.poll(() => page.locator('pre.code').innerText()).toContain(`/portal/invitations#${tenant}.`);
    expect(await axe(page)).toEqual([]);
    await look(page, 'settings-members');
    await page.reload();
    await page.getByRole('button', { name: 'Withdraw' }).waitFor();
    expect(await page.locator('pre.code').count()).toBe(0);
    await page.getByRole('button', { name: 'Withdraw' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
    await page.getByRole('cell', { name: 'withdrawn' }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('the last security admin is not removed, and the page says why', async () => {
    await using opened = await open();
    const { page } = opened;
    await page.goto(at('/members'));
    await page.getByRole('button', { name: 'Remove' }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page
      .getByRole('dialog')
      .getByText(/last security admin/i)
      .first()
      .waitFor();
  });

  test('makes a client with a secret, which is shown once, and disables it', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('/clients'));
    await page.getByRole('button', { name: 'New client' }).click();
    await page.getByLabel('Client id').fill('garage');
    await page.getByRole('checkbox', { name: 'authz:evaluate' }).check();
    expect(await axe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'garage' }).waitFor();
    await page.getByText('The client has no secret yet, and gets no token without one.').waitFor();
    const asked = page.waitForRequest((one) => one.method() === 'POST' && one.url().endsWith('/secrets'));
    await page.getByRole('button', { name: 'Generate a secret' }).click();
    expect((await asked).headers()).toHaveProperty('idempotency-key');
    await page.getByText('This is the only time that the secret is shown').waitFor();
    const secret = await page.locator('.notice pre.code').innerText();
    expect(secret.length).toBeGreaterThan(30);
    // The command that is shown beside it gets a token.
    const command = await page.locator('details pre.code').innerText();
    const authorization = `Basic ${Buffer.from(`garage:${secret}`).toString('base64')}`;
    const token = await fetch(/'(http[^']+)'/.exec(command)?.[1] ?? '', {
      ...{ method: 'POST', headers: { authorization } },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        scope: /'scope=([^']+)'/.exec(command)?.[1] ?? '',
      }),
    });
    expect([token.status, await token.json()]).toMatchObject([200, { scope: 'authz:evaluate' }]);
    expect(await axe(page)).toEqual([]);
    await look(page, 'settings-client');
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'garage' }).waitFor();
    expect(await page.content()).not.toContain(secret);
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await page.getByText('Disabled', { exact: true }).waitFor();
    // Another one of this id would end its secret.
    await page.goto(at('/clients'));
    await page.getByRole('row', { name: /^garage\s+Back end Disabled/ }).waitFor();
    await page.getByRole('button', { name: 'New client' }).click();
    await page.getByLabel('Client id').fill('garage');
    await page.getByRole('radio', { name: /^Single-page/ }).check();
    await page.getByLabel('Redirect URIs').fill('https://app.example/back');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('There is a garage already.').waitFor();
    const config = await configClient(site.server, tenant, 'security-admin');
    expect((await config('GET', '/clients/garage')).body).toMatchObject({ enabled: false, secrets: [{}] });
    expect(complaints.filter((one) => !one.includes('412'))).toEqual([]);
  });

  test('makes an access token, shows it once, and revokes it', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('/token'));
    const sent = page.waitForRequest((one) => one.method() === 'POST' && one.url().endsWith('/portal-tokens'));
    await page.getByRole('button', { name: 'Create a token' }).click();
    expect((await sent).headers()).toHaveProperty('idempotency-key');
    await page.getByText('This is the only time that the token is shown').waitFor();
    const token = await page.locator('pre.code').nth(1).innerText();
    const asked = () =>
      site.server.app.inject({ url: `/tenants/${tenant}/policies`, headers: { authorization: `Bearer ${token}` } });
    expect((await asked()).statusCode).toBe(200);
    expect(await axe(page)).toEqual([]);
    await look(page, 'settings-token');
    await page.getByRole('button', { name: 'Revoke' }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('cell', { name: 'revoked' }).waitFor();
    expect((await asked()).statusCode).toBe(401);
    expect(complaints).toEqual([]);
  });

  test('trusts an issuer, and says check by check whether a token of it works', async () => {
    await idp.addKey('one');
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: idp.issuer, sub: 'alice', aud: 'https://api.test', iat: now, exp: now + 600 };
    const good = await idp.sign(claims);
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('/issuers'));
    const check = page.getByRole('region', { name: 'Does this token work?' });
    const judge = async (token: string) => {
      await check.getByLabel('Access token').fill(token);
      await check.getByRole('button', { name: 'Check the token' }).click();
      await check.getByRole('status').waitFor();
      return check.innerText();
    };
    // Before any is trusted: the tenant's own tokens, and a token of an issuer that is not.
    const ownToken = (await site.server.user(tenant, 'ben')).toString();
    expect(await judge(ownToken)).toContain('A request with this token is accepted now.');
    expect(await judge(good)).not.toContain('A request with this token is accepted now.');
    await page.getByRole('button', { name: 'Trust an issuer' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('login');
    await page.getByLabel('Issuer (https URL)').fill(idp.issuer);
    await page.getByRole('button', { name: 'Trust it' }).click();
    await page.getByRole('cell', { name: 'login' }).click();
    await page.getByRole('heading', { level: 1, name: 'login' }).waitFor();
    // As people copy it.
    const accepted = await judge(`Bearer ${good}\n`);
    expect(accepted).toContain('A request with this token is accepted now.');
    expect(accepted).toContain('the user alice (user)');
    expect(await check.getByText('passed', { exact: true }).count()).toBe(11);
    expect(await axe(page)).toEqual([]);
    await look(page, 'settings-token-check');
    const late = await judge(await idp.sign({ ...claims, exp: now - 60, aud: 'https://other.example' }));
    expect(late).toContain('The access token was refused: the token has expired.');
    expect(late).toContain(new Date((now - 60) * 1000).toISOString());
    expect(late).toContain('The access token was refused: aud names no audience of this tenant.');
    expect(await check.getByText('failed', { exact: true }).count()).toBe(2);
    expect(await judge('opaque')).toContain('an opaque token');
    expect(await judge(ownToken)).toContain('The token is of the tenant’s own issuer');
    await check.getByRole('button', { name: 'Forget it' }).click();
    await expect.poll(() => check.getByLabel('Access token').inputValue()).toBe('');
    await judge(good);
    await page.reload();
    await expect.poll(() => check.getByLabel('Access token').inputValue()).toBe('');
    expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).not.toContain('eyJ');
    // Another one of this name replaces nothing, and one that somebody changed is not deleted unseen.
    await page.goto(at('/issuers'));
    await page.getByRole('button', { name: 'Trust an issuer' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('login');
    await page.getByLabel('Issuer (https URL)').fill('https://other.example');
    await page.getByRole('button', { name: 'Trust it' }).click();
    await page.getByText('There is a login already.').waitFor();
    await page.goto(at('/issuers/login'));
    await page.getByRole('button', { name: 'Stop trusting it' }).click();
    const config = await configClient(site.server, tenant, 'security-admin');
    const kept = (await config('GET', '/trusted-issuers/login')).body;
    expect(kept.issuer).toBe(idp.issuer);
    await config('PUT', '/trusted-issuers/login', { body: { issuer: idp.issuer, actorIdPrefix: 'x-' } });
    await page.getByRole('dialog').getByRole('button', { name: 'Stop trusting it' }).click();
    await page.getByText('Somebody else changed this after you opened it.').waitFor();
    expect((await config('GET', '/trusted-issuers/login')).body.actorIdPrefix).toBe('x-');
    expect(complaints.filter((one) => !one.includes('412'))).toEqual([]);
  });

  test('shows the keys and rotates those of tokens', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    await page.goto(at('/keys'));
    await page.getByRole('cell', { name: 'access tokens' }).first().waitFor();
    expect(await page.getByRole('cell', { name: 'published, does not sign yet' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Rotate now' }).click();
    await page.getByRole('dialog').getByText('No token and no session ends').waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate now' }).click();
    await page.getByRole('cell', { name: 'published, does not sign yet' }).first().waitFor();
    await page.getByText('Until it does, rotating makes no other').waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'settings-keys');
    const config = await configClient(site.server, tenant, 'security-admin');
    const { entries } = (await config('GET', '/audit?kind=key&action=rotate')).body as { entries: { actor: string }[] };
    expect(entries.map(({ actor }) => actor)).toContain(`member:${site.email}`);
    expect(complaints).toEqual([]);
  });

  test('a manifest’s pages and limits are read-only; others are changed, and nobody’s work is lost', async () => {
    await using opened = await open();
    const { page, complaints } = opened;
    const logo = 'https://img.example/logo.svg';
    const body =
      '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="40"><rect width="120" height="40"/></svg>';
    await page.route(logo, (route) => route.fulfill({ contentType: 'image/svg+xml', body }));
    await page.goto(at('/limits'));
    await page.getByRole('cell', { name: 'maxPolicies', exact: true }).waitFor();
    await page.getByText('Managed by files test').waitFor();
    // Nothing to type here, and it says who does.
    expect(await page.getByRole('main').getByRole('textbox').count()).toBe(0);
    await page.getByRole('cell', { name: 'the Tenant’s manifest: limits.maxPolicies' }).waitFor();
    await page.getByRole('cell', { name: 'the variables of the servers: ACCORD_RATE_LIMIT' }).waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'settings-limits');
    await page.goto(at('/pages'));
    await page.getByText('Managed by files test').waitFor();
    expect(await page.getByRole('main').getByRole('textbox').count()).toBe(0);
    await page.getByRole('button', { name: 'Show as' }).click();
    await page.getByRole('menuitem', { name: 'Manifest (YAML)' }).click();
    const manifest = page.getByRole('dialog').locator('pre');
    await manifest.getByText('displayName: Cars of Ghent').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Open a change' }).click();
    await page.getByLabel('Name of the tenant').fill('Cars of Leuven');
    await page.getByRole('button', { name: 'Show the change' }).click();
    const change = page.getByRole('dialog', { name: 'The change' });
    await change.locator('pre').getByText('displayName: Cars of Leuven').waitFor();
    // The rest of the Tenant is in it, too.
    await change.locator('pre').getByText('audiences:').waitFor();
    expect(await axe(page)).toEqual([]);
    await look(page, 'settings-pages-change');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Discard' }).click();

    // As managementPolicy CreateOnly leaves it.
    const owner = `update accord.tenant set owner = '{"source": "api"}' where tenant = $1`;
    await asAdmin(site.server.db.adminUrl, owner, [tenant]);
    await page.reload();
    await page.getByLabel('Name of the tenant').fill('Cars of Bruges');
    await page.getByLabel('Colour of buttons and links', { exact: true }).fill('#ffe');
    await page.getByText('This is no colour').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await page.getByLabel('Colour of buttons and links', { exact: true }).fill('#ffe600');
    await page
      .getByText(/1\.\d to 1 too low: drawn as #[0-9a-f]{6}$/)
      .first()
      .waitFor();
    await page.getByLabel('Logo (https URL)').fill(logo);
    // What is drawn behind dark pages is a darker shade of it.
    await page.getByLabel('Colour behind the page', { exact: true }).fill('#dbe9ff');
    await page.getByText('#dbe9ff', { exact: true }).waitFor();
    await page.getByText(/^drawn as #[0-9a-f]{6}, on which words are read$/).waitFor();
    for (const scheme of ['Light', 'Dark']) {
      const preview = page.frameLocator(`iframe[title="The log-in page: ${scheme}"]`);
      await preview.getByText('Cars of Bruges').waitFor();
      await expect
        .poll(() =>
          preview.locator('img.logo').evaluate((one) => (one as unknown as { naturalWidth: number }).naturalWidth),
        )
        .toBe(120);
      const paper = await styleOf(preview.locator('body'), 'backgroundColor');
      expect([scheme, paper === 'rgb(219, 233, 255)']).toEqual([scheme, scheme === 'Light']);
    }
    // It is drawn beside what somebody types, and takes nothing from them.
    expect(await page.evaluate('document.activeElement.tagName')).toBe('INPUT');
    await page.getByRole('checkbox', { name: /^Users have a page of what they share/ }).check();
    await page.getByRole('checkbox', { name: /^Dutch/ }).check();
    await page.getByRole('checkbox', { name: /^English/ }).check();
    expect(await axe(page)).toEqual([]);
    await look(page, 'settings-pages');
    // It is a draft of this browser: a page that is loaded again has it.
    await page.waitForFunction(
      `localStorage.getItem('accord.draft.${encodeURIComponent(email)}/${tenant}/branding')?.includes('Bruges')`,
    );
    await page.reload();
    await expect.poll(() => page.getByLabel('Name of the tenant').inputValue()).toBe('Cars of Bruges');
    // Something else of the tenant changed: that is no conflict.
    const config = await configClient(site.server, tenant, 'security-admin');
    await config('PUT', '/actor-types/user', { body: {} });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The pages look so from now on.').waitFor();
    expect((await config('GET', '/branding')).body).toMatchObject({
      ...{ displayName: 'Cars of Bruges', logo, languages: ['nl', 'en'], sharingPage: true },
      colours: { primary: '#ffe600', background: '#dbe9ff' },
    });
    // Nobody else has this logo: the pages of other tests go without it.
    await page.getByLabel('Logo (https URL)').fill('');
    // Another editor was faster.
    await page.getByLabel('Name of the tenant').fill('Cars of Brussels');
    await config('PUT', '/branding', { body: { displayName: 'Cars of Liège' } });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Somebody else changed this after you opened it.').first().waitFor();
    await page.getByRole('definition').filter({ hasText: 'Cars of Liège' }).waitFor();
    await expect.poll(() => page.getByLabel('Name of the tenant').inputValue()).toBe('Cars of Brussels');
    // Before it is decided nothing is saved, also not after the page was left.
    await page.reload();
    await page.getByRole('definition').filter({ hasText: 'Cars of Liège' }).waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Go on with mine' }).click();
    await whileSent(page, 'PUT', '/branding', () => page.getByLabel('Name of the tenant').fill('Cars of Antwerp'));
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The pages look so from now on.').first().waitFor();
    // What was typed meanwhile is there, and not saved yet.
    expect(await page.getByLabel('Name of the tenant').inputValue()).toBe('Cars of Antwerp');
    await page.getByText('You have changes that are not saved.').waitFor();
    expect(await page.getByRole('button', { name: 'Go on with mine' }).count()).toBe(0);
    await expect
      .poll(async () => (await config('GET', '/branding')).body)
      .toMatchObject({ displayName: 'Cars of Brussels' });
    expect(complaints.filter((one) => !one.includes('412'))).toEqual([]);
  });

  test('viewers see what there is and change nothing, in Dutch', async () => {
    const config = await configClient(site.server, tenant, 'security-admin');
    await config('PUT', '/trusted-issuers/dutch', { body: { issuer: 'https://id.example.nl', actorIdPrefix: 'nl-' } });
    const { browser } = await site.people.enrolled(tenant, 'config-viewer');
    const cookies = browser.cookies.map(({ name, value }) => ({ name, value, url: `${site.base}/` }));
    await using opened = await open({ locale: 'nl-BE' }, cookies);
    const { page, complaints } = opened;
    await page.goto(at('/issuers/dutch'));
    await page.getByRole('heading', { level: 1, name: 'dutch' }).waitFor();
    await page.getByText('Sleutels (JWKS)').waitFor();
    expect(await page.getByText('Werkt dit token?').count()).toBe(0);
    await page.goto(at('/keys'));
    await page.getByRole('cell', { name: 'toegangstokens' }).first().waitFor();
    expect(await page.getByRole('button', { name: 'Nu roteren' }).count()).toBe(0);
    await page.goto(at('/pages'));
    await page.getByText('Naam van de tenant').waitFor();
    expect(await page.getByRole('button', { name: 'Opslaan' }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test('the audit log is filtered by its address, and narrow pages hold', async () => {
    await using opened = await open({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
    const { page, complaints } = opened;
    await page.goto(`${at('/audit')}?kind=portal_token`);
    await page.getByRole('cell', { name: 'portal_token' }).first().waitFor();
    expect(await page.getByRole('cell', { name: 'oauth_client' }).count()).toBe(0);
    expect(await axe(page)).toEqual([]);
    const ready = { type: 'Ready', status: 'False', reason: 'Invalid', message: 'spec.rego: it does not compile' };
    await asAdmin(
      site.server.db.adminUrl,
      `insert into accord.resource (source, kind, namespace, name, uid, tenant, generation, spec_digest, status)
       values ('kubernetes', 'Policy', 'fleet', 'car-drive', 'u', $1, 1, '', $2)`,
      [tenant, JSON.stringify({ conditions: [ready] })],
    );
    await page.goto(at('/manifests'));
    await page.getByText('not applied: Invalid').click();
    await page.getByText('it does not compile').waitFor();
    await page.getByText('Managed by kubernetes fleet/car-drive').waitFor();
    expect(await axe(page)).toEqual([]);
    for (const place of ['members', 'clients', 'issuers', 'keys', 'pages', 'limits', 'manifests', 'token', 'audit']) {
      await page.goto(at(`/${place}`));
      await page.getByRole('heading', { level: 1 }).waitFor();
      await look(page, `settings-${place}-narrow`);
    }
    expect(complaints).toEqual([]);
  });
});
