/** Mails: the built-in texts, what is stored of them, and the local outbox. */
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { utc } from '../../server/core/instants.ts';
import { limits } from '../../server/core/limits.ts';
import {
  type MailMessage,
  mailLanguageOf,
  mailLanguages,
  type OutboxFile,
  sendMail,
  startOutbox,
} from '../../server/mail/index.ts';
import { mimeOf, readMime } from '../../server/mail/mime.ts';
import { sweepMail } from '../../server/mail/outbox.ts';
import { render } from '../../server/mail/templates.ts';
import type { MailTemplate, MailVariables } from '../../server/mail/variables.ts';
import { write } from '../../server/writes/index.ts';
import { TestClock } from '../core/auth/test-clock.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';

const clock = new TestClock();
const server = await createTestServer({}, undefined, clock);
const { services } = server;
const directory = await mkdtemp(join(tmpdir(), 'accord-outbox-'));
afterAll(() => rm(directory, { recursive: true }));
const outbox = join(directory, 'outbox');

const linked = { application: 'Car & <Share>', actionUrl: 'https://accord.test/t/x?token=a&b=c' };
const expiresAt = '2026-02-01T12:00:00.000Z';
const samples: MailVariables = {
  'email-verification': { ...linked, validHours: 24 },
  'password-reset': { ...linked, validMinutes: 30 },
  'account-exists': linked,
  'relationship-invitation': { ...linked, name: 'Ann <script>', expiresAt },
  'portal-invitation': { ...linked, role: 'config-editor', expiresAt },
  'consent-renewal': { ...linked, consent: 'Newsletter <b>', endsAt: expiresAt },
  'consent-receipt': { ...linked, consent: 'Newsletter <b>', registeredAt: expiresAt },
};

const send = (tenant: string, message: Partial<MailMessage<'account-exists'>> = {}) =>
  write(services.writes, { tenant }, { locks: 'records' }, (unit) =>
    sendMail(services.mail, unit, { template: 'account-exists', to: 'Bob@example.org', variables: linked, ...message }),
  );
async function written(): Promise<OutboxFile[]> {
  const files: OutboxFile[] = [];
  await startOutbox(services, outbox, (file) => files.push(file))();
  return files;
}

describe.each(Object.keys(samples) as MailTemplate[])('%s', (template) => {
  test.each(mailLanguages)('in %s has the link in both parts, and escapes what it is given', (language) => {
    const { subject, text, html } = render(template, language, samples[template]);
    expect(subject).toContain('Car & <Share>');
    expect(text).toContain(`\n${linked.actionUrl}\n`);
    expect(html).toContain('href="https://accord.test/t/x?token=a&amp;b=c"');
    expect(html).toContain('Car &amp; &lt;Share&gt;');
    expect(html).not.toContain('<script>');
    expect(`${text}${html}`).not.toContain('undefined');
  });

  test('says something else in each language', () => {
    expect(new Set(mailLanguages.map((one) => render(template, one, samples[template]).subject)).size).toBe(3);
  });

  test('is not sent without its link', () => {
    expect(() => render(template, 'en', { ...samples[template], actionUrl: '' })).toThrow(
      `${template}: /variables/actionUrl`,
    );
  });
});

test('the language is the first wish that there are texts in', () => {
  expect(mailLanguageOf('nl-BE')).toBe('nl');
  expect(mailLanguageOf(undefined, 'de', 'FR-ca')).toBe('fr');
  expect(mailLanguageOf('de', null)).toBe('en');
});

test('a header ends where it should, whatever a name or an address brings', () => {
  const mail = { id: 'i', at: expiresAt, tenant: 't', text: 'x', html: 'y' };
  const mime = mimeOf({
    ...mail,
    to: 'bob@example.org\r\nBcc: eve@example.org',
    subject: `Ünïcode\r\nBcc: eve ${'é'.repeat(60)}`,
  });
  const head = mime.slice(0, mime.indexOf('\r\n\r\n'));
  expect(head).not.toMatch(/^Bcc:/m);
  expect(head.split('\r\n').every((line) => line.length <= 78)).toBe(true);
  const words = [...head.matchAll(/=\?utf-8\?B\?([^?]+)\?=/g)].map(([, one]) => Buffer.from(one!, 'base64').toString());
  expect(words.join('')).toBe(`Ünïcode Bcc: eve ${'é'.repeat(60)}`);
  expect(readMime(mime)).toMatchObject({ at: expiresAt, tenant: 't', text: 'x', html: 'y', subject: words.join('') });
});

