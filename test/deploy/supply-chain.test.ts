/** What is installed is what was reviewed: packages and images are named by their digests. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '../..');
const text = (file: string) => readFileSync(join(root, file), 'utf8');

test('every package of package-lock.json has its sha512: if not, run node deploy/lock-integrity.mjs', () => {
  const { packages } = JSON.parse(text('package-lock.json')) as { packages: Record<string, { integrity?: string }> };
  const installed = Object.entries(packages).filter(([path]) => path !== '');
  expect(installed.length).toBeGreaterThan(100);
  // 64 bytes are 86 characters and two of padding.
  const isPinned = (integrity = '') => /^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity);
  expect(installed.filter(([, { integrity }]) => !isPinned(integrity)).map(([path]) => path)).toEqual([]);
});

test('no package comes from anywhere but the registry', () => {
  const lock = text('package-lock.json');
  expect(lock.match(/"resolved": "(?!https:)[^"]*"/g) ?? []).toEqual([]);
  expect(lock).not.toMatch(/git\+|github:/);
});

test('images are pinned by digest', () => {
  const froms = [...text('Dockerfile').matchAll(/^ARG (?:NODE|BASE)=(.*)$/gm)].map(([, image]) => image);
  expect(froms).toHaveLength(2);
  for (const image of froms) expect(image).toMatch(/^[a-z0-9./-]+:[a-z0-9.-]+@sha256:[0-9a-f]{64}$/);
  const { postgresql } = parse(text('charts/accord/values.yaml')) as { postgresql: { image: { tag: string } } };
  expect(postgresql.image.tag).toMatch(/^18-bookworm@sha256:[0-9a-f]{64}$/);
});
