/**
 * `npm run docs`: builds docs/ as a site into docs/site/dist and serves it as a server does. `-- --build` only builds,
 * `-- --listen HOST:PORT` serves elsewhere. VitePress and its packages are installed here, once: no server needs them.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { built, stage } from './pages.mjs';
import { digestFile, digestOfSources } from './sources.mjs';

const here = import.meta.dirname;

/** As bin/run.mjs does for the packages of the repository. */
export function installMissing() {
  const lock = createHash('sha256')
    .update(readFileSync(join(here, 'package-lock.json')))
    .digest('hex');
  const stamp = join(here, 'node_modules/.accord-lock');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  process.stderr.write('Installing what builds the documentation (npm ci in docs/site)…\n');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const { status } = spawnSync(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: here,
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw new Error('npm ci failed in docs/site');
  writeFileSync(stamp, lock);
}

/** Beside each file that gains by it: servers compress nothing. */
function compress() {
  for (const file of readdirSync(built, { recursive: true })) {
    if (!/\.(html|js|css|svg|json|txt|graphql)$/.test(file)) continue;
    const bytes = readFileSync(join(built, file));
    if (bytes.length < 1024) continue;
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(join(built, `${file}.br`), brotliCompressSync(bytes, { params }));
    writeFileSync(join(built, `${file}.gz`), gzipSync(bytes, { level: 9 }));
  }
}

async function build() {
  installMissing();
  stage();
  rmSync(built, { recursive: true, force: true });
  const { build: run } = await import('vitepress');
  await run(here);
  rmSync(join(built, 'hashmap.json'), { force: true });
  compress();
  writeFileSync(digestFile, digestOfSources());
}

const { values } = parseArgs({
  options: { build: { type: 'boolean' }, listen: { type: 'string', default: '127.0.0.1:8090' } },
});
await build();
if (values.build) process.stdout.write('The site is in docs/site/dist.\n');
else {
  const { serve } = await import('./serve.ts');
  const { address } = await serve(values.listen);
  process.stdout.write(`The documentation is at ${address}. Ctrl-C stops it.\n`);
}
