/** The Mail API and the Config API of mail: templates and what they may do, messages, bounces, suppressions, unsubscribing. */
import { describe, expect, test } from 'vitest';
import { languageIn } from '../../server/core/languages.ts';
import { limits } from '../../server/core/limits.ts';
import { failureOf } from '../../server/mail/failures.ts';
import { answerOf } from '../../server/mail/rules.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { sendAll as sendMails } from './sending-all.ts';
import { caFile, createSmtpServer } from './smtp.ts';

const smtp = await createSmtpServer();
const server = await createTestServer({
  ACCORD_SMTP_URL: `smtp://localhost:${smtp.port}`,
  ACCORD_MAIL_FROM: 'no-reply@accord.example',
  ACCORD_CA_BUNDLE: caFile,
});

type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';
type Body = {
  code?: string;
  messageId: string;
  messages: object[];
  suppressions: { id: string }[];
  errors: object[];
  variables?: string[];
  samples?: Record<string, string | number>;
};
type Answer = { status: number; body: Body; headers: Record<string, unknown> };
async function setUp(spec: Parameters<typeof server.tenant>[0] = {}) {
  const tenant = await server.tenant(spec);
  const tokens = {
    admin: await server.member(tenant, 'security-admin'),
    backend: await server.client(tenant, 'mail:send'),
  };
  const ask =
    (token: string, base: string) =>
    async (
      method: Method,
      path: string,
      payload?: object | string,
      headers: Record<string, string> = {},
    ): Promise<Answer> => {
      const answer = await server.app.inject({
        ...{ method, url: `${base}${path}`, headers: { authorization: `Bearer ${token}`, ...headers } },
        ...(payload === undefined ? {} : { payload }),
      });
      const isJson = String(answer.headers['content-type']).includes('json');
      return {
        status: answer.statusCode,
        headers: answer.headers,
        body: (isJson ? answer.json() : answer.payload) as Body,
      };
    };
  return { tenant, config: ask(tokens.admin, `/tenants/${tenant}/mail`), mail: ask(tokens.backend, `/${tenant}/mail`) };
}
const sendAll = () => sendMails(server);
const invitation = '/templates/relationship-invitation/nl';
const to = (value: string) => ({ type: 'email', value });
const wrong = ({ body }: Answer) => body.errors;

describe('a test mail', () => {
  test('of a template of its own name takes its variables, and says which one is missing', async () => {
    const { config } = await setUp();
    const template = { subject: 'Rent of {{ car.plate }}', text: 'Paid: {{ amount }}' };
    expect((await config('PUT', '/templates/rent-paid/en', template)).status).toBe(200);
    const read = (await config('GET', '/templates/rent-paid/en')).body;
    expect([read.variables, 'samples' in read]).toEqual([['car', 'amount'], false]);
    const test = { template: 'rent-paid', to: to('ann@example.org') };
    const missing = await config('POST', '/test', { ...test, variables: { car: { plate: 'AB-1' } } });
    expect([missing.status, wrong(missing)]).toEqual([
      400,
      [{ pointer: '/variables/amount', detail: expect.stringContaining('amount') }],
    ]);
    const variables = { car: { plate: 'AB-1' }, amount: 12 };
    expect((await config('POST', '/test', { ...test, variables })).status).toBe(202);
    await sendAll();
    const sent = smtp.received.filter(({ raw }) => raw.includes('Subject: Rent of AB-1'));
    expect(sent).toHaveLength(1);
    expect(sent[0]?.raw).toContain('Paid: 12');
  });

  test('of a built-in mail has samples for what is not given', async () => {
    const { config } = await setUp();
    const test = { template: 'consent-renewal', to: to('bob@example.org') };
    expect((await config('POST', '/test', { ...test, variables: { consent: 'Newsletter of May' } })).status).toBe(202);
    // The samples as they are read are what is sent without variables.
    const { samples } = (await config('GET', '/templates/consent-renewal/en')).body;
    expect((await config('POST', '/test', { ...test, variables: samples })).status).toBe(202);
    const unknown = await config('POST', '/test', { ...test, variables: { colour: 'red' } });
    expect(wrong(unknown)).toMatchObject([{ pointer: '/variables/colour' }]);
    await sendAll();
    expect(smtp.received.some(({ raw }) => raw.includes('Newsletter of May'))).toBe(true);
  });
});

