// Finds the Node that runs Accord: this one when it is new enough (24), else the one that npm installed beside us.
// Plain JavaScript, because the machine's own Node may be too old to run TypeScript.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** For the program itself: a larger young generation, as by default, takes 30 MiB more (the Dockerfile says the same). */
export const heapFlags = ['--max-semi-space-size=16'];

/** The path of a Node 24 or newer. */
export function findNode() {
  const bundled = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node');
  if (existsSync(bundled)) return bundled;
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath;
  console.error(
    `accord needs Node 24; this is ${process.version}, and npm has none for ${process.platform}-${process.arch}.`,
  );
  process.exit(1);
}
