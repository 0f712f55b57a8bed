import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { html, isLink, linkOf } from '../../server/pages/html.ts';

describe('html', () => {
  test.each([
    ['an element', '<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
    ['the end of an attribute', '" autofocus onfocus="alert(1)', '&quot; autofocus onfocus=&quot;alert(1)'],
    ['a single quote', "' onfocus='x", '&#39; onfocus=&#39;x'],
    ['an entity', '&lt;b&gt;', '&amp;lt;b&amp;gt;'],
    ['the end of a text area', '</textarea><b>', '&lt;/textarea&gt;&lt;b&gt;'],
  ])('escapes %s', (_, value, escaped) => {
    expect(html`<p title="${value}">${value}</p>`.text).toBe(`<p title="${escaped}">${escaped}</p>`);
  });

  test('leaves no markup of a value, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const [, title, text] =
          /^<p title="([^"<>]*)">([^"<>]*)<\/p>$/.exec(html`<p title="${value}">${value}</p>`.text) ?? [];
        expect(title).toBe(text);
        const decoded = title
          ?.replace(/&quot;/g, '"')
          .replace(/&#39;/g, "'")
          .replace(/&lt;/g, '<')
          .replace(/&gt;/g, '>');
        expect(decoded?.replace(/&amp;/g, '&')).toBe(value);
      }),
    );
  });

  test('takes markup of its own, arrays, and leaves out what is not there', () => {
    const items = ['<a>', 'b'].map((item) => html`<li>${item}</li>`);
    expect(html`<ul>${items}</ul>${false}${null}${undefined}${0}`.text).toBe('<ul><li>&lt;a&gt;</li><li>b</li></ul>0');
  });

  test('does not take what only looks like its markup', () => {
    expect(html`${{ text: '<b>' } as unknown as string}`.text).toBe('[object Object]');
  });

  test.each([
    ['an attribute without quotes', () => html`<input value=${'a onfocus=alert(1)'}>`],
    ['a string as an attribute', () => html`<input ${'onfocus=alert(1)'}>`],
    ['a script', () => html`<script>let a = "${'</script>'}"</script>`],
    ['a style', () => html`<style>${'*{}'}</style>`],
    ['a comment', () => html`<!-- ${'--><script>'} -->`],
  ])('refuses a value in %s', (_, make) => {
    expect(make).toThrow(TypeError);
  });

  test('takes markup as an attribute', () => {
    expect(html`<input${html` value="${'"'}"`}${false}>`.text).toBe('<input value="&quot;">');
  });
});

describe('addresses', () => {
  const hostile = [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    'java\tscript:alert(1)',
    '\u0001javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'blob:https://a.example/x',
    'file:///etc/passwd',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    'evil.example',
    '',
  ];
  test.each(hostile)('%j leads nowhere', (url) => {
    expect(linkOf(url)).toBe('about:invalid');
    expect(html`<a href="${url}">x</a>`.text).toBe('<a href="about:invalid">x</a>');
    expect(html`<form action="${url}"></form>`.text).toContain('"about:invalid"');
    expect(html`<img src="${url}">`.text).toContain('"about:invalid"');
  });
  test.each([
    'https://a.example/b?c=d&e=f#g',
    'http://127.0.0.1:8080/',
    '/path',
    '?query',
    '#fragment',
    'mailto:help@a.example',
    'com.example.app:/callback',
  ])('%s is an address', (url) => {
    expect(isLink(url)).toBe(true);
    expect(html`<a href="${url}">x</a>`.text).toBe(`<a href="${url.replaceAll('&', '&amp;')}">x</a>`);
  });
});
