/** Pages, decisions and the configuration of editors, CI and updates are well-formed, and what they name exists. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { checkManifest } from '../crds/index.ts';
import { scopes } from '../crds/scopes.ts';
import { failures } from '../server/policies/index.ts';
import { allProblems } from '../server/room/catalogue.ts';
import { rooms } from '../server/rooms.ts';

const root = join(import.meta.dirname, '..');
const text = (file: string) => readFileSync(join(root, file), 'utf8');
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .trim()
  .split('\n')
  .filter((file) => existsSync(join(root, file)));
const pages = files.filter((file) => file.endsWith('.md'));

/** A page without its code, where brackets mean something else. */
const prose = (page: string) =>
  text(page)
    .replace(/^```[\s\S]*?^```$/gm, '')
    .replace(/^ {4}.*$/gm, '')
    .replace(/`[^`\n]*`/g, 'code');

/** The anchors of a page's headings, as GitHub makes them. */
const anchorsOf = (page: string) =>
  [...text(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );

test.each(pages)('links of %s lead somewhere', (page) => {
  const targets = [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  const broken = targets
    .filter((target) => !/^https?:/.test(target))
    .filter((target) => {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? page : join(dirname(page), path);
      if (!existsSync(join(root, file))) return true;
      return anchor !== undefined && !anchorsOf(file).includes(anchor);
    });
  expect(broken).toEqual([]);
});

describe('server/DECISIONS.md', () => {
  const page = text('server/DECISIONS.md');
  const [head = '', ...sections] = page.split(/^## (?=(?!Index).)/m);

  test('each decision has the next number and a date, and the dates go forward', () => {
    expect(sections.length).toBeGreaterThan(100);
    const titles = sections.map((section) => section.split('\n')[0] ?? '');
    expect(titles.map((title) => Number.parseInt(title, 10))).toEqual(sections.map((_, index) => index + 1));
    const dates = sections.map((section) => /^[^\n]+\n\n(\d{4}-\d{2}-\d{2})(?:$|\. )/m.exec(section)?.[1] ?? '');
    expect(titles.filter((_, index) => dates[index] === '')).toEqual([]);
    expect(dates.toSorted()).toEqual(dates);
  });

  test('the index names each decision once', () => {
    const named = [...head.matchAll(/^\| [^|]+ \| ([\d, ]+) \|$/gm)].flatMap(([, row = '']) =>
      row.split(', ').map(Number),
    );
    expect(named.toSorted((a, b) => a - b)).toEqual(sections.map((_, index) => index + 1));
  });

  test('a decision is about ten lines long at most', () => {
    const long = sections.filter((section) => section.trim().split('\n').length > 14);
    expect(long.map((section) => section.split('\n')[0])).toEqual([]);
  });
});

describe('docs/reasons.md', () => {
  const [, reasons = '', errors = ''] =
    /^## Reasons of a decision$([\s\S]*?)(^## [\s\S]*)/m.exec(text('docs/reasons.md')) ?? [];
  /** The codes of the first cells of tables. */
  const codesOf = (part: string) =>
    [...part.matchAll(/^\| (`[^|]+`) \|/gm)]
      .flatMap(([, cell = '']) => cell.replaceAll('`', '').split(', '))
      .toSorted();

  test('says what to do about each reason, and about no other', () => {
    expect(codesOf(reasons)).toEqual(Object.keys(failures).toSorted());
  });

  test('says what to do about each error, and about no other', () => {
    expect(codesOf(errors)).toEqual([...allProblems(rooms).keys()].toSorted());
  });
});

test('docs/README.md leads to each page of docs/', () => {
  const named = [...text('docs/README.md').matchAll(/\]\(([\w-]+\.md)/g)].map(([, page]) => `docs/${page}`);
  const inDocs = pages.filter((page) => /^docs\/[\w-]+\.md$/.test(page) && page !== 'docs/README.md');
  expect(inDocs.filter((page) => !named.includes(page))).toEqual([]);
});

