/** Each command that README.md and docs/ show is run, or is listed with the reason why it is not (commands.ts). */
import { cpSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { closeAtEnd } from '../helpers/closing.ts';
import { root } from './accord.ts';
import { blocksOf, elsewhere, guides, unfencedOf, whyNot } from './commands.ts';
import { Reader } from './guide.ts';

const text = (page: string) => readFileSync(join(root, page), 'utf8');
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const isCommand = ({ language }: { language: string }) => language.split(' ')[0] === 'sh';
const toRun = pages
  .filter((page) => !guides.includes(page))
  .map((page) => ({ page, blocks: blocksOf(text(page)).filter((one) => isCommand(one) && !whyNot(page, one.text)) }))
  .filter(({ blocks }) => blocks.length > 0);

test('code of pages is in fences that say its language, so that no command is overlooked', () => {
  const found = pages.flatMap((page) => [
    ...unfencedOf(text(page)).map((line) => `${page}:${line} is indented`),
    ...blocksOf(text(page)).flatMap(({ language, line }) => (language === '' ? `${page}:${line}: no language` : [])),
  ]);
  expect(found).toEqual([]);
  expect(unfencedOf('a\n\n    npm start\n\n- b\n\n  ```sh\n\n    c\n  ```\n')).toEqual([3]);
});

test('what is listed as not run is there', () => {
  const unused = Object.entries(elsewhere).flatMap(([page, blocks]) =>
    Object.keys(blocks)
      .filter((beginning) => !blocksOf(text(page)).some((one) => isCommand(one) && one.text.startsWith(beginning)))
      .map((beginning) => `${page}: ${beginning}`),
  );
  expect(unused).toEqual([]);
});

describe('on the examples', () => {
  let reader: Reader;
  beforeAll(async () => {
    reader = await Reader.sitDown({
      furnish(place) {
        // The examples and the data are the reader's own, and `accord` is a command.
        for (const name of ['examples', 'charts', 'crds', 'deploy'])
          cpSync(join(root, name), join(place, name), { recursive: true });
        for (const name of ['package.json', 'node_modules', 'bin']) symlinkSync(join(root, name), join(place, name));
      },
      prepared: { '.accord': 'examples' },
    });
    await reader.follow({ does: 'start', line: 0, command: 'accord start' });
    const text = 'When you change a manifest, decisions follow. Ctrl-C stops everything.';
    await reader.follow({ does: 'await', line: 0, text });
  });
  closeAtEnd(() => reader?.leave());

  test.each(toRun)('$page', async ({ page, blocks }) => {
    for (const { line, text } of blocks) {
      const { code, out, error } = await reader.run(text);
      expect(code, `${page}:${line} printed\n${out}\n${error}`).toBe('0');
    }
  });
});
