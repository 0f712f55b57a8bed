import { mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { FileSource } from '../../../operator/files/source.ts';
import { listTree } from '../../../operator/files/tree.ts';
import type { SourceProblem } from '../../../operator/source.ts';
import { systemClock } from '../../../server/core/clock.ts';
import { limits } from '../../../server/core/limits.ts';
import { turns } from '../../helpers/wait.ts';
import { save, until } from '../harness.ts';
import { policyYaml, tenantYaml } from '../manifests.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** @param rescanMs long: the test proves the hints; short: it proves the re-scan */
async function follow(
  files: Record<string, string>,
  options: { rescanMs?: number; debounceMs?: number; vanishMs?: number } = {},
) {
  const parent = await mkdtemp(join(tmpdir(), 'accord-source-'));
  closers.push(() => rm(parent, { recursive: true, force: true }));
  const directory = join(parent, 'manifests');
  await mkdir(directory);
  for (const [path, text] of Object.entries(files)) await save(join(directory, path), text);
  const source = new FileSource({
    ...{ directory, statusDirectory: join(directory, 'status'), clock: systemClock, observe: () => {} },
    ...{ debounceMs: 10, rescanMs: 600_000, vanishMs: 60, ...options },
  });
  const changed: string[] = [];
  let problems: readonly SourceProblem[] = [];
  await source.start({
    changed: (keys) => changed.push(...keys),
    synced: () => {},
    problems: (now) => {
      problems = now;
    },
  });
  closers.push(() => source.close());
  const keys = () => [...source.keys('Tenant'), ...source.keys('Policy')];
  return {
    source,
    directory,
    changed,
    keys,
    problems: () => problems.map((one) => `${one.place}: ${one.message}`),
    path: (name: string) => join(directory, name),
  };
}

const read = 'Policy/default/read';

describe('the source of files', () => {
  test('finds manifests in directories below and behind links, and nothing hidden', async () => {
    const one = await follow({
      'a.yaml': tenantYaml('aa'),
      'deep/er/b.yml': tenantYaml('bb'),
      'c.json': '',
      '.git/d.yaml': tenantYaml('dd'),
      'e.txt': 'x',
    });
    expect(one.keys()).toEqual(['Tenant//aa', 'Tenant//bb']);
    expect(one.source.complete('Tenant')).toBe(true);
    await symlink('deep', one.path('linked'));
    await symlink('..', one.path('deep/back'));
    await symlink('../a.yaml', one.path('deep/other.yaml'));
    await until(() => one.problems().length > 0);
    expect(one.problems()).toEqual([
      'deep/other.yaml:1: Tenant aa is already in a.yaml:1, which comes first; this one is ignored.',
    ]);
    expect(one.source.complete('Tenant')).toBe(true);
  });

  test('a link that leads out of the directory is refused with what it is, and nothing is gone meanwhile', async () => {
    const one = await follow({ 'a.yaml': tenantYaml('aa'), 'sub/b.yaml': tenantYaml('bb') }, { vanishMs: 0 });
    const outside = `${one.directory}-outside`;
    await save(join(outside, 'c.yaml'), tenantYaml('cc'));
    await save(join(outside, 'notes.txt'), 'x');
    await symlink(join(outside, 'c.yaml'), one.path('c.yaml'));
    await symlink('../../manifests-outside', one.path('sub/deep'));
    await symlink(join(outside, 'notes.txt'), one.path('notes.txt'));
    await symlink('loop.yaml', one.path('loop.yaml'));
    await symlink('gone.yaml', one.path('dangling.yaml'));
    const refused = 'The link points outside the directory of manifests; it is not followed.';
    await until(() => one.problems().length === 3);
    expect(one.problems().sort()).toEqual([
      `${one.directory}: loop.yaml: Symbolic links form a loop.`,
      `c.yaml: ${refused}`,
      `sub/deep: ${refused}`,
    ]);
    expect(one.keys()).toEqual(['Tenant//aa', 'Tenant//bb']);
    await unlink(one.path('a.yaml'));
    // Whoever has seen this has seen that the other is gone.
    await save(one.path('later.yaml'), tenantYaml('later'));
    await until(() => one.source.get('Tenant//later'));
    expect([one.source.complete('Tenant'), one.source.get('Tenant//aa') !== undefined]).toEqual([false, true]);
    for (const name of ['c.yaml', 'sub/deep', 'loop.yaml']) await unlink(one.path(name));
    await until(() => one.source.complete('Tenant') && !one.source.get('Tenant//aa'));
  });

  test('a directory that is itself a link, and one that is mounted as a ConfigMap is, are followed', async () => {
    const one = await follow({ '..2026_1/a.yaml': tenantYaml('aa') });
    await symlink('..2026_1', one.path('..data'));
    await symlink('..data/a.yaml', one.path('a.yaml'));
    await until(() => one.source.get('Tenant//aa'));
    await save(one.path('..2026_2/a.yaml'), tenantYaml('bb'));
    await symlink('..2026_2', one.path('..data_tmp'));
    await rename(one.path('..data_tmp'), one.path('..data'));
    await until(() => one.source.get('Tenant//bb') && !one.source.get('Tenant//aa'));
    const linked = `${one.directory}-link`;
    await symlink(one.directory, linked);
    expect([...(await listTree(linked)).files.keys()]).toEqual(['a.yaml']);
  });

  test('follows edits, new directories and deletions by hints', async () => {
    const one = await follow({ 'a.yaml': tenantYaml('aa') });
    const before = one.source.get('Tenant//aa');
    await save(one.path('a.yaml'), tenantYaml('aa', 'deletionPolicy: Delete'));
    await until(() => one.source.get('Tenant//aa') !== before);
    await save(one.path('new/er/b.yaml'), policyYaml('aa', 'read'));
    await until(() => one.source.get(read));
    await rm(one.path('new'), { recursive: true });
    await until(() => !one.source.get(read));
    expect(one.changed.filter((key) => key === read)).toHaveLength(2);
  });

  test('a shift of lines, a comment or a touch changes no spec', async () => {
    const one = await follow({ 'a.yaml': tenantYaml('aa') });
    const before = one.source.get('Tenant//aa');
    await save(one.path('a.yaml'), tenantYaml('aa'));
    await save(one.path('b.yaml'), tenantYaml('bb'));
    await until(() => one.source.get('Tenant//bb'));
    expect(one.source.get('Tenant//aa')).toBe(before);
  });

  test('an editor that removes before it writes deletes nothing', async () => {
    const one = await follow({ 'a.yaml': tenantYaml('aa') }, { vanishMs: 600_000 }); // longer than any stop of this machine
    for (let i = 0; i < 5; i++) {
      await rename(one.path('a.yaml'), one.path('a.yaml~'));
      await sleep(20); // a scan may find it so
      await writeFile(one.path('a.yaml'), '');
      await sleep(20); // the same
      await writeFile(one.path('a.yaml'), tenantYaml('aa', `limits: {maxPolicies: ${i + 1}}`));
      await until(() => JSON.stringify(one.source.get('Tenant//aa')?.checked ?? '').includes(`"maxPolicies":${i + 1}`));
    }
    expect(one.changed).toEqual(Array(1 + 5).fill('Tenant//aa'));
  });

  test('a file that breaks keeps what it said, says where it is broken, and nothing is gone meanwhile', async () => {
    const one = await follow(
      {
        'a.yaml': `${tenantYaml('aa')}---\n${policyYaml('aa', 'read')}`,
        'b.yaml': tenantYaml('bb'),
      },
      { vanishMs: 0 },
    );
    await save(one.path('a.yaml'), `${tenantYaml('aa')}---\nkind: [oops\n`);
    // A file that is being replaced while it is read makes the list incomplete, too, and has no problem yet.
    expect(await until(() => one.source.get(read)?.problem)).toMatch(/^a\.yaml:\d+:\d+: /);
    expect(one.source.complete('Policy')).toBe(false);
    await unlink(one.path('b.yaml'));
    await save(one.path('later.yaml'), tenantYaml('later'));
    await until(() => one.source.get('Tenant//later'));
    expect(one.source.get('Tenant//bb')).toBeDefined();
    await save(one.path('a.yaml'), tenantYaml('aa'));
    await until(() => !one.source.get(read) && !one.source.get('Tenant//bb'));
    expect(one.source.complete('Policy')).toBe(true);
    expect(one.problems()).toEqual([]);
  });

  test('a document of a mended file that moved elsewhere is the new one', async () => {
    const one = await follow({ 'a.yaml': policyYaml('aa', 'read', { answer: 'allow' }) });
    await save(one.path('a.yaml'), 'kind: [oops\n');
    await until(() => one.source.get(read)?.problem);
    await save(one.path('b.yaml'), policyYaml('aa', 'read', { answer: 'deny' }));
    await until(() => one.source.get(read)?.problem === undefined);
    expect(JSON.stringify(one.source.get(read)?.checked)).toContain('deny');
  });

  test('broken at the start: the list is not complete', async () => {
    const one = await follow({ 'a.yaml': 'kind: [oops\n', 'b.yaml': tenantYaml('bb') });
    expect(one.keys()).toEqual(['Tenant//bb']);
    expect(one.source.complete('Policy')).toBe(false);
  });

  test('a file that is not UTF-8, and one that is too large', async () => {
    const one = await follow({ 'a.yaml': tenantYaml('aa') });
    await writeFile(one.path('b.yaml'), Buffer.from([0xff, 0xfe, 0x00]));
    await until(() => one.problems().includes('b.yaml: The file is not UTF-8.'));
    await writeFile(one.path('b.yaml'), '#'.repeat(limits.manifestFileBytesMax));
    await until(() => one.problems().length === 0);
    await writeFile(one.path('b.yaml'), '#'.repeat(limits.manifestFileBytesMax + 1));
    await until(() =>
      one
        .problems()
        .includes(
          `b.yaml: The file has ${limits.manifestFileBytesMax + 1} bytes; ${limits.manifestFileBytesMax} are allowed.`,
        ),
    );
    expect(one.source.complete('Tenant')).toBe(false);
  });

  test('two files claim one name: the first by path wins, and the other follows it', async () => {
    const one = await follow({
      'b.yaml': policyYaml('aa', 'read', { answer: 'allow' }),
      'c.yaml': policyYaml('aa', 'read', { answer: 'deny' }),
    });
    expect(JSON.stringify(one.source.get(read)?.checked)).toContain('allow');
    expect(one.problems()).toEqual([
      'c.yaml:1: Policy default/read is already in b.yaml:1, which comes first; this one is ignored.',
    ]);
    await unlink(one.path('b.yaml'));
    await until(() => JSON.stringify(one.source.get(read)?.checked).includes('deny'));
    await until(() => one.problems().length === 0);
  });

  test('the whole directory replaced by another is followed; moved away, nothing is gone', async () => {
    const one = await follow({ 'a.yaml': tenantYaml('aa') }, { rescanMs: 50 });
    await rename(one.directory, `${one.directory}.old`);
    await until(() => one.problems().includes(`${one.directory}: Directory not found.`));
    expect(one.source.complete('Tenant')).toBe(false);
    expect(one.keys()).toEqual(['Tenant//aa']);
    await save(one.path('b.yaml'), tenantYaml('bb'));
    await until(() => one.source.get('Tenant//bb') && !one.source.get('Tenant//aa'));
    await save(one.path('b.yaml'), tenantYaml('cc'));
    await until(() => one.source.get('Tenant//cc'));
  });

  test('one that is closed while it looks watches nothing afterwards', async () => {
    const watches = () => process.getActiveResourcesInfo().filter((one) => one === 'FSEventWrap').length;
    const before = watches();
    const one = await follow({ 'a.yaml': tenantYaml('aa') });
    await one.source.close();
    const source = new FileSource({
      ...{ directory: one.directory, statusDirectory: one.path('status'), clock: systemClock, observe: () => {} },
    });
    const starting = source.start({ changed: () => {}, synced: () => {}, problems: () => {} });
    await source.close();
    await starting;
    await turns();
    expect(watches()).toBe(before);
  });

  test('the re-scan finds what no hint told', async () => {
    const one = await follow({ 'a.yaml': tenantYaml('aa') }, { rescanMs: 50, debounceMs: 600_000 });
    await save(one.path('b.yaml'), tenantYaml('bb'));
    await until(() => one.source.get('Tenant//bb'));
  });

  test('status is a file, replaced only when it differs, and is no manifest itself', async () => {
    const one = await follow({ 'a.yaml': tenantYaml('aa') });
    const target = { key: 'Tenant//aa', kind: 'Tenant', namespace: '', name: 'aa', uid: 'u', generation: 1 } as const;
    const { stat, readFile } = await import('node:fs/promises');
    const path = join(one.directory, 'status', 'tenant_aa.yaml');
    await one.source.writeStatus(target, { observedGeneration: 1 });
    const first = await stat(path);
    await one.source.writeStatus(target, { observedGeneration: 1 });
    expect((await stat(path)).ino).toBe(first.ino);
    expect([first.mode & 0o777, (await stat(join(path, '..'))).mode & 0o777]).toEqual([0o600, 0o700]);
    await one.source.writeStatus(target, { observedGeneration: 2 });
    expect(await readFile(path, 'utf8')).toContain('observedGeneration: 2');
    const long = { ...target, name: 'x'.repeat(253), namespace: 'n'.repeat(63) };
    await one.source.writeStatus(long, {});
    await save(one.path('b.yaml'), tenantYaml('bb'));
    await until(() => one.source.get('Tenant//bb'));
    expect(one.problems()).toEqual([]);
    await one.source.removeFinalizer(target);
    await expect(stat(path)).rejects.toThrow('ENOENT');
  });
});
