/** Building the portal's web application, as `accord start` does it, with the real program. */
import { execFile } from 'node:child_process';
import { appendFile, cp, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildPortal } from '../../cli/portal-build.ts';
import { builtDigest, portalDigest, portalDirectory } from '../../cli/portal-digest.ts';
import { untilPasses } from '../helpers/wait.ts';

const run = promisify(execFile);
let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'accord-portal-build-'));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

const build = (to: string) =>
  run(process.execPath, ['--disable-warning=ExperimentalWarning', join(portalDirectory, 'build.ts'), '--to', to], {
    env: { ...process.env, NODE_ENV: 'production' },
  });

describe('a build', () => {
  test('is whole when two programs build at the same time, and leaves nothing half done', async () => {
    const dist = join(scratch, 'dist');
    await Promise.all([build(dist), build(dist)]);
    expect(await builtDigest(dist)).toBe(await portalDigest());
    expect((await readdir(dist)).sort()).toEqual(['assets', 'assets.txt', 'digest', 'index.html', 'sharing.html']);
    const index = await readFile(join(dist, 'index.html'), 'utf8');
    expect(index).toContain('__ACCORD_NONCE__');
    const named = [...index.matchAll(/__ACCORD_BASE__\/portal\/assets\/([\w.-]+)/g)].map(([, name]) => name as string);
    const assets = await readdir(join(dist, 'assets'));
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((name) => !assets.includes(name))).toEqual([]);
    expect(assets.filter((name) => name.endsWith('.tmp') || name.startsWith('.'))).toEqual([]);
    const [script] = named.filter((name) => name.endsWith('.js'));
    const [plain, small] = await Promise.all(
      [`${script}`, `${script}.br`].map((name) => readFile(join(dist, 'assets', name))),
    );
    expect(brotliDecompressSync(small as Buffer).equals(plain as Buffer)).toBe(true);
  });

  test('keeps the assets of the build before for a day, however long that was the newest', async () => {
    const dist = join(scratch, 'dist');
    const [recent, old, current] = ['recent-abc.js', 'old-abc.js', 'current-abc.js'].map((name) =>
      join(dist, 'assets', name),
    ) as [string, string, string];
    const left = join(dist, 'index.html.1.tmp');
    for (const file of [recent, old, current, left]) await writeFile(file, '');
    await appendFile(join(dist, 'assets.txt'), '\ncurrent-abc.js');
    const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000);
    await utimes(recent, ago(23), ago(23));
    for (const file of [old, current, left]) await utimes(file, ago(49), ago(49));
    await build(dist);
    const assets = await readdir(join(dist, 'assets'));
    const kept = ['recent-abc.js', 'old-abc.js', 'current-abc.js'].map((name) => assets.includes(name));
    expect(kept).toEqual([true, false, true]);
    expect(await readdir(dist)).not.toContain('index.html.1.tmp');
  });

  test('that is stopped is no failure, and leaves neither a program nor anything half done', async () => {
    const dist = join(scratch, 'stopped');
    const portal = buildPortal(dist);
    await untilPasses("readdir(dist)).join() to contain 'draft-'", async () =>
      expect((await readdir(dist)).join()).toContain('draft-'),
    );
    await portal.stop();
    expect(portal.building()).toBeUndefined();
    expect(await readdir(dist, { recursive: true })).toEqual(['assets']);
  });

  test('says that it cannot be written', async () => {
    const file = join(scratch, 'file');
    await writeFile(file, '');
    await expect(build(join(file, 'dist'))).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/ENOTDIR.*dist/),
    });
  });
});

describe('the digest', () => {
  test('changes with a source and with the lock, and not with what was built', async () => {
    const sources = join(scratch, 'portal');
    const lock = join(scratch, 'package-lock.json');
    await cp(join(portalDirectory, 'index.html'), join(sources, 'index.html'));
    await writeFile(lock, '{}');
    const before = await portalDigest(sources, lock);
    await cp(join(portalDirectory, 'index.html'), join(sources, 'dist', 'index.html'));
    expect(await portalDigest(sources, lock)).toBe(before);
    await writeFile(join(sources, 'index.html'), 'another');
    const after = await portalDigest(sources, lock);
    expect(after).not.toBe(before);
    await writeFile(lock, '{"packages": {}}');
    expect(await portalDigest(sources, lock)).not.toBe(after);
  });

  test('of what was never built to the end is none', async () => {
    expect(await builtDigest(join(scratch, 'nowhere'))).toBeUndefined();
  });
});
