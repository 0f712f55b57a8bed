/**
 * Which test files need no database, no browser and no process: `npm run test:unit` runs them in seconds. A file is one of
 * them when nothing that it loads below `test/` asks for more. The run holds it: its project starts no Postgres, and Node
 * refuses it a process (vitest.config.ts).
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

const root = join(import.meta.dirname, '..');

/** What starts a process, opens a database or drives a browser. The product's own imports of them start nothing. */
const packages = new Set(['node:child_process', 'node:cluster', 'pg', 'playwright-core']);
const ofTheProduct = /^(server\/embedded\/|cli\/(main|start|serve|operate)\.ts$)/;
/** What the setup of a run provides: the URLs of its Postgres, its cluster. */
const provided = /import \{[^}]*\binject\b[^}]*\} from 'vitest'/;

const imports = /(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g;

/** The test files of this clone, as paths with slashes from its root. */
export const testFiles = (): string[] =>
  readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `test/${file.split(sep).join('/')}`)
    .sort();

/** Those of them that need nothing but Node. */
export function unitFiles(): string[] {
  const known = new Map<string, boolean>();
  return testFiles().filter((file) => isPlain(file, known));
}

function isPlain(file: string, known: Map<string, boolean>): boolean {
  const before = known.get(file);
  if (before !== undefined) return before;
  // Until it is known: files that import each other ask for no more than the rest of what they import.
  known.set(file, true);
  const source = readFileSync(join(root, file), 'utf8');
  const found = [...source.matchAll(imports)].map(([, name]) => name as string);
  const is = !provided.test(source) && found.every((name) => isPlainImport(file, name, known));
  known.set(file, is);
  return is;
}

function isPlainImport(from: string, name: string, known: Map<string, boolean>): boolean {
  if (!name.startsWith('.')) return !packages.has(name);
  const file = relative(root, join(root, dirname(from), name))
    .split(sep)
    .join('/');
  if (!file.startsWith('test/')) return !ofTheProduct.test(file);
  return !file.endsWith('.ts') || !existsSync(join(root, file)) || isPlain(file, known);
}
