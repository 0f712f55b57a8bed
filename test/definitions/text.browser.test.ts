/**
 * The text of a consent document in a real browser: what got past the sanitizer does not act either. Skipped where there is no
 * Chromium.
 */
import { expect, test } from 'vitest';
import { digestOf } from '../../server/definitions/content.ts';
import { asAdmin } from '../helpers/admin.ts';
import { newContext } from '../helpers/chromium.ts';
import { createTestServer } from '../helpers/server.ts';
import { WallClock } from '../invitations/inviting.ts';
import { skipsBrowser } from '../pages/chromium.ts';
import { defining } from './defining.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);

test.skipIf(skipsBrowser())('runs, loads, submits and styles nothing', async () => {
  const { tenant, put, direct, from } = await defining(server, clock);
  await put('/terms', {});
  await put('/terms/versions/1', direct);
  const content = { title: 'Terms', mediaType: 'text/html', body: '<p>You agree.</p>' };
  await put('/terms/versions/1/documents/en/a', { effectiveDate: from(0), content });
  const evil = `<base href="/stolen/"><meta http-equiv="refresh" content="0;url=/stolen/refresh"><link rel="stylesheet" href="/stolen/css">
    <style>#words { display: none } @import "/stolen/import";</style><p id="words">You agree.</p>
    <script>document.title = 'ran'; fetch('/stolen/fetch')</script><img src="/stolen/image" onerror="document.title = 'ran'">
    <svg onload="document.title = 'ran'"></svg><iframe src="/stolen/frame"></iframe>
    <form action="/stolen/form"><button>Send</button></form><a href="javascript:document.title = 'ran'">more</a>`;
  await asAdmin(
    server.db.adminUrl,
    `update accord.consent_document set body = $2, content = content || jsonb_build_object('digest', $3::text) where tenant = $1`,
    [tenant, evil, digestOf(evil)],
  );
  const base = await server.app.listen({ port: 0, host: '127.0.0.1' });
  const context = await newContext();
  try {
    const page = await context.newPage();
    const asked: string[] = [];
    server.app.server.on('request', ({ url = '' }) => asked.push(url));
    const address = `/${tenant}/consents/documents/terms/1/a/en`;
    await page.goto(`${base}${address}`);
    await page.locator('#words').waitFor();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('more').click();
    expect(await page.title()).toBe('');
    expect(asked.filter((url) => url !== '/favicon.ico')).toEqual([address]);
  } finally {
    await context.close();
  }
});