describe('a message', () => {
  test('is stored encrypted, and of its address a keyed digest', async () => {
    const tenant = await server.tenant();
    await send(tenant);
    const [row] = await asAdmin<{ text: string }>(
      server.db.adminUrl,
      `select m::text || encode(content_encrypted, 'escape') as text from accord.mail_message m where tenant = '${tenant}'`,
    );
    // Three letters are in the digest by chance.
    expect(row?.text).not.toMatch(/bob@|token|Share/i);
    expect(server.observations).toContainEqual({ kind: 'mail_kept', tenant, template: 'account-exists' });
    await written();
  });

  test('is there only when the transaction is', async () => {
    const tenant = await server.tenant();
    const failing = write(services.writes, { tenant }, { locks: 'records' }, async (unit) => {
      await sendMail(services.mail, unit, { template: 'account-exists', to: 'bob@example.org', variables: linked });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await written()).toEqual([]);
  });

  test('has at most mailVariablesBytesMax of variables, and one address', async () => {
    const tenant = await server.tenant();
    const length = (actionUrl: string) =>
      Buffer.byteLength(JSON.stringify({ to: 'Bob@example.org', variables: { ...linked, actionUrl } }));
    const most = `https://x/${'x'.repeat(limits.mailVariablesBytesMax - length('https://x/'))}`;
    await send(tenant, { variables: { ...linked, actionUrl: most } });
    await expect(send(tenant, { variables: { ...linked, actionUrl: `${most}x` } })).rejects.toThrow(
      'more than 8192 bytes',
    );
    for (const to of ['a@x.org, b@x.org', 'a@x.org\r\nBcc: b@x.org', '<a@x.org>']) {
      await expect(send(tenant, { to })).rejects.toThrow('a mail has no address');
    }
    await written();
  });

  test('that is not taken is removed after mailTtlMs', async () => {
    const tenant = await server.tenant();
    await send(tenant);
    clock.advance(limits.mailTtlMs - 1);
    await sweepMail(services.database, utc(clock.now()));
    expect(await written()).toHaveLength(1);
    await send(tenant);
    clock.advance(limits.mailTtlMs);
    expect(await written()).toEqual([]);
    await sweepMail(services.database, utc(clock.now()));
    const left = `select id from accord.mail_message where tenant = '${tenant}'`;
    expect(await asAdmin(server.db.adminUrl, left)).toEqual([]);
  });
});

const insertTemplate = `insert into accord.mail_template (tenant, name, language, spec, revision, owner, updated_by)
  values ($1, 'broken', 'en', $2, 1, '{"source":"api"}', 'test')`;

describe('the local outbox', () => {
  test('has files that only their owner reads, named by time and template', async () => {
    const tenant = await server.tenant();
    await send(tenant, { language: 'nl' });
    const [file] = await written();
    expect(file).toMatchObject({ tenant, to: 'Bob@example.org', subject: 'Je hebt al een account bij Car & <Share>' });
    expect((await stat(file!.path)).mode & 0o777).toBe(0o600);
    expect((await stat(outbox)).mode & 0o777).toBe(0o700);
    expect(file!.path).toMatch(/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z-account-exists-[0-9a-f-]{36}\.eml$/);
    expect(await readFile(file!.path, 'utf8')).toContain(`To: Bob@example.org\r\n`);
    expect(await written()).toEqual([]);
  });

  test('is closed to others also where the directory was open', async () => {
    await chmod(outbox, 0o755);
    await writeFile(join(outbox, 'other'), '');
    await send(await server.tenant());
    const [file] = await written();
    expect((await stat(file!.path)).mode & 0o777).toBe(0o600);
  });

  test('a mail that cannot be written fails, and holds up those of no other tenant', async () => {
    const [tenant, other] = [await server.tenant(), await server.tenant()];
    const { adminUrl } = server.db;
    const id = (await send(tenant)).result;
    await asAdmin(adminUrl, `update accord.mail_message set template = 'gone' where id = $1`, [id]);
    const broken = (await send(tenant)).result;
    await asAdmin(adminUrl, `update accord.mail_message set template = 'broken' where id = $1`, [broken]);
    await asAdmin(adminUrl, insertTemplate, [tenant, JSON.stringify({ subject: 'x', text: '{{ missing }}' })]);
    await send(other);
    expect((await written()).map((file) => file.tenant)).toEqual([other]);
    const failed = `select status, reason, answer from accord.mail_message where id in ($1, $2) order by answer`;
    expect(await asAdmin(adminUrl, failed, [id, broken])).toEqual([
      { status: 'failed', reason: 'template', answer: 'there is no such template' },
      { status: 'failed', reason: 'template', answer: 'undefined variable: missing' },
    ]);
  });

  test('takes outboxMessagesMax at once, and goes on', async () => {
    const tenant = await server.tenant();
    const before = (await readdir(outbox)).length;
    for (let i = 0; i <= limits.outboxMessagesMax; i++) await send(tenant);
    expect(await written()).toHaveLength(limits.outboxMessagesMax);
    expect(await written()).toHaveLength(1);
    expect(await readdir(outbox)).toHaveLength(before + limits.outboxMessagesMax + 1);
  });
});
