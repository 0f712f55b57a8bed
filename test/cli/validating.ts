/** Runs `accord validate` in folders of a test's own. */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { afterEach, vi } from 'vitest';
import { parseCommandLine } from '../../cli/arguments.ts';
import { run } from '../../cli/validate.ts';
import { environment, root } from '../e2e/accord.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

export async function folderOf(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'accord-validate-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return folder;
}

/** In a process of its own, as people run it. */
export async function validateByProcess(cwd: string, args: readonly string[], input = '') {
  const accord = join(root, 'bin/accord.mjs');
  const child = spawn('node', [accord, 'validate', ...args], { cwd, env: environment(), stdio: 'pipe' });
  child.stdin.end(input);
  const code = new Promise((resolve) => child.on('close', resolve));
  const [out, error] = await Promise.all([readText(child.stdout), readText(child.stderr)]);
  return { code: await code, out, error, lines: out.trimEnd().split('\n') };
}

/** Here, in this process: a process of its own takes seconds to load the program. */
export async function validate(cwd: string, args: readonly string[], input = '') {
  const parsed = parseCommandLine(['validate', ...args]);
  if (typeof parsed === 'string' || 'help' in parsed) throw new Error('This is for validateByProcess.');
  const [before, { stdin }] = [process.cwd(), process];
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  process.chdir(cwd);
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(input)]), configurable: true });
  try {
    const code = await run(parsed);
    const out = log.mock.calls.map(([line]) => `${line}\n`).join('');
    return { code, out, lines: out.trimEnd().split('\n') };
  } finally {
    Object.defineProperty(process, 'stdin', { value: stdin, configurable: true });
    process.chdir(before);
    log.mockRestore();
  }
}

export const type = (kind: string, tenant: string, name: string, spec = `name: ${name}`) =>
  `apiVersion: accord.dev/v1alpha1\nkind: ${kind}\nmetadata: {name: ${tenant}-${name}}\nspec:\n  tenantRef: {name: ${tenant}}\n  ${spec}\n`;

/** A drawn policy of the tenant aa. */
export const drawnYaml = (nodes: readonly object[], edges: readonly object[], name = 'p') =>
  `apiVersion: accord.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  tenantRef: {name: aa}
  name: "${name}"
  graph: ${JSON.stringify({ nodes, edges })}
`;
