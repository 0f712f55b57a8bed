/** The guides of docs/ that a reader follows command by command, on an `accord start` of their own. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from './accord.ts';
import { guides, whyNot } from './commands.ts';
import { difference, Reader, stepsOf } from './guide.ts';
import type { Prepared } from './prepared.ts';

/** Where the guides put their data. The first makes it, as a newcomer does. */
const prepared: Record<string, Record<string, Prepared>> = {
  'docs/patient-portal.md': { 'clinic/data': 'empty' },
  'docs/sharing.md': { 'boats/data': 'empty' },
  'docs/members.md': { 'team/data': 'empty' },
  'docs/backup.md': { carshare: 'examples' },
};

describe.each(guides)('%s', (page) => {
  test('does what it shows, command by command', { timeout: 300_000 }, async () => {
    const steps = stepsOf(await readFile(join(root, page), 'utf8')).filter(
      (step) => step.does !== 'run' || whyNot(page, step.command) === undefined,
    );
    const started = steps.filter(({ does }) => does === 'start').length;
    const stopped = steps.filter((step) => step.does === 'await' && step.text.trim() === '^C').length;
    expect(started).toBe(stopped + 1);
    const reader = await Reader.sitDown({ npx: page === guides[0], prepared: prepared[page] ?? {} });
    try {
      for (const step of steps) await reader.follow(step);
    } finally {
      await reader.leave();
    }
  });
});

test('a page is compared with what its commands print', () => {
  const fence = '```';
  const page = `${fence}sh\necho a\n${fence}\n\ntext\n\n${fence}json\n{"a": 1}\n${fence}\n${fence}yaml\na: 1\n${fence}\n`;
  expect(stepsOf(page)).toEqual([
    { does: 'run', line: 1, command: 'echo a\n', shown: { as: 'json', text: '{"a": 1}\n' } },
  ]);
  expect(() => stepsOf(`${page}${fence}json\n{}\n${fence}\n`)).toThrow('line 13 shows the output of no command');
  const printed = { a: [1, { b: 'x-1' }], c: null };
  expect(difference({ a: [1, { b: 'x-…' }], c: null }, printed)).toBeUndefined();
  expect(difference({ a: [1, '…'], '…': '…' }, printed)).toBeUndefined();
  expect(difference({ a: '…', c: '…' }, printed)).toBeUndefined();
  expect(difference({ a: [1, { b: 'y-…' }], c: null }, printed)).toBe('/a/1/b is "x-1", not "y-…"');
  expect(difference({ a: [1], c: null }, printed)).toMatch('/a has 2 items');
  expect(difference({ a: '…' }, printed)).toBe('/c is not shown: null');
  expect(difference({ a: '…', c: null, d: '…' }, printed)).toBe('/d is not there');
});
