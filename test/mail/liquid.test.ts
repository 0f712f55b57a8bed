/** Templates that would take the thread of all tenants: bounded in what one of their filters and comparisons may begin. */
import { expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { renderLiquid, variablesOf } from '../../server/mail/liquid.ts';

const longText = (seed: string, doublings: number) =>
  `{% assign a = "${seed}" %}${'{% assign a = a | append: a %}'.repeat(doublings)}`;
const list = `${longText('b,', 11)}{% assign a = a | split: "," %}`;

// Each took seconds, in which nobody of any tenant was answered.
const square = (text: string) => `{% assign s = "${text}" %}${'{% assign s = s | append: s %}'.repeat(2)}`;
test.each([
  ['filters in a row', `${list}{{ a ${'| where: "size" '.repeat(2500)} | size }}`],
  ['the format of a date', `${square('<%a'.repeat(5000))}{{ "2026-01-01" | date: s | size }}`],
  ['a slice', `${square('1'.repeat(11_000))}{{ s | slice: s }}`],
])('%s that takes the square of a length ends in time', (_, source) => {
  renderLiquid('text', 'x', {}); // loads the library
  const began = process.threadCpuUsage();
  expect(() => renderLiquid('text', source, {})).toThrow(`it takes more than ${limits.mailRenderMsMax} ms`);
  const { user, system } = process.threadCpuUsage(began);
  expect((user + system) / 1000).toBeLessThan(20 * limits.mailRenderMsMax);
});

test('reading the variables ends in time', () => {
  const nested = `{{ a${'[a'.repeat(200)}${']'.repeat(200)} }}`.repeat(80);
  expect(() => variablesOf('text', nested)).toThrow(`it takes more than ${limits.mailRenderMsMax} ms`);
});

test.each([
  ['a text', `${longText('x', 17)}{{ a | upcase }}`, `a text has more than ${limits.mailRenderBytesMax} characters`],
  [
    'a list',
    `${longText('b,', 14)}{{ a | split: "," | sort | size }}`,
    `a list has more than ${limits.mailFilterItemsMax} items`,
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
  const most = '{{ a }}'.repeat(limits.mailTemplateTagsMax);
  expect(renderLiquid('text', most, { a: '-' })).toBe('-'.repeat(limits.mailTemplateTagsMax));
  const refused = `more than ${limits.mailTemplateTagsMax} tags and outputs`;
  expect(() => renderLiquid('text', `${most}{{ c }}`, {})).toThrow(refused);
  expect(() => variablesOf('text', `${most}{{ c }}`)).toThrow(refused);
  // Reading the variables of so many may take more than mailRenderMsMax.
  expect(variablesOf('text', '{{ a.b }}'.repeat(100)).map((one) => one.name)).toEqual(['a']);
});