describe('a template of a tenant', () => {
  test('is written by what it says, escaped in HTML and plain in text, and sanitized', async () => {
    const { config, mail } = await setUp({ displayName: 'Car & Share' });
    const template = {
      subject: '{{ application }}: {{ name }}',
      html: '<p onclick="x()" style="color:#f00;position:fixed">{{ name }}<script>alert(1)</script><a href="{{ actionUrl }}">Go</a><img src="http://t/p.gif"></p>',
    };
    expect((await config('PUT', invitation, template)).status).toBe(200);
    expect((await config('GET', invitation)).body).toMatchObject({
      ...template,
      builtIn: false,
      variables: ['application', 'actionUrl', 'name', 'relationship', 'type', 'expiresAt'],
      samples: { application: 'Car & Share', name: 'Maria Jansen', type: 'auto', relationship: 'mag rijden' },
    });
    const variables = {
      actionUrl: 'https://x.example/?a=1&b=2',
      name: '<b>Ann</b> & co',
      expiresAt: '2027-01-01T00:00:00Z',
    };
    const sent = await mail('POST', '/messages', {
      template: 'relationship-invitation',
      language: 'nl-BE',
      to: to('bob@example.org'),
      variables,
    });
    expect(sent).toMatchObject({ status: 202, body: { status: 'waiting' } });
    await sendAll();
    const { mail: got } = smtp.received.at(-1)!;
    expect(got.subject).toBe('Car & Share: <b>Ann</b> & co');
    expect(got.html).toBe(
      '<p style="color:#f00">&lt;b&gt;Ann&lt;/b&gt; &amp; co<a href="https://x.example/?a=1&amp;b=2">Go</a><img /></p>',
    );
    expect(got.text).toContain('<b>Ann</b> & co');
    expect(got.text).toContain('https://x.example/?a=1&b=2');
    expect((await mail('GET', `/messages/${sent.body.messageId}`)).body).toMatchObject({
      status: 'sent',
      to: 'b***@example.org',
    });
    expect((await config('GET', '/messages')).body.messages).toMatchObject([
      { messageId: sent.body.messageId, to: 'b***@example.org' },
    ]);
    // Another language than the tenant's: the built-in template, all of it.
    await mail('POST', '/messages', {
      template: 'relationship-invitation',
      language: 'fr',
      to: to('bob@example.org'),
      variables,
    });
    await sendAll();
    expect(smtp.received.at(-1)?.mail.subject).toContain('partage quelque chose avec vous');
    expect((await config('DELETE', invitation)).status).toBe(200);
    expect((await config('GET', invitation)).body).toMatchObject({ builtIn: true });
    expect((await config('DELETE', invitation)).status).toBe(404);
  });

  test('with a variable that the mail does not have is refused, with its place', async () => {
    const { config } = await setUp();
    const refused = await config('PUT', invitation, { subject: 'x', text: 'Dear\n {{ nmae }}' });
    expect(refused).toMatchObject({ status: 400, body: { code: 'mail_template_invalid' } });
    expect(wrong(refused)).toMatchObject([
      { pointer: '/text', line: 2, detail: expect.stringContaining('no variable nmae') },
    ]);
    const [{ column }] = wrong(refused) as [{ column: number }];
    expect(column).toBeGreaterThan(1);
    const unclosed = await config('PUT', invitation, { subject: '{{ a | }}{% if %}', text: 'x' });
    expect(wrong(unclosed)).toMatchObject([{ pointer: '/subject', line: 1 }]);
    expect(wrong(await config('PUT', invitation, { subject: 'x' }))).toMatchObject([{ pointer: '/text' }]);
  });

  const bombs = {
    loop: '{% for i in (1..100000000) %}x{% endfor %}',
    'nested loops': '{% for i in (1..3000) %}{% for j in (1..3000) %}{{ i }}{% endfor %}{% endfor %}',
    append: '{% assign a = "xxxxxxxxxx" %}{% for i in (1..30) %}{% assign a = a | append: a %}{% endfor %}{{ a }}',
    nesting: `${'{% if true %}'.repeat(2900)}${'{% endif %}'.repeat(2900)}`.slice(0, limits.mailTemplateCharsMax),
    include: '{% include "/etc/passwd" %}',
    render: '{% render "x" %}',
    layout: '{% layout "x" %}',
    prototype: '{{ name.constructor }}',
    raw: '{{ name | raw }}',
    filter: '{{ name | shout }}',
  };
  test.each(Object.entries(bombs))(
    'that is a bomb is refused within bounds (mailRenderMsMax): %s',
    async (_name, text) => {
      const { config } = await setUp();
      const refused = await config('PUT', invitation, { subject: 'x', text });
      expect(refused.status).toBe(400);
      expect(refused.body.code).toBe('mail_template_invalid');
    },
  );

  test('has at most mailTemplateCharsMax, mailSubjectCharsMax and, rendered, mailRenderBytesMax; a tenant mailTemplatesMax', async () => {
    const { config, tenant } = await setUp();
    const put = async (text: string, subject = 'x') => (await config('PUT', invitation, { subject, text })).status;
    expect(await put('x'.repeat(limits.mailTemplateCharsMax))).toBe(200);
    expect(await put('x'.repeat(limits.mailTemplateCharsMax + 1))).toBe(400);
    expect(await put('x', 'x'.repeat(limits.mailSubjectCharsMax))).toBe(200);
    expect(await put('x', 'x'.repeat(limits.mailSubjectCharsMax + 1))).toBe(400);
    const times = (bytes: number) => `{% for i in (1..${bytes / 1024}) %}${'x'.repeat(1024)}{% endfor %}`;
    expect(await put(times(limits.mailRenderBytesMax))).toBe(200);
    expect(await put(`${times(limits.mailRenderBytesMax)}x`)).toBe(400);
    const row = `insert into accord.mail_template (tenant, name, language, spec, revision, owner, updated_by)
      select '${tenant}', 'n' || i, 'en', '{"subject":"x","text":"x"}', 1, '{"source":"api"}', 'x' from generate_series(2, ${limits.mailTemplatesMax}) i`;
    await asAdmin(server.db.adminUrl, row);
    expect(await put('y')).toBe(200);
    expect((await config('PUT', '/templates/more/en', { subject: 'x', text: 'x' })).body.code).toBe(
      'mail_templates_full',
    );
    const large = { subject: 'x', text: 'x', html: 'x'.repeat(limits.mailTemplateBodyBytesMax) };
    expect((await config('PUT', invitation, large)).status).toBe(413);
  });

  test('is previewed with samples, as it is given or stored', async () => {
    const { config } = await setUp();
    const given = await config('POST', `${invitation}/preview`, {
      subject: '{{ name }}',
      text: 'Hi {{ application }}',
      variables: { name: 'Ann' },
    });
    expect(given.body).toEqual({ subject: 'Ann', text: 'Hi Example', language: 'nl' });
    const sentence = { subject: 'x', text: '{{ name }} shares a {{ type }} with you. You {{ relationship }} it.' };
    const english = await config('POST', '/templates/relationship-invitation/en/preview', sentence);
    expect(english.body).toMatchObject({ text: 'Maria Jansen shares a car with you. You may drive it.' });
    const stored = await config('POST', `${invitation}/preview`, {});
    expect(stored.body).toMatchObject({
      language: 'nl',
      subject: expect.stringContaining('deelt iets met je'),
      html: expect.stringContaining('<table role="presentation"'),
    });
    expect((await config('POST', `${invitation}/preview`, { subject: 'x', text: '{{ x }}' })).status).toBe(400);
    for (const parts of [{}, { subject: 'x', html: '<a href="{{ actionUrl }}">x</a>' }]) {
      const script = await config('POST', `${invitation}/preview`, {
        ...parts,
        variables: { actionUrl: 'javascript:alert(1)' },
      });
      expect([script.status, script.body.errors]).toEqual([
        400,
        [{ pointer: '/variables/actionUrl', detail: 'Must be a URL with https or http.' }],
      ]);
    }
    expect((await config('POST', '/templates/nothing/en/preview', {})).status).toBe(404);
  });

  test('of a name of its own is not transactional: one click ends it (RFC 8058)', async () => {
    const { config, mail, tenant } = await setUp();
    await config('PUT', '/templates/news/en', {
      subject: 'News',
      text: '{% for c in cars %}{{ c.name }} {% endfor %}',
    });
    const message = {
      template: 'news',
      language: 'nl',
      to: to('Kim@example.org'),
      variables: { cars: [{ name: 'Fiat' }] },
    };
    expect(wrong(await mail('POST', '/messages', { ...message, variables: {} }))).toMatchObject([
      { pointer: '/variables/cars', detail: expect.stringContaining('cars') },
    ]);
    await mail('POST', '/messages', message);
    await sendAll();
    const { raw } = smtp.received.at(-1)!;
    expect(raw).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click');
    const path = /List-Unsubscribe: <http:\/\/accord.test(\S+)>/.exec(raw.replaceAll(/\r\n\s+/g, ' '))?.[1] as string;
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await server.app.inject({ url: path })).payload).toContain('<form method="post">');
    const forged = path.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    for (const url of [`${path}x`, forged])
      expect((await server.app.inject({ method: 'POST', url, payload: '', headers: form })).statusCode).toBe(404);
    const click = await server.app.inject({
      method: 'POST',
      url: path,
      payload: 'List-Unsubscribe=One-Click',
      headers: form,
    });
    expect(click.statusCode).toBe(200);
    const { body } = await mail('POST', '/messages', message);
    const { body: transactional } = await config('POST', '/test', {
      template: 'password-reset',
      to: to('kim@example.org'),
    });
    await sendAll();
    expect((await mail('GET', `/messages/${body.messageId}`)).body).toMatchObject({
      status: 'failed',
      reason: 'suppressed',
    });
    expect((await mail('GET', `/messages/${transactional.messageId}`)).body).toMatchObject({ status: 'sent' });
    const { suppressions } = (await config('GET', '/suppressions')).body;
    expect(suppressions).toMatchObject([{ reason: 'unsubscribed' }]);
    expect((await config('DELETE', `/suppressions/${suppressions[0]?.id}`)).status).toBe(204);
    expect((await config('DELETE', `/suppressions/${suppressions[0]?.id}`)).status).toBe(404);
    expect(tenant).toBeDefined();
  });
});

