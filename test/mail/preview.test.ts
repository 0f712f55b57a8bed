/** What a browser shows in a frame: templates with sample values, and the local outbox; to whom, and under which policy. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type Role, roles } from '../../server/core/auth/schema.ts';
import { mailLanguages, sendMail, startOutbox } from '../../server/mail/index.ts';
import { builtIn } from '../../server/mail/variables.ts';
import { write } from '../../server/writes/index.ts';
import { createTestServer } from '../helpers/server.ts';

const server = await createTestServer();
const directory = await mkdtemp(join(tmpdir(), 'accord-outbox-'));
afterAll(() => rm(directory, { recursive: true }));

async function asking(tenant: string, role: Role = 'security-admin') {
  const token = await server.member(tenant, role);
  return (method: 'GET' | 'PUT' | 'POST', path: string, payload?: object) =>
    server.app.inject({
      ...{ method, url: `/tenants/${tenant}/mail${path}`, headers: { authorization: `Bearer ${token}` } },
      ...(payload === undefined ? {} : { payload }),
    });
}
const policy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'";

test('each built-in mail is shown in each language, to every role, with scripts and loading forbidden', async () => {
  const tenant = await server.tenant();
  for (const role of roles) {
    const ask = await asking(tenant, role);
    expect((await ask('GET', '/templates/consent-receipt/nl/preview')).statusCode, role).toBe(200);
  }
  const ask = await asking(tenant);
  for (const name of Object.keys(builtIn))
    for (const language of mailLanguages) {
      const shown = await ask('GET', `/templates/${name}/${language}/preview`);
      expect(shown.headers['content-security-policy']).toBe(policy);
      expect(shown.headers['content-type']).toBe('text/html; charset=utf-8');
      expect(shown.payload).toContain(`lang="${language}"`);
      expect(shown.payload).toContain('https://app.example.com/example');
    }
  expect((await ask('GET', '/templates/nothing/nl/preview')).json().code).toBe('mail_template_not_found');
});

test("a tenant's own template is shown without values of its variables, sanitized, and as text where it has no HTML", async () => {
  const tenant = await server.tenant();
  const ask = await asking(tenant);
  const html = '<script>alert(1)</script><p>Hi {{ nobody.name }}</p>{% for c in cars %}{{ c }}{% endfor %}';
  expect((await ask('PUT', '/templates/welcome/en', { subject: 'x', html })).statusCode).toBe(200);
  const shown = await ask('GET', '/templates/welcome/en/preview');
  expect([shown.statusCode, shown.payload]).toEqual([200, '<p>Hi </p>']);
  await ask('PUT', '/templates/plain/en', { subject: 'x', text: '<b> & {{ x }}' });
  expect((await ask('GET', '/templates/plain/en/preview')).payload).toContain('&lt;b&gt; &amp; </pre>');
});

test('a draft is shown without values of its variables where that is asked for', async () => {
  const ask = await asking(await server.tenant());
  const draft = { subject: 'Hi {{ nobody.name }}', text: '{% for c in cars %}{{ c.plate }}{% endfor %}{{ amount }}' };
  const show = (more: object) => ask('POST', '/templates/rent-paid/de/preview', { ...draft, ...more });
  expect((await show({})).json()).toMatchObject({ code: 'mail_template_invalid', errors: [{ line: 1, column: 7 }] });
  const variables = { amount: 'amount', cars: 'cars' };
  expect((await show({ lenient: true, variables })).json()).toEqual({ subject: 'Hi', text: 'amount', language: 'de' });
  expect((await show({ lenient: true, text: '{{ a' })).json().errors).toMatchObject([{ pointer: '/text', line: 1 }]);
});

test('the outbox of accord start is shown to security-admins, of their own tenant only', async () => {
  const [mine, other] = [await server.tenant(), await server.tenant()];
  const ask = await asking(mine);
  expect((await ask('GET', '/outbox')).json()).toEqual({ isOutbox: false, mails: [] });
  for (const [tenant, to] of [
    [mine, 'a@example.org'],
    [other, 'b@example.org'],
  ] as const)
    await write(server.services.writes, { tenant }, { locks: 'records' }, (unit) =>
      sendMail(server.services.mail, unit, {
        ...{ template: 'account-exists', to },
        variables: { application: 'Car', actionUrl: 'https://accord.test/t' },
      }),
    );
  await startOutbox(server.services, directory, () => {})();
  const { isOutbox, mails } = (await ask('GET', '/outbox')).json();
  expect([isOutbox, mails]).toMatchObject([true, [{ to: 'a@example.org' }]]);
  const { id } = mails[0] as { id: string };
  expect((await ask('GET', `/outbox/${id}`)).json().text).toContain('https://accord.test/t');
  const framed = await ask('GET', `/outbox/${id}/html`);
  expect([framed.statusCode, framed.headers['content-security-policy']]).toEqual([200, policy]);
  const theirs = await asking(other);
  for (const path of [`/outbox/${id}`, `/outbox/${id}/html`, `/outbox/..%2F${id}`])
    expect((await theirs('GET', path)).statusCode, path).toBe(404);
  for (const role of roles.filter((one) => one !== 'security-admin')) {
    const asked = await asking(mine, role);
    for (const path of ['/outbox', `/outbox/${id}`, `/outbox/${id}/html`])
      expect((await asked('GET', path)).statusCode, role).toBe(403);
  }
});
