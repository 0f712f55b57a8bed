/** Templates that would take the thread of all tenants: bounded in what one of their filters and comparisons may begin. */
import { expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { renderLiquid, variablesOf } from '../../server/mail/liquid.ts';

const longText = (seed: string, doublings: number) =>
  `{% assign a = "${seed}" %}${'{% assign a = a | append: a %}'.repeat(doublings)}`;
const list = `${longText('b,', 11)}{% assign a = a | split: "," %}`;

test('filters in a row end with mailRenderMsMax', () => {
  const began = performance.now();
  const endless = `${list}{{ a ${'| where: "size" '.repeat(2500)} | size }}`;
  expect(() => renderLiquid('text', endless, {})).toThrow('template render limit exceeded');
  expect(performance.now() - began).toBeLessThan(300 * limits.mailRenderMsMax);
});

test.each([
  ['a text', `${longText('x', 17)}{{ a | upcase }}`, `a text has more than ${limits.mailRenderBytesMax} characters`],
  [
    'a list',
    `${longText('b,', 14)}{{ a | split: "," | sort | size }}`,
    `a list has more than ${limits.mailFilterItemsMax} items`,
  ],
  [
    'what contains searches for',
    `${longText('ab', 9)}{% if a contains a %}{% endif %}`,
    `more than ${limits.mailSearchedCharsMax} characters`,
  ],
  [
    'what replace searches for',
    `${longText('ab', 9)}{{ a | replace: a, "" }}`,
    `more than ${limits.mailSearchedCharsMax} characters`,
  ],
])('%s is bounded', (_, source, message) => {
  expect(() => renderLiquid('text', source, {})).toThrow(message);
});

test('filters and comparisons do what they did', () => {
  const source =
    '{{ name | upcase | replace: "A", "b" }}{% if name contains "a" %} yes{% endif %}{{ list | sort | join }}';
  expect(renderLiquid('text', source, { name: 'anna', list: ['b', 'a'] })).toBe('bNNb yesa b');
  expect(() => renderLiquid('html', '{{ name | raw }}', { name: 'x' })).toThrow('the filter raw is not available');
});

test('one part has at most mailTemplateTagsMax tags and outputs', () => {
  const most = '{{ a.b }}'.repeat(limits.mailTemplateTagsMax);
  expect(variablesOf('text', most).map((one) => one.name)).toEqual(['a']);
  expect(() => variablesOf('text', `${most}{{ c }}`)).toThrow(
    `more than ${limits.mailTemplateTagsMax} tags and outputs`,
  );
});