describe('a message', () => {
  const variables = { actionUrl: 'https://x.example/', consent: 'News', endsAt: '2027-01-01T00:00:00Z' };
  const message = { template: 'consent-renewal', language: 'en', to: to('bob@example.org'), variables };

  test('is sent once for one Idempotency-Key', async () => {
    const { mail, config } = await setUp();
    const key = { 'idempotency-key': 'a' };
    const first = await mail('POST', '/messages', message, key);
    const again = await mail('POST', '/messages', message, key);
    expect(again.body).toEqual(first.body);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect((await config('GET', '/messages')).body.messages).toHaveLength(1);
    expect((await mail('POST', '/messages', { ...message, language: 'nl' }, key)).status).toBe(422);
  });

  test.each([
    ['/to/value', { to: to('a@example.org, b@example.org') }],
    ['/to/value', { to: to('a@example.org\r\nBcc: b@example.org') }],
    ['/to/value', { to: to('Ann <a@example.org>') }],
    ['/to/value', { to: to('a@[127.0.0.1]') }],
    ['/template', { template: 'nothing' }],
    ['/variables/endsAt', { variables: { ...variables, endsAt: 'soon' } }],
    ['/variables/actionUrl', { variables: { ...variables, actionUrl: 'javascript:alert(1)' } }],
    ['/variables/consent', { variables: { ...variables, consent: undefined } }],
    ['/variables/more', { variables: { ...variables, more: 'x' } }],
    ['/variables', { variables: { ...variables, consent: 'x'.repeat(limits.mailVariablesBytesMax) } }],
  ])('that is wrong says so at %s', async (pointer, part) => {
    const { mail } = await setUp();
    const refused = await mail('POST', '/messages', { ...message, ...part });
    expect(refused.status).toBe(400);
    expect(wrong(refused)).toMatchObject([{ pointer }]);
  });

  test('has at most mailMessageBodyBytesMax, and needs the scope mail:send', async () => {
    const { mail, tenant } = await setUp();
    const large = { ...message, variables: { ...variables, consent: 'x'.repeat(limits.mailMessageBodyBytesMax) } };
    expect((await mail('POST', '/messages', large)).status).toBe(413);
    const token = await server.client(tenant, 'consents:write');
    const headers = { authorization: `Bearer ${token}` };
    const answer = await server.app.inject({
      method: 'POST',
      url: `/${tenant}/mail/messages`,
      headers,
      payload: message,
    });
    expect(answer.statusCode).toBe(403);
    const other = await setUp();
    const { body } = await mail('POST', '/messages', message);
    expect((await other.mail('GET', `/messages/${body.messageId}`)).status).toBe(404);
  });

  const report = (id: string, status = '5.1.1', action = 'failed') =>
    `Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.example\r\n\r\nFinal-Recipient: rfc822; bob@example.org\r\nAction: ${action}\r\nStatus: ${status}\r\n\r\n--b\r\nContent-Type: text/rfc822-headers\r\n\r\nX-Accord-Message: ${id}\r\n\r\n--b--\r\n`;

  test('that comes back has failed, and its address gets no more', async () => {
    const { mail, config } = await setUp();
    const { messageId } = (await mail('POST', '/messages', message)).body;
    await sendAll();
    const soft = await mail('POST', '/bounces', { report: report(messageId, '4.2.2', 'delayed') });
    expect(soft.body).toEqual({ messageId, suppressed: false });
    const hard = await mail('POST', '/bounces', { report: report(messageId) });
    expect(hard).toMatchObject({ status: 200, body: { messageId, suppressed: true } });
    expect((await mail('POST', '/bounces', { messageId, kind: 'hard' })).body).toEqual({ messageId, suppressed: true });
    expect((await mail('GET', `/messages/${messageId}`)).body).toMatchObject({ status: 'failed', reason: 'bounced' });
    expect((await config('GET', '/suppressions')).body.suppressions).toMatchObject([
      { reason: 'bounced', to: 'b***@example.org' },
    ]);
    const other = await setUp();
    expect((await other.mail('POST', '/bounces', { messageId, kind: 'hard' })).body.code).toBe(
      'mail_message_not_found',
    );
  });

  test('that comes back for another reason has failed, and its address still gets mail', async () => {
    const { mail, config } = await setUp();
    const { messageId } = (await mail('POST', '/messages', message)).body;
    await sendAll();
    const full = () => mail('POST', '/bounces', { report: report(messageId, '5.2.2') });
    expect([(await full()).body, (await full()).body]).toEqual(Array(2).fill({ messageId, suppressed: false }));
    expect((await mail('GET', `/messages/${messageId}`)).body).toMatchObject({ status: 'failed', reason: 'bounced' });
    expect((await config('GET', '/suppressions')).body.suppressions).toEqual([]);
  });

  test('is not told to have come back by what is no report, or longer than mailReportBytesMax', async () => {
    const { mail } = await setUp();
    for (const body of [
      {},
      { report: 'x' },
      { messageId: report('').slice(0, 5) },
      { report: 'x', kind: 'hard', messageId: '6f1c2f0e-7f5e-4c3a-9a53-5f4b1e0c2d11' },
    ])
      expect((await mail('POST', '/bounces', body)).status).toBe(400);
    expect((await mail('POST', '/bounces', { report: 'x'.repeat(limits.mailReportBytesMax) })).status).toBe(413);
  });
});

