// What the npm scripts run: installs what is missing (once, when package-lock.json changed), then the tool with Node 24.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runChild } from './child.mjs';
import { findNode, heapFlags, root } from './node24.mjs';

const scripts = {
  start: [[...heapFlags, 'cli/main.ts', 'start']],
  test: [['test/run.ts']],
  'test:unit': [['test/run.ts', '--project', 'unit']],
  // Whoever names a commit or a branch gets what changed since then.
  'test:changed': [['test/run.ts', '--passWithNoTests', '--changed']],
  'test:coverage': [['test/run.ts', '--coverage']],
  'test:mutants': [['test/mutants/run.ts']],
  'test:kubernetes': [['test/run.ts', '--project', 'kubernetes']],
  generate: [
    ['crds/generate.ts'],
    ['server/accounts/weak-generate.ts'],
    ['docs/generate.ts'],
    ['packages/client/generate.ts'],
  ],
  check: [
    ['crds/generate.ts', '--check'],
    ['server/accounts/weak-generate.ts', '--check'],
    ['docs/generate.ts', '--check'],
    ['packages/client/generate.ts', '--check'],
  ],
  types: [
    ['node_modules/typescript/bin/tsc', '-p', '.'],
    ['node_modules/typescript/bin/tsc', '-p', 'packages/client', '--noEmit'],
    ['node_modules/typescript/bin/tsc', '-p', 'portal'],
  ],
  docs: [['docs/site/build.mjs']],
  'build:client': [['node_modules/typescript/bin/tsc', '-p', 'packages/client']],
  'build:portal': [['portal/build.ts']],
  // The client is built first, as a package is before it is installed.
  example: [['node_modules/typescript/bin/tsc', '-p', 'packages/client'], ['examples/app/run.ts']],
  lint: [['node_modules/@biomejs/biome/bin/biome', 'check', '.']],
  format: [['node_modules/@biomejs/biome/bin/biome', 'check', '--write', '.']],
};

function installMissing() {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  const stamp = join(root, 'node_modules', '.accord-lock');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  console.error('Installing what is missing (npm ci), which takes about a minute…');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const { status } = spawnSync(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) {
    console.error('npm ci failed; nothing runs without its packages.');
    process.exit(status ?? 1);
  }
  writeFileSync(stamp, lock);
}

async function run(node, args) {
  // What V8 compiled is kept between runs: warm starts take a third less (bench/start.ts).
  const env = { NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'accord-compiled'), ...process.env };
  const code = await runChild(node, ['--disable-warning=ExperimentalWarning', ...args], { cwd: root, env });
  if (code !== 0) process.exit(code);
}

const [name, ...rest] = process.argv.slice(2);
const steps = scripts[name];
if (steps === undefined) {
  console.error(`There is no script ${name}; there are ${Object.keys(scripts).join(', ')}.`);
  process.exit(2);
}
installMissing();
for (const [index, step] of steps.entries())
  await run(findNode(), index === steps.length - 1 ? [...step, ...rest] : step);
