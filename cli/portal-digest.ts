/** What the portal's web application is built of, as one digest: its sources and the versions of its packages. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';

/** Of the source tree. */
export const root = resolve(import.meta.dirname, '..');
export const portalDirectory = join(root, 'portal');
/** Below portal/dist: the digest of what it was built of, written last. */
export const DIGEST_FILE = 'digest';

/** @throws ENOENT where there are no sources, as in the image */
export async function portalDigest(
  directory = portalDirectory,
  lock = join(root, 'package-lock.json'),
): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
    .filter((file) => !/^(dist|node_modules)[\\/]/.test(file))
    .sort();
  const digest = createHash('sha256').update(await readFile(lock));
  for (const file of files) digest.update(`\0${file}\0`).update(await readFile(join(directory, file)));
  return digest.digest('base64url');
}

/** @returns undefined when there is none, or it was not written to the end */
export function builtDigest(dist = join(portalDirectory, 'dist')): Promise<string | undefined> {
  return readFile(join(dist, DIGEST_FILE), 'utf8').catch(() => undefined);
}
