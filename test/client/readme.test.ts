/** The package as it is built, and the examples of its README: each runs in a process of its own and prints its comments. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { startForClient } from './start.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const source = join(root, 'packages/client');
const work = mkdtempSync(join(tmpdir(), 'accord-client-'));
afterAll(() => rmSync(work, { recursive: true, force: true }));

const built = join(work, 'node_modules/@accord/client');
mkdirSync(built, { recursive: true });
cpSync(join(source, 'package.json'), join(built, 'package.json'));
const tsc = join(root, 'node_modules/typescript/bin/tsc');
await run(process.execPath, [tsc, '-p', source, '--outDir', join(built, 'dist')]);
for (const name of ['fastify', 'express'])
  symlinkSync(join(root, 'node_modules', name), join(work, 'node_modules', name));

const { origin, tenant, secret } = await startForClient();
const env = { ACCORD_URL: origin, ACCORD_TENANT: tenant, ACCORD_CLIENT_SECRET: secret };
const examples = [...readFileSync(join(source, 'README.md'), 'utf8').matchAll(/^```js\n([\s\S]*?)^```$/gm)];

test.each(examples.map(([, code = ''], index) => [index + 1, code] as const))(
  'example %i prints what its comments say',
  async (number, code) => {
    const said = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, comment]) => comment);
    expect(said).not.toEqual([]);
    const file = join(work, `example-${number}.mjs`);
    writeFileSync(file, code);
    const { stdout } = await run(process.execPath, [file], { cwd: work, env: { ...env, NO_COLOR: '1' } });
    expect(stdout.trimEnd().split('\n')).toEqual(said);
  },
);

test('the built package has declarations, and neither dependencies nor imports of Node', async () => {
  const { exports, dependencies } = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8'));
  expect(dependencies).toBeUndefined();
  for (const { types, default: code } of Object.values<{ types: string; default: string }>(exports)) {
    expect(readFileSync(join(built, types), 'utf8')).toContain('export');
    expect(readFileSync(join(built, code), 'utf8')).not.toMatch(/from '(?!\.\/)/);
  }
  const user = `import { createClient } from '@accord/client';
import { fastifyGuard } from '@accord/client/fastify';
const accord = createClient({ baseUrl: 'https://a.test', tenant: 't', token: 't' });
export const allowed: Promise<boolean> = accord.allowed({ subject: { type: 'user', id: 'a' }, action: 'car:read' });
export const guard = fastifyGuard(accord, () => undefined);
`;
  writeFileSync(join(work, 'user.mts'), user);
  const flags = ['--strict', '--noEmit', '--module', 'nodenext', '--types', '', '--lib', 'es2022,dom'];
  await run(process.execPath, [tsc, ...flags, 'user.mts'], { cwd: work });
});
