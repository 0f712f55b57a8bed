/**
 * Builds the web application into portal/dist, in place of what is there: names of assets tell what is in them, so new ones are
 * put beside the old, the document follows, and the digest comes last. A server always has a whole build, two programs that
 * build at the same time do each other no harm, and a page that is open finds its assets for a day after a newer build.
 * SIGINT and SIGTERM end it, and nothing half done stays.
 * usage: build.ts [--brotli QUALITY] [--to DIRECTORY]
 */
import { readdirSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { build } from 'vite';
import { DIGEST_FILE, portalDigest, portalDirectory } from '../cli/portal-digest.ts';

const KEPT_MS = 24 * 60 * 60 * 1000;
const COMPRESSED = /\.(js|css|svg|json)$/;
/** The names of the assets of the newest build, one a line. */
const CURRENT_FILE = 'assets.txt';
const DRAFT = 'draft-';
const isDraft = (name: string) => name.startsWith(DRAFT) || name.endsWith('.tmp');

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

/** Pages are open that were loaded until now: from now on, what is replaced is kept for a day. */
async function replace(names: readonly string[]): Promise<void> {
  const file = join(dist, CURRENT_FILE);
  const before = (await readFile(file, 'utf8').catch(() => '')).split('\n').filter((name) => name !== '');
  const now = new Date();
  for (const name of before.filter((one) => !names.includes(one)).flatMap((one) => [one, `${one}.br`])) {
    // Some have no .br, and somebody else may remove one.
    await utimes(join(dist, 'assets', name), now, now).catch(() => {});
  }
  await put(file, names.join('\n'));
}

/** Removes what no page that is still open can ask for, and what builds that were killed have left. */
async function sweep(current: ReadonlySet<string>): Promise<void> {
  const assets = (await readdir(join(dist, 'assets'))).filter((name) => !current.has(name.replace(/\.br$/, '')));
  const drafts = (await readdir(dist)).filter(isDraft);
  for (const file of [...assets.map((name) => join(dist, 'assets', name)), ...drafts.map((name) => join(dist, name))]) {
    // Somebody else may remove it, too.
    const written = await stat(file).then(
      ({ mtimeMs }) => mtimeMs,
      () => Number.POSITIVE_INFINITY,
    );
    if (written < Date.now() - KEPT_MS) await rm(file, { recursive: true, force: true });
  }
}

/** Removes what this program has not put in place. */
function removeDrafts(): void {
  if (draft !== undefined) rmSync(draft, { recursive: true, force: true });
  for (const folder of [dist, join(dist, 'assets')]) {
    const own = readdirSync(folder).filter((name) => name.endsWith(`.${process.pid}.tmp`));
    for (const name of own) rmSync(join(folder, name), { force: true });
  }
}

let draft: string | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    try {
      removeDrafts();
    } finally {
      // Whoever started it sees that it was ended.
      process.kill(process.pid, signal);
    }
  });
}
try {
  // First: that it cannot be written is said at once.
  await mkdir(join(dist, 'assets'), { recursive: true });
  await put(join(dist, 'assets', '.writable'), '');
  await rm(join(dist, 'assets', '.writable'), { force: true });
  draft = await mkdtemp(join(dist, DRAFT));
  const built = draft;
  const digest = await portalDigest();
  await build({
    configFile: join(portalDirectory, 'vite.config.ts'),
    configLoader: 'native',
    logLevel: 'warn',
    build: { outDir: built, emptyOutDir: true },
  });
  const names = await readdir(join(built, 'assets'));
  await Promise.all(names.map(async (name) => putAsset(name, await readFile(join(built, 'assets', name)))));
  await replace(names);
  for (const name of ['index.html', 'sharing.html']) await put(join(dist, name), await readFile(join(built, name)));
  await put(join(dist, DIGEST_FILE), digest);
  await sweep(new Set(names));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  if (draft !== undefined) await rm(draft, { recursive: true, force: true });
}
