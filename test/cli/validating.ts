/** Runs `accord validate` in folders of a test's own. */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { afterEach } from 'vitest';
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

export async function validate(cwd: string, args: readonly string[], input = '') {
  const accord = join(root, 'bin/accord.mjs');
  const child = spawn('node', [accord, 'validate', ...args], { cwd, env: environment(), stdio: 'pipe' });
  child.stdin.end(input);
  const code = new Promise((resolve) => child.on('close', resolve));
  const [out, error] = await Promise.all([readText(child.stdout), readText(child.stderr)]);
  return { code: await code, out, error, lines: out.trimEnd().split('\n') };
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
