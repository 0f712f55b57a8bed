/** What the built site was made of, so that a test can tell whether it is of these pages. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { built, root, sources } from './pages.mjs';

export const digestFile = join(built, '.sources');

export function digestOfSources() {
  const hash = createHash('sha256');
  const own = readdirSync(import.meta.dirname, { recursive: true })
    .filter((name) => /^[^/]+\.(mjs|json)$|^\.vitepress\/.*\.(mjs|css)$/.test(name))
    .map((name) => `docs/site/${name}`);
  for (const file of [...own, ...sources()].sort()) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}