test('docs/security.md names a test for each threat, and each is there', () => {
  const table = /^\| Threat \|[\s\S]*?\n\n/m.exec(text('docs/security.md'))?.[0] ?? '';
  const rows = table.trim().split('\n').slice(2);
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.filter((row) => !/\| (`test\/[\w/.-]+\.test\.ts`(, )?)+ \|$/.test(row))).toEqual([]);
  const named = [...table.matchAll(/`(test\/[^`]+)`/g)].map(([, file = '']) => file);
  expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

test('docs/tokens.md says of each scope what it allows', () => {
  const table = /^## Scopes$([\s\S]*?)^## /m.exec(text('docs/tokens.md'))?.[1] ?? '';
  const named = [...table.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, cell = '']) =>
    cell.replaceAll('`', '').split(', '),
  );
  expect(named.toSorted()).toEqual([...scopes].toSorted());
});

test('manifests that pages show are valid', () => {
  const shown = pages.flatMap((page) =>
    [...text(page).matchAll(/^```(?:yaml|sh)\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
      (/^cat > .*<<'EOF'\n([\s\S]*?)^EOF$/m.exec(block)?.[1] ?? block)
        .split(/^---$/m)
        .filter((one) => /^apiVersion: accord\.dev\//m.test(one))
        .map((one) => ({ page, checked: checkManifest(parse(one)), one })),
    ),
  );
  expect(shown.length).toBeGreaterThan(10);
  expect(shown.filter(({ checked }) => !checked.ok)).toEqual([]);
});

test('the workflow of CI runs .ci/run, and its actions are pinned by commit', () => {
  const { jobs } = parse(text('.github/workflows/ci.yml')) as {
    jobs: Record<string, { steps: { uses?: string; run?: string }[] }>;
  };
  const steps = Object.values(jobs).flatMap((job) => job.steps);
  expect(steps.filter((step) => step.run?.includes('bash .ci/run'))).toHaveLength(1);
  const used = steps.flatMap((step) => step.uses ?? []);
  expect(used.filter((action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/.test(action))).toEqual([]);
  // Read as text: the version is a comment, which tells people and Renovate what the commit is.
  expect(text('.github/workflows/ci.yml').match(/uses: \S+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/gm)).toHaveLength(
    used.length,
  );
});

test('the configuration of updates names files that exist', () => {
  const renovate = JSON.parse(text('renovate.json')) as {
    packageRules: { matchFileNames?: string[] }[];
    customManagers: { managerFilePatterns: string[]; matchStrings: string[] }[];
  };
  for (const file of renovate.packageRules.flatMap((rule) => rule.matchFileNames ?? [])) expect(files).toContain(file);
  for (const { managerFilePatterns, matchStrings } of renovate.customManagers) {
    const patterns = managerFilePatterns.map((pattern) => new RegExp(pattern.slice(1, -1)));
    const matched = files.filter((file) => patterns.some((pattern) => pattern.test(file)));
    expect(matched).not.toEqual([]);
    for (const file of matched) {
      const found = matchStrings.flatMap((one) => [...text(file).matchAll(new RegExp(one, 'g'))]);
      expect(found).toHaveLength(text(file).match(/^[A-Z]+=/gm)?.length ?? 0);
    }
  }
});

test('editors write as the formatter does', () => {
  const { formatter } = JSON.parse(text('biome.json')) as {
    formatter: { indentStyle: string; indentWidth: number; lineWidth: number };
  };
  const all = /^\[\*\]\n((?:\w+ = .*\n)+)/m.exec(text('.editorconfig'))?.[1] ?? '';
  const settings = Object.fromEntries(
    all
      .trim()
      .split('\n')
      .map((line) => line.split(' = ')),
  );
  expect(settings).toMatchObject({
    indent_style: formatter.indentStyle,
    indent_size: String(formatter.indentWidth),
    max_line_length: String(formatter.lineWidth),
    end_of_line: 'lf',
    insert_final_newline: 'true',
  });
});

test('no file ends without a newline or has white space at the end of a line, as .editorconfig says', () => {
  const written = files.filter((file) => /\.(ts|mjs|md|ya?ml|json|sh|sql|go|txt)$|^\.\w+$/.test(file));
  expect(written.filter((file) => !/\n$/.test(text(file)) || /[ \t]$/m.test(text(file)))).toEqual([]);
});
