/** HTML that others wrote: what is left of it, and what its words are. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { plainTextOf, removedFrom, sanitized } from '../../server/definitions/html.ts';

describe('what is removed is told', () => {
  test.each([
    [
      'elements and attributes, each once',
      '<p onclick=a() class=b>x<script>a()</script><i onclick=a()>y</i>',
      ['onclick', 'class', '<script>'],
    ],
    ['an address of another scheme', '<a href="java\tscript:a()">x</a>', ['href']],
    ['a comment', '<p>x<!-- y --></p>', ['<!-- -->']],
    ['nothing of what stays', '<P>x<BR><a href="https://a.example/?b=c&d">y</a>', []],
  ])('%s', (_what, written, removed) => {
    expect(removedFrom(written)).toEqual(removed);
  });

  test('up to consentRemovedMax of them, each of consentRemovedCharsMax', () => {
    const of = (count: number) => Array.from({ length: count }, (_, i) => `<p a${i}=b>x</p>`).join('');
    expect(removedFrom(of(limits.consentRemovedMax))).toHaveLength(limits.consentRemovedMax);
    expect(removedFrom(of(limits.consentRemovedMax + 1))).toHaveLength(limits.consentRemovedMax);
    const name = 'a'.repeat(limits.consentRemovedCharsMax);
    expect(removedFrom(`<p ${name}=b>x</p>`)).toEqual([name]);
    expect(removedFrom(`<p ${name}a=b>x</p>`)).toEqual([`${name.slice(1)}…`]);
  });
});

describe('of HTML is left', () => {
  test('what shows words', () => {
    const kept =
      '<h1 lang="de">Titel</h1><p dir="rtl">a <a href="https://a.example/?b=c&amp;d#e">b</a> <strong>c</strong><br />d</p><ol start="3"><li value="4">e</li></ol><table><tr><th scope="row" colspan="2">f</th></tr></table>';
    expect(sanitized(kept)).toBe(kept);
    expect(removedFrom(kept)).toEqual([]);
  });

  test.each([
    ['a script', '<p>a</p><script>alert(1)</script>', '<p>a</p>'],
    ['a script in odd letters', '<p>a</p><ScRiPt/x>alert(1)</sCrIpT >', '<p>a</p>'],
    ['a script in a script', '<p>a</p><scr<script>ipt>alert(1)</scr</script>ipt>', /^<p>a<\/p>[^<]*$/],
    ['an event handler', '<p onclick="a()" ONLOAD=b()>a</p>', '<p>a</p>'],
    ['an event handler behind a slash', '<p/onmouseover=a()>a</p>', '<p>a</p>'],
    ['a javascript: url', '<a href="javascript:a()">a</a>', '<a>a</a>'],
    ['one in other words', '<a href=" &#106;ava\tscript&colon;a()">a</a>', '<a>a</a>'],
    ['a data: url', '<a href="data:text/html,<script>a()</script>">a</a>', '<a>a</a>'],
    ['a vbscript: url', '<a href="vbscript:a">a</a>', '<a>a</a>'],
    ['a url of another host without a scheme', '<a href="//a.example">a</a>', '<a>a</a>'],
    ['svg that acts', '<p>a</p><svg onload=a()><script>b()</script><a href="javascript:c()">d</a></svg>', '<p>a</p>'],
    ['math that hides a script', '<p>a</p><math><mtext><table><mglyph><style><img src=x onerror=a()>', '<p>a</p>'],
    ['an image', '<p>a<img src="https://a.example/pixel" onerror="a()"></p>', '<p>a</p>'],
    ['a style', '<p style="position:fixed;background:url(//a.example)" class="b" id="c">a</p>', '<p>a</p>'],
    [
      'a style sheet',
      '<style>@import "//a.example";p{display:none}</style><link rel=stylesheet href=b><p>a</p>',
      '<p>a</p>',
    ],
    ['a refresh', '<meta http-equiv="refresh" content="0;url=//a.example"><p>a</p>', '<p>a</p>'],
    ['a base', '<base href="//a.example"><p>a</p>', '<p>a</p>'],
    [
      'a form',
      '<form action="//a.example"><input name=b autofocus onfocus=a()><button formaction=c>a</button></form><p>d</p>',
      'a<p>d</p>',
    ],
    [
      'a frame',
      '<iframe srcdoc="<script>a()</script>">b</iframe><object data=c>d</object><embed src=e><p>a</p>',
      '<p>a</p>',
    ],
    ['a comment that a browser may end elsewhere', '<p>a</p><!--><img src=x onerror=a()>-->', /^<p>a<\/p>[^<]*$/],
    [
      'an attribute that ends an element',
      '<p title="</p><script>a()</script>">a</p>',
      '<p title="&lt;/p&gt;&lt;script&gt;a()&lt;/script&gt;">a</p>',
    ],
    [
      'a template and noscript',
      '<template><script>a()</script></template><noscript><p title="</noscript><img src=x onerror=a()>">b</noscript><p>a</p>',
      /^(?:"&gt;)?(?:b)?<p>a<\/p>$/,
    ],
    [
      'the head of a page',
      '<!doctype html><html><head><title>t</title></head><body bgcolor=red>a<br></body></html>',
      'a<br />',
    ],
  ])('nothing of %s', (_what, html, left) => {
    const found = sanitized(html);
    expect(found).toEqual(typeof left === 'string' ? left : expect.stringMatching(left));
    expect(sanitized(found)).toBe(found);
  });

  test('all words, and of elements that are nested too deeply no more', () => {
    const nested = (depth: number) => `${'<div>'.repeat(depth)}deep${'</div>'.repeat(depth)}`;
    const most = limits.consentNestingDepthMax;
    expect(sanitized(nested(most))).toBe(nested(most));
    expect(sanitized(nested(most + 1))).toBe(nested(most));
    expect(plainTextOf(sanitized(nested(10_000)))).toBe('deep\n');
  });

  test('less, of which is said what goes', () => {
    const html = '<p onclick="a()" class="b">a</p><script>c()</script><IMG src=x>';
    expect(removedFrom(html)).toEqual(['onclick', 'class', '<script>', '<img>']);
  });
});

test('plain text has the words of the HTML', () => {
  const html =
    '<h1>Trip data</h1><p>We record &lt;the position&gt; &amp; more, <a href="https://a.example/x">here</a>.</p><ul><li>one</li><li>two</li></ul><table><tr><th>a</th><td>b</td></tr></table>';
  expect(plainTextOf(html)).toBe(
    'Trip data\n\nWe record <the position> & more, here [https://a.example/x].\n\n * one\n * two\n\na   b\n',
  );
});
