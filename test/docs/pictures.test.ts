/** Each file of docs/images is drawn by docs/drawings.ts or taken by the walk of a test, and pages show it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { drawings } from '../../docs/drawings.ts';
import { pictures } from '../helpers/pictures.ts';

const root = join(import.meta.dirname, '../..');
const text = (file: string) => readFileSync(join(root, file), 'utf8');
const taken = Object.keys(pictures);
const drawn = Object.keys(drawings).map((name) => `${name}.svg`);
const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((file) => `docs/${file}`)].filter((file) =>
  file.endsWith('.md'),
);

test('docs/images has the drawings and what walks take, and nothing else', () => {
  expect(readdirSync(join(root, 'docs/images')).toSorted()).toEqual([...drawn, ...taken].toSorted());
});

test('pages show each of them', () => {
  const shown = pages.flatMap((page) => [...text(page).matchAll(/!\[[^\]]*\]\((?:docs\/)?images\/([^)]+)\)/g)]);
  expect([...new Set(shown.map(([, name]) => name))].toSorted()).toEqual([...drawn, ...taken].toSorted());
});

test.each(Object.entries(pictures))('%s is taken by %s', (picture, walk) => {
  expect(text(walk)).toContain(`'${picture}'`);
});

test('CONTRIBUTING.md names each walk', () => {
  for (const walk of new Set(Object.values(pictures))) expect(text('CONTRIBUTING.md')).toContain(walk);
});

test('the README has one picture that stands, and one that moves', () => {
  expect([...text('README.md').matchAll(/docs\/images\/([^)]+)/g)].map(([, name]) => name)).toEqual([
    'portal-overview.png',
    'portal-policy.gif',
  ]);
});

test.each(taken.filter((name) => name.endsWith('.gif')))('%s is a moving picture of at most 300 KiB', (name) => {
  const gif = readFileSync(join(root, 'docs/images', name));
  expect(gif.subarray(0, 6).toString('latin1')).toBe('GIF89a');
  expect(gif.length).toBeLessThanOrEqual(300 * 1024);
});
