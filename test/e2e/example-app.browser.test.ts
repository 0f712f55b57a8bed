/**
 * `npm run example` as people use it, in Chromium: two neighbours and a stranger sign up, share a car, drive, agree and withdraw, and
 * see the events. Skipped, with a word, where there is no Chromium. ACCORD_TEST_SHOTS names a folder for the pictures of docs/.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { closeAtEnd } from '../helpers/closing.ts';
import { freePort } from '../helpers/free-port.ts';
import { keepPicture, movingPicture } from '../helpers/pictures.ts';
import { until, WAIT_MS_MAX } from '../helpers/wait.ts';
import { chromiumPath, howToGetChromium, skipsBrowser } from '../pages/chromium.ts';
import { accord, environment, root } from './accord.ts';

if (skipsBrowser()) {
  // biome-ignore lint/suspicious/noConsole: what is not tested is said aloud
  console.warn(`EXAMPLES/APP IS NOT TESTED IN A BROWSER: there is no Chromium. To get it: ${howToGetChromium}`);
}

const inspect = readFileSync(new URL('../pages/inspect.js', import.meta.url), 'utf8');
const password = 'correct horse battery staple';

type Person = { page: Page; complaints: string[] };

describe.skipIf(skipsBrowser())('examples/app', () => {
  let directory: string;
  let site: string;
  let mail: string;
  let example: ChildProcess;
  let output = '';
  let browser: Browser;
  let ports: number[];

  beforeAll(async () => {
    ports = await Promise.all([freePort(), freePort(), freePort()]);
    const [port, listen, admin] = ports;
    [site, mail] = [`http://localhost:${port}`, `http://127.0.0.1:${admin}/dev/mail`];
    directory = await mkdtemp(join(tmpdir(), 'accord-example-'));
    const manifests = join(directory, 'manifests');
    await cp(join(root, 'examples'), manifests, { recursive: true });
    for (const name of ['carshare/app.yaml', 'carshare/types.yaml']) {
      const text = await readFile(join(manifests, name), 'utf8');
      expect(text).toContain('http://localhost:5180');
      await writeFile(join(manifests, name), text.replaceAll('http://localhost:5180', site));
    }
    const places = ['--manifests', manifests, '--data', join(directory, 'data'), '--port', String(port)];
    const listeners = ['--listen', `127.0.0.1:${listen}`, '--admin-listen', `127.0.0.1:${admin}`];
    example = spawn(process.execPath, ['bin/run.mjs', 'example', ...places, ...listeners], {
      ...{ cwd: root, env: environment(), stdio: ['ignore', 'pipe', 'pipe'] },
    });
    for (const stream of [example.stdout, example.stderr]) stream?.on('data', (chunk) => (output += chunk));
    await until('the example', () => output.includes('Ctrl-C ends both.'));
    const executablePath = chromiumPath();
    if (executablePath === undefined) throw new Error(`there is no Chromium: ${howToGetChromium}`);
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  });
  closeAtEnd(async () => {
    await browser?.close();
    if (example?.exitCode === null) {
      example.kill('SIGTERM');
      await new Promise((done) => example.once('exit', done));
    }
    await rm(directory, { recursive: true, force: true });
  });

  const people: Page[] = [];
  afterEach(async ({ task }) => {
    if (task.result?.state !== 'fail') return;
    for (const page of people) output += `\n--- ${page.url()}\n${await page.locator('body').innerText().catch(String)}`;
    // biome-ignore lint/suspicious/noConsole: what the people saw when the test failed
    console.error(output);
  });
  const contextOf = (page: Page) => page.context();
  const cookieOf = async (page: Page) =>
    (await contextOf(page).cookies(site)).map(({ name, value }) => `${name}=${value}`).join('; ');
  async function open(options: BrowserContextOptions = {}): Promise<Person> {
    const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1100, height: 800 }, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS_MAX);
    const complaints: string[] = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    people.push(page);
    return { page, complaints };
  }

  /** Nothing is wrong with a page of the application: wide and narrow, light and dark. */
  async function look({ page }: Person, name: string, shot = false): Promise<void> {
    const found: Record<string, unknown> = {};
    await page.waitForLoadState('load'); // its texts are there before its style
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const width of [320, 1100]) {
        await page.setViewportSize({ width, height: 800 });
        // Colours and structure are the same in both widths.
        const violations = width === 320 ? [] : (await new AxeBuilder({ page }).analyze()).violations;
        const wrong = [
          ...((await page.evaluate(inspect)) as string[]),
          ...violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`),
        ];
        if (wrong.length > 0) found[`${name} ${width} ${colorScheme}`] = wrong;
        const to = process.env.ACCORD_TEST_SHOTS;
        if (to) await page.screenshot({ path: `${to}/app-${name}-${width}-${colorScheme}.png`, fullPage: true });
      }
    }
    await page.emulateMedia({ colorScheme: 'light' });
    const to = process.env.ACCORD_TEST_SHOTS;
    if (shot && to) await page.screenshot({ path: `${to}/${name}.png` });
    expect(found).toEqual({});
  }

  /** As a person does: in the list of the local mailbox, the newest mail to the address; its link is in its text. */
  async function linkFromMail(page: Page, email: string, subject: RegExp): Promise<string> {
    const mailbox = await contextOf(page).newPage();
    const row = mailbox.getByRole('row').filter({ hasText: email }).filter({ hasText: subject }).first();
    await until(`a mail to ${email}`, async () => {
      await mailbox.goto(mail);
      return (await row.count()) === 1;
    });
    await row.getByRole('link').click();
    const text = await mailbox.locator('pre').textContent();
    await mailbox.close();
    return /https?:\/\/\S+/.exec(text ?? '')?.[0] as string;
  }

  async function signUp(person: Person, name: string, email: string): Promise<void> {
    const { page } = person;
    await page.goto(site);
    await page.getByRole('link', { name: 'Log in or create an account' }).click();
    await page.getByRole('link', { name: 'Create an account' }).click();
    await page.getByLabel('Your name').fill(name);
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText('Check your mail').first().waitFor();
    await page.goto(await linkFromMail(page, email, /confirm/i));
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Confirm address' }).click();
    await page
      .getByRole('link', { name: 'Continue' })
      .or(page.getByRole('button', { name: 'Continue' }))
      .click();
    await page.waitForURL(`${site}/cars`);
    await page.getByText(name).waitFor();
  }

  test('from signing up to an event', { timeout: 600_000 }, async () => {
    const ann = await open();
    await ann.page.goto(site);
    await look(ann, 'home');
    await signUp(ann, 'Ann de Wit', 'ann.owner@example.org');
    await look(ann, 'no-cars');

    await ann.page.getByLabel('Name').fill('Blue Volvo');
    await ann.page.getByLabel('Number plate').fill('12-AB-34');
    await ann.page.getByRole('button', { name: 'Add this car' }).click();
    await ann.page.getByRole('heading', { name: 'Blue Volvo' }).waitFor();
    const car = ann.page.url();

    await ann.page.getByLabel('Email address of a neighbour').fill('bob.guest@example.org');
    await ann.page.getByRole('button', { name: 'Send the invitation' }).click();
    await ann.page.getByText('bob.guest@example.org gets a mail with the invitation.').waitFor();
    await ann.page.getByText('waits for an answer').waitFor();

    // A stranger has the address of the car, and nothing else.
    const mallory = await open();
    await signUp(mallory, 'Mallory', 'mallory@example.org');
    await mallory.page.goto(car);
    await mallory.page.getByRole('button', { name: 'Start driving' }).click();
    await mallory.page.getByText('Nobody has shared this car with you.').waitFor();
    await look(mallory, 'denied', true);
    expect(mallory.complaints.splice(0)).toEqual([expect.stringContaining('403')]);
    await mallory.page.goto(car);
    await mallory.page.getByLabel('Email address of a neighbour').fill('friend@example.org');
    await mallory.page.getByRole('button', { name: 'Send the invitation' }).click();
    await mallory.page.getByRole('alert').filter({ hasText: 'user:may_use:car:invitation:create' }).waitFor();

    // Bob follows the link of the mail, signs up with the invited address and accepts.
    const bob = await open();
    await bob.page.goto(await linkFromMail(bob.page, 'bob.guest@example.org', /./));
    await acceptAsNew(bob.page);
    await logInWhereAsked(bob.page, 'bob.guest@example.org');
    await bob.page.getByRole('link', { name: /Blue Volvo/ }).waitFor();
    await look(bob, 'cars', true);

    // Bob drives. Where he is, nobody sees: he has not agreed to that.
    await bob.page.getByRole('link', { name: /Blue Volvo/ }).click();
    await bob.page.getByRole('button', { name: 'Start driving' }).click();
    await bob.page.getByText('You are driving.').waitFor();
    await bob.page.getByText('the driver has not agreed to share trip data').waitFor();
    await look(bob, 'driving-hidden');

    await bob.page.getByRole('link', { name: 'Read what that is about' }).click();
    await bob.page.getByText('where it is and how fast it goes').waitFor();
    await look(bob, 'consent');
    await bob.page.getByRole('button', { name: 'I agree' }).click();
    await bob.page.getByText('You agreed.').waitFor();

    // The owner sees the car now, and who drives it.
    await ann.page.goto(car);
    await ann.page.getByText('Bob Jansen is driving.').waitFor();
    await ann.page.getByRole('img', { name: 'Map: the car is on Elm Street' }).waitFor();
    await ann.page.getByText('accepted').waitFor();
    await look(ann, 'driving', true);

    // Ann looks at the events while Bob withdraws.
    await ann.page.goto(`${site}/events`);
    await ann.page.getByText('INVITATION_ACCEPTED').waitFor();
    await bob.page.getByRole('button', { name: 'Withdraw my consent' }).click();
    await bob.page.getByText('You withdrew your consent.').waitFor();
    await ann.page.getByText('CONSENT_REVOKED').waitFor();
    await look(ann, 'events');
    await ann.page.goto(car);
    await ann.page.getByText('the driver has not agreed to share trip data').waitFor();

    await bob.page.goto(car);
    await bob.page.getByRole('button', { name: 'Park the car' }).click();
    await bob.page.getByText('The car is parked.').waitFor();

    await bob.page.getByRole('button', { name: 'Log out' }).click();
    await bob.page.locator('button[name="logout"]').click();
    await bob.page.waitForURL(`${site}/`);
    await bob.page.goto(`${site}/cars`);
    await bob.page.getByLabel('Password').waitFor();
    // A log-in leads to no other host, and ends the session of before; a stream of events ends with its session.
    const before = await cookieOf(ann.page);
    await ann.page.goto(`${site}/log-in?to=//134744072`);
    await ann.page.waitForURL(`${site}/cars`);
    const follow = async (cookie: string) => fetch(`${site}/events/stream`, { headers: { cookie } });
    expect((await follow(before)).status).toBe(401);
    const stream = await follow(await cookieOf(ann.page));
    expect(stream.status).toBe(200);
    await ann.page.getByRole('button', { name: 'Log out' }).click();
    expect(await stream.text()).toContain('INVITATION_ACCEPTED');
    expect([ann.complaints, bob.complaints]).toEqual([[], []]);
  });

  test('the portal tells the first security admin of it, by the link of accord log-in', {
    timeout: 300_000,
  }, async () => {
    const data = ['--data', join(directory, 'data')];
    const link = (await accord(['log-in', ...data])).stdout.trim();
    const { origin } = new URL(link);
    const client = ['--tenant', 'carshare', '--client', 'box', '--scope', 'authz:evaluate'];
    const token = (await accord(['token', ...client, ...data])).stdout.trim();
    const asked = { subject: { type: 'user', id: 'dave' }, action: 'car:use', resource: { type: 'car', id: 'car-7' } };
    const answer = await fetch(`${origin}/authz/carshare`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(asked),
    });
    expect(await answer.json()).toEqual({ outcome: 'deny' });
    const { page, complaints } = await open({ viewport: { width: 1200, height: 596 } });
    await page.goto(link);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.waitForURL('**/portal/t/carshare/overview');
    // As long as the portal is being built, its page loads itself again.
    await page.getByRole('heading', { name: 'The last 24 hours' }).waitFor({ timeout: 240_000 });
    const why = page.getByRole('link', { name: 'See why' });
    await until('the decision about dave', async () => {
      await page.reload();
      await why.waitFor();
      return (await page.getByText('May user dave do car:use on car car-7?').count()) === 1;
    });
    await page.getByText('Decisions', { exact: true }).first().waitFor();
    await keepPicture(page, 'portal-overview.png');
    await page.setViewportSize({ width: 1440, height: 900 });
    await why.click();
    // The question of the decision is filled in, and asked again.
    await page.getByText('what is missing is “user:dave may_use car:car-7”').first().waitFor();
    await page.locator('.cm-content').first().waitFor();
    await keepPicture(page, 'portal-why.png');
    await explain(page.context(), `${origin}/portal/t/carshare/policies/car%3Ause`);
    await page.setViewportSize({ width: 1200, height: 852 });
    await page.goto(`${origin}/portal/t/carshare/consents/trip-data`);
    await page.getByRole('slider', { name: 'Today on the time line' }).waitFor();
    await page.getByRole('region', { name: 'Adoption' }).getByRole('cell').first().waitFor();
    await keepPicture(page, 'portal-consents.png');
    expect(complaints.filter((one) => !one.includes('503'))).toEqual([]);
  });

  /** The policy editor denies a question, allows it to somebody else with what is stored, and shows the rule and the relationship. */
  async function explain(member: BrowserContext, policy: string): Promise<void> {
    // The three columns of a wide window, in a picture that fits a page.
    const looks = { viewport: { width: 1280, height: 800 }, deviceScaleFactor: 0.75 };
    const { page, complaints } = await open({ ...looks, storageState: await member.storageState() });
    const moving = movingPicture(page);
    await page.goto(policy);
    await page.getByLabel('Subject id').fill('dave');
    await page.getByLabel('Resource id').fill('car-7');
    await page.getByText('Denied: what is missing is “user:dave may_use car:car-7”').waitFor();
    await page.locator('.cm-content').first().waitFor();
    await moving.add();
    await page.getByLabel('Subject id').fill('alice');
    await page.getByText('Denied: what is missing is “user:alice may_use car:car-7”').waitFor();
    await moving.add();
    await page.getByRole('button', { name: 'Load what is stored now' }).click();
    await page.getByText('Allowed: user:alice may car:use on car:car-7: the rule in line 5').waitFor();
    await moving.add();
    await page.getByRole('link', { name: 'line 5' }).first().click();
    await page.locator('.cm-told-line').getByText('outcome').waitFor();
    await moving.add();
    const found = page.locator('.why-relations').getByText('found');
    await found.scrollIntoViewIfNeeded();
    await moving.add();
    await moving.keep('portal-policy.gif');
    expect(complaints).toEqual([]);
  }

  /** Whoever signed up on the page of an invitation has no session at the issuer yet, and is asked for the password there. */
  async function logInWhereAsked(page: Page, email: string): Promise<void> {
    const field = page.getByLabel('Password');
    await field.or(page.getByRole('heading', { name: 'My cars' })).waitFor();
    if (!(await field.isVisible())) return;
    await page.getByLabel('Email address').fill(email);
    await field.fill(password);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.waitForURL(`${site}/cars`);
  }

  /** The page of the invitation: create an account with the invited address, and accept. */
  async function acceptAsNew(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'See the invitation' }).click();
    await page.getByText('Ann de Wit').first().waitFor();
    await page.getByRole('link', { name: 'Create an account' }).click();
    await page.getByLabel('Your name').fill('Bob Jansen');
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('button', { name: 'Accept', exact: true }).click();
    await page.getByRole('link', { name: 'Continue' }).click();
  }

  test('an event that Accord did not sign is refused, and so is a form of another site', async () => {
    const event = { 'content-type': 'application/cloudevents+json' };
    const forged = {
      'webhook-id': 'x',
      'webhook-timestamp': `${Math.floor(Date.now() / 1000)}`,
      'webhook-signature': 'v1,AAAA',
    };
    for (const headers of [event, { ...event, ...forged }]) {
      const answer = await fetch(`${site}/webhooks/accord`, { method: 'POST', headers, body: '{"type":"FORGED"}' });
      expect(answer.status).toBe(400);
    }
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }, {}]) {
      const answer = await fetch(`${site}/log-out`, { method: 'POST', headers });
      expect(answer.status).toBe(403);
    }
  });

  test('nothing is shown to who is not logged in', async () => {
    for (const path of ['/cars', '/cars/car-7', '/consent', '/events']) {
      const answer = await fetch(`${site}${path}`, { redirect: 'manual' });
      expect([path, answer.status, answer.headers.get('location')]).toEqual([
        path,
        303,
        `/log-in?to=${encodeURIComponent(path)}`,
      ]);
    }
    expect((await fetch(`${site}/events/stream`)).status).toBe(401);
    const drive = { method: 'POST', headers: { 'sec-fetch-site': 'same-origin' }, redirect: 'manual' } as const;
    expect((await fetch(`${site}/cars/car-7/drive`, drive)).headers.get('location')).toBe('/log-in?to=%2Fcars');
    // The log-in leads back to pages of the application only.
    const planted = await fetch(`${site}/callback?code=planted&state=x`, { redirect: 'manual' });
    expect(planted.headers.get('location')).toBe('/log-in');
  });

  test('Ctrl-C ends both, and nothing is left', async () => {
    example.kill('SIGINT');
    expect(await new Promise((done) => example.once('exit', done))).toBe(0);
    for (const port of ports) await expect(fetch(`http://localhost:${port}`)).rejects.toThrow();
  });
});
