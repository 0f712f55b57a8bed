/** The container image's files: deploy/image-files, .dockerignore and Dockerfile say the same, and nothing that runs is missing. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const text = (file: string) => readFileSync(join(root, file), 'utf8');
const lines = (file: string) =>
  text(file)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));

const listed = lines('deploy/image-files');
const taken = listed.filter((line) => !line.startsWith('!'));
const left = listed.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
/** By a stage of the Dockerfile. */
const built = 'portal/dist';
const within = (file: string, places: string[]) => places.some((one) => file === one || file.startsWith(`${one}/`));
const inImage = (file: string) => within(file, taken) && !within(file, left);

test('.dockerignore is the lists turned round', () => {
  // What is built there needs its sources, and not what was built here.
  const turned = [...listed, ...lines('deploy/guide-files')].flatMap((line) => {
    if (line.startsWith('!')) return [line.slice(1)];
    return line === built ? ['!tsconfig.json', '!portal', built] : [`!${line}`];
  });
  expect(lines('.dockerignore')).toEqual(['*', ...turned]);
});

test('what is listed exists', () => {
  expect([...taken, ...left].filter((file) => file !== built && !existsSync(join(root, file)))).toEqual([]);
});

test('what the documentation is built from exists, and what its build writes is left out', () => {
  const guide = lines('deploy/guide-files');
  expect(guide.filter((line) => !line.startsWith('!') && !existsSync(join(root, line)))).toEqual([]);
  const ignored = lines('.gitignore').filter((line) => line.startsWith('docs/'));
  expect(ignored.length).toBeGreaterThan(1);
  expect(guide).toEqual(expect.arrayContaining(ignored.map((line) => `!${line.replace(/\/$/, '')}`)));
});

test('the command is a program', () => {
  expect(statSync(join(root, 'deploy/accord')).mode & 0o111).toBe(0o111);
  expect(text('deploy/accord')).toMatch(/^#!\/usr\/local\/bin\/node --disable-warning=ExperimentalWarning\n/);
});

describe('all that the command may load is in the image', () => {
  const seen = new Set<string>();
  const packages = new Set<string>();
  const follow = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    if (!/\.(ts|mjs)$|^deploy\/accord$/.test(file)) return;
    const code = text(file).replace(/^import type .*$/gm, '');
    for (const [, specifier = ''] of code.matchAll(/(?:^|[\s})(])(?:from|import)\s*\(?\s*'([@\w./:-]+)'/gm)) {
      if (specifier.startsWith('.')) follow(normalize(join(dirname(file), specifier)));
      else if (!specifier.startsWith('node:'))
        packages.add(
          specifier
            .split('/')
            .slice(0, specifier.startsWith('@') ? 2 : 1)
            .join('/'),
        );
    }
    // Workers, WebAssembly, and other files that are read.
    for (const [, path = ''] of code.matchAll(/new URL\('(\.[^']+)', import\.meta\.url\)/g)) {
      follow(relative(root, join(root, dirname(file), path)));
    }
  };
  follow('deploy/accord');

  test('files', () => {
    expect(seen.size).toBeGreaterThan(100);
    expect([...seen].filter((file) => !inImage(file.replace(/\/$/, '')))).toEqual([]);
  });

  test('packages', () => {
    const { dependencies } = JSON.parse(text('package.json')) as { dependencies: Record<string, string> };
    expect([...packages].filter((name) => !(name in dependencies))).toEqual([]);
  });
});

describe('Dockerfile', () => {
  const dockerfile = text('Dockerfile');
  const { version } = JSON.parse(text('package.json')) as { version: string };

  test('copies what is listed, by name: the folder that Docker sends has the sources of the documentation too', () => {
    const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
    const copied = [...last.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, names = '']) => names.split(' '));
    expect([...copied, built].toSorted()).toEqual(taken.toSorted());
    const stage = /AS guide\n([\s\S]*?)\nFROM /.exec(dockerfile)?.[1] ?? '';
    const tops = lines('deploy/guide-files')
      .filter((line) => !line.startsWith('!'))
      .map((line) => line.split('/')[0]);
    const copiedThere = [...stage.matchAll(/^COPY (.*) \S+$/gm)].flatMap(([, names = '']) => names.split(' '));
    expect(copiedThere.toSorted()).toEqual([...new Set([...tops, 'package.json'])].toSorted());
  });

  test('is of this version, as the chart is', () => {
    expect(dockerfile).toContain(`ARG VERSION=${version}\n`);
    expect(text('charts/accord/Chart.yaml')).toContain(`\nversion: ${version}\n`);
    expect(text('charts/accord/Chart.yaml')).toContain(`\nappVersion: "${version}"\n`);
  });

  test('builds the portal in a stage of its own, which leaves its packages and sources behind', () => {
    const [, stage = ''] = /\nFROM \$\{NODE\} AS portal\n([\s\S]*?)\nFROM /.exec(dockerfile) ?? [];
    expect(stage).toContain('RUN npm ci\n');
    expect(stage).toContain('RUN node portal/build.ts --brotli 11\n');
    const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
    expect(last).toContain(`COPY --from=portal /app/${built} ${built}\n`);
  });

  test('ends as nobody in particular, with the command as its entrypoint', () => {
    expect(dockerfile).toMatch(/\nUSER 65532:65532\n/);
    expect(dockerfile).toMatch(/\nENTRYPOINT \["\/app\/deploy\/accord"\]\n$/);
  });

  test('the health check says what the admin port says', () => {
    const check = (listen: string) => {
      const env = { ...process.env, ACCORD_ADMIN_LISTEN: listen };
      return () => execFileSync(process.execPath, [join(root, 'deploy/health.mjs')], { env });
    };
    expect(check('127.0.0.1:9')).toThrow(/Command failed/);
  });
});