describe('the settings', () => {
  test('say the name and where answers go; the address is the installation’s', async () => {
    const { config, mail } = await setUp({ displayName: 'Cars' });
    expect((await config('GET', '/settings')).body).toEqual({
      via: 'installation',
      sender: 'no-reply@accord.example',
      managedBy: 'api',
    });
    expect((await config('PUT', '/settings', { from: 'Cars of Ann <ann@cars.example>' })).status).toBe(200);
    for (const from of ['a@x.org, b@x.org', 'Ann\r\nBcc: x <a@x.org>', 'a@x.org>'])
      expect((await config('PUT', '/settings', { from })).status, from).toBe(400);
    await config('POST', '/test', { template: 'consent-receipt', language: 'nl', to: to('ann@example.org') });
    await sendAll();
    const got = smtp.received.at(-1)!;
    expect(got.mail.from?.value).toEqual([{ name: 'Cars of Ann', address: 'no-reply@accord.example' }]);
    expect(got.mail.replyTo?.value).toMatchObject([{ address: 'ann@cars.example' }]);
    expect(got.mail.text).not.toContain('Antwoorden worden niet gelezen');
    expect(mail).toBeDefined();
  });

  test('of a Tenant with spec.mail are its own', async () => {
    const { config } = await setUp({ mail: { from: 'cars@cars.example', smtp: { host: 'localhost', port: 465 } } });
    expect((await config('GET', '/settings')).body).toMatchObject({
      from: 'cars@cars.example',
      via: 'tenant',
      sender: 'cars@cars.example',
    });
    expect((await config('PUT', '/settings', { from: 'x@x.example' })).body.code).toBe('mail_settings_in_manifest');
  });
});

