/**
 * Builds the web application into portal/dist, in place of what is there: names of assets tell what is in them, so new ones are
 * put beside the old, the document follows, and the digest comes last. A server always has a whole build, two programs that
 * build at the same time do each other no harm, and a page that is open finds its assets for a day.
 * usage: build.ts [--brotli QUALITY] [--to DIRECTORY]
 */
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { build } from 'vite';
import { DIGEST_FILE, portalDigest, portalDirectory } from '../cli/portal-digest.ts';

const KEPT_MS = 24 * 60 * 60 * 1000;
const COMPRESSED = /\.(js|css|svg|json)$/;

const { values } = parseArgs({
  options: { brotli: { type: 'string', default: '5' }, to: { type: 'string', default: join(portalDirectory, 'dist') } },
});
const dist = values.to;
const compress = promisify(brotliCompress);

/** Whole or not at all. */
async function put(file: string, content: Buffer | string): Promise<void> {
  const draft = `${file}.${process.pid}.tmp`;
  await writeFile(draft, content);
  await rename(draft, file);
}

async function putAsset(name: string, content: Buffer): Promise<void> {
  const file = join(dist, 'assets', name);
  await put(file, content);
  if (!COMPRESSED.test(name)) return;
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: Number(values.brotli),
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  };
  await put(`${file}.br`, await compress(content, { params }));
}

/** Removes what no page that is still open can ask for. */
async function sweep(current: ReadonlySet<string>): Promise<void> {
  for (const name of await readdir(join(dist, 'assets'))) {
    if (current.has(name.replace(/\.br$/, ''))) continue;
    const file = join(dist, 'assets', name);
    // Somebody else may remove it, too.
    const written = await stat(file).then(
      ({ mtimeMs }) => mtimeMs,
      () => Number.POSITIVE_INFINITY,
    );
    if (written < Date.now() - KEPT_MS) await rm(file, { force: true });
  }
}

const draft = await mkdtemp(join(tmpdir(), 'accord-portal-'));
try {
  // First: that it cannot be written is said at once.
  await mkdir(join(dist, 'assets'), { recursive: true });
  await put(join(dist, 'assets', '.writable'), '');
  await rm(join(dist, 'assets', '.writable'), { force: true });
  const digest = await portalDigest();
  await build({
    configFile: join(portalDirectory, 'vite.config.ts'),
    configLoader: 'native',
    logLevel: 'warn',
    build: { outDir: draft, emptyOutDir: true },
  });
  const names = await readdir(join(draft, 'assets'));
  await Promise.all(names.map(async (name) => putAsset(name, await readFile(join(draft, 'assets', name)))));
  for (const name of ['index.html', 'sharing.html']) await put(join(dist, name), await readFile(join(draft, name)));
  await put(join(dist, DIGEST_FILE), digest);
  await sweep(new Set(names));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await rm(draft, { recursive: true, force: true });
}
