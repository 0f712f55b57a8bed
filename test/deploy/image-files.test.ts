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

test('.dockerignore is the list turned round', () => {
  // What is built there needs its sources, and not what was built here.
  const turned = listed.flatMap((line) => {
    if (line.startsWith('!')) return [line.slice(1)];
    return line === built ? ['!tsconfig.json', '!portal', built] : [`!${line}`];
  });
  expect(lines('.dockerignore')).toEqual(['*', ...turned]);
});

test('what is listed exists', () => {
  expect([...taken, ...left].filter((file) => file !== built && !existsSync(join(root, file)))).toEqual([]);
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
      follow(relative(root, new URL(path, `file://${join(root, file)}`).pathname));
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

  test('is of this version, as the chart is', () => {
    expect(dockerfile).toContain(`ARG VERSION=${version}\n`);
    expect(text('charts/accord/Chart.yaml')).toContain(`\nversion: ${version}\n`);
    expect(text('charts/accord/Chart.yaml')).toContain(`\nappVersion: "${version}"\n`);
  });

  test('builds the portal in a stage of its own, which leaves its packages and sources behind', () => {
    const [, stage = ''] = /\nFROM \$\{NODE\} AS files\n([\s\S]*?)\nFROM /.exec(dockerfile) ?? [];
    expect(stage).toContain('RUN npm ci\n');
    expect(stage).toContain('RUN node portal/build.ts --brotli 11 ');
    expect(stage).toContain('rm -r node_modules tsconfig.json\n');
    expect(stage).toContain('find portal -mindepth 1 -maxdepth 1 ! -name dist -exec rm -r {} +');
    expect(dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))).not.toMatch(/^COPY \. /m);
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