test('two templates of one language in different case are one: the second is refused', async () => {
  const { config } = await setUp();
  const template = { subject: 'x', text: 'x' };
  expect((await config('PUT', '/templates/welcome/nl-BE', template)).status).toBe(200);
  const refused = await config('PUT', '/templates/welcome/nl-be', template);
  expect([refused.status, wrong(refused)]).toMatchObject([400, [{ pointer: '/language' }]]);
  expect((await config('PUT', '/templates/welcome/nl-BE', { ...template, subject: 'y' })).status).toBe(200);
});

test('a message without a language, or in one that nothing is in, is written by the tenant’s English template', async () => {
  const { config, mail } = await setUp();
  const template = { subject: 'A {{ type }} of {{ name }}', text: '{{ relationship }}: {{ actionUrl }}' };
  expect((await config('PUT', '/templates/relationship-invitation/en', template)).status).toBe(200);
  const type = [
    { language: 'nl', name: 'auto' },
    { language: 'en', name: 'car' },
  ];
  const variables = { actionUrl: 'https://x.example/', name: 'Ann', type, expiresAt: '2027-01-01T00:00:00Z' };
  const subjectIn = async (language: object) => {
    const message = { template: 'relationship-invitation', ...language, to: to('bob@example.org'), variables };
    expect((await mail('POST', '/messages', message)).status).toBe(202);
    await sendAll();
    return smtp.received.at(-1)?.mail.subject;
  };
  expect(await subjectIn({})).toBe('A car of Ann');
  expect(await subjectIn({ language: 'de' })).toBe('A car of Ann');
  // Dutch is built in, and nearer to the wish.
  expect(await subjectIn({ language: 'nl' })).toContain('Ann deelt iets met je');
  expect(smtp.received.at(-1)?.mail.text).toContain('Wat er gedeeld wordt: auto.');
  const wrongNames = { ...variables, type: [{ language: 'nl' }] };
  const message = { template: 'relationship-invitation', to: to('bob@example.org'), variables: wrongNames };
  expect(wrong(await mail('POST', '/messages', message))).toMatchObject([{ pointer: '/variables/type' }]);
});

