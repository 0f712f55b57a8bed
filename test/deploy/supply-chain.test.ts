/** What is installed is what was reviewed: packages and images are named by their digests. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '../..');
const text = (file: string) => readFileSync(join(root, file), 'utf8');

const locks = ['package-lock.json', 'docs/site/package-lock.json', 'docs/graphql-schema/package-lock.json'];

test.each(locks)('every package of %s has its sha512: if not, run node deploy/lock-integrity.mjs', (lock) => {
  const { packages } = JSON.parse(text(lock)) as { packages: Record<string, { integrity?: string }> };
  const installed = Object.entries(packages).filter(([path]) => path !== '');
  expect(installed.length).toBeGreaterThan(100);
  // 64 bytes are 86 characters and two of padding.
  const isPinned = (integrity = '') => /^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity);
  expect(installed.filter(([, { integrity }]) => !isPinned(integrity)).map(([path]) => path)).toEqual([]);
});

test.each(locks)('packages are versions, and npm runs no scripts of theirs: %s', (name) => {
  const folder = name.replace('package-lock.json', '');
  const { dependencies = {}, devDependencies = {} } = JSON.parse(text(`${folder}package.json`)) as Record<
    string,
    object
  >;
  const versions: string[] = Object.values({ ...dependencies, ...devDependencies });
  expect(versions.filter((version) => !/^(npm:[\w@/-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  expect(text(`${folder}.npmrc`)).toBe(text('.npmrc'));
});

test.each(locks)('no package comes from anywhere but the registry: %s', (name) => {
  const lock = text(name);
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