test('languages: the tag, a less specific one, the tenant’s own', () => {
  expect(languageIn(['nl', 'nl-BE', 'fr'], 'nl-be-x', 'fr')).toBe('nl-BE');
  expect(languageIn(['nl', 'fr'], 'nl-NL', 'fr')).toBe('nl');
  expect(languageIn(['nl', 'fr'], 'de', 'fr')).toBe('fr');
  expect(languageIn(['nl'], 'de', 'fr')).toBeUndefined();
});

test('only a code that says that the address does not exist suppresses it', () => {
  const kindOf = (response: string, command = 'RCPT TO') =>
    failureOf({ command, response, responseCode: Number(response.slice(0, 3)), message: 'refused' }).kind;
  for (const code of ['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10'])
    expect([code, kindOf(`550 ${code} <bob@example.org> no`), kindOf(`550 ${code}`)]).toEqual([
      code,
      'unknown',
      'unknown',
    ]);
  expect(kindOf('550-5.1.1 The account does not exist.\n550 5.1.1 Try another one.')).toBe('unknown');
  const others = [
    '550 relay not permitted',
    '550 Sending rate exceeded',
    '550',
    '550 5.1.1x',
    '550 5.1.11 x',
    '550 see 5.1.1',
  ];
  for (const code of ['5.1.0', '5.1.8', '5.2.1', '5.2.2', '5.3.4', '5.4.1', '5.5.1', '5.7.1'])
    others.push(`550 ${code} no`);
  for (const response of others) expect([response, kindOf(response)]).toEqual([response, 'hard']);
  expect([kindOf('554 5.6.0 no', 'DATA'), kindOf('550 5.1.1 no', 'MAIL FROM'), kindOf('450 4.1.1 later')]).toEqual([
    'hard',
    'soft',
    'soft',
  ]);
});

test('what a mail server said is kept without addresses, at most mailAnswerCharsMax of it', () => {
  expect(answerOf('550 5.1.1 <bob@example.org>: no\r\n such user')).toBe('550 5.1.1 <***>: no such user');
  expect(answerOf('x'.repeat(limits.mailAnswerCharsMax + 1))).toHaveLength(limits.mailAnswerCharsMax);
});
