/** What `npm pack` makes, and whether a consumer of it compiles: ES modules, under the two ways in which types are found today. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const work = mkdtempSync(join(tmpdir(), 'accord-pack-'));
/** Built and packed here: what the clone has of it is in use by other tests. */
const source = join(work, 'source');
const installed = join(work, 'node_modules/@accord/client');
afterAll(() => rmSync(work, { recursive: true, force: true }));

let packed: string[];
beforeAll(async () => {
  const client = join(root, 'packages/client');
  cpSync(client, source, { recursive: true, filter: (path) => path !== join(client, 'dist') });
  // As `npm run build:client` does.
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  await run(process.execPath, [tsc, '-p', 'packages/client', '--outDir', join(source, 'dist')], { cwd: root });
  // `prepack` would build it in a clone, which this is not.
  const cache = join(work, 'npm'); // the home may be read-only
  const pack = ['pack', '--offline', '--ignore-scripts', '--cache', cache, '--pack-destination', work];
  const { stdout } = await run('npm', pack, { cwd: source });
  const tarball = join(work, stdout.trim().split('\n').at(-1) as string);
  mkdirSync(installed, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
  packed = (await run('tar', ['-tzf', tarball])).stdout.trim().split('\n').sort();
  for (const name of ['fastify', '@types', 'undici-types'])
    symlinkSync(join(root, 'node_modules', name), join(work, 'node_modules', name));
});

test('it has the license, the README, and a declaration for each module, and nothing else', () => {
  const modules = packed.filter((file) => file.endsWith('.js')).map((file) => file.replace(/\.js$/, ''));
  expect(modules).toContain('package/dist/index');
  const declared = modules.flatMap((name) => [`${name}.js`, `${name}.d.ts`]);
  const rest = ['package/LICENSE', 'package/README.md', 'package/package.json'];
  expect(packed).toEqual(expect.arrayContaining([...declared, ...rest]));
  // A module of types only may have a declaration and no code worth loading: it is there all the same.
  expect(packed).toHaveLength(declared.length + rest.length);
  expect(readFileSync(join(installed, 'LICENSE'), 'utf8')).toBe(readFileSync(join(root, 'LICENSE'), 'utf8'));
  expect(packed.filter((file) => /\.(map|tsbuildinfo)$|\/src\//.test(file))).toEqual([]);
});

const consumer = `import { type AccordClient, AccordResponseError, createClient, isAllowed, verifyWebhook } from '@accord/client';
import { expressGuard } from '@accord/client/express';
import { fastifyGuard, type Refusal } from '@accord/client/fastify';
import type { Request, Response } from 'express';
import { type FastifyReply, type FastifyRequest, fastify } from 'fastify';

const accord: AccordClient = createClient({ baseUrl: 'https://a.test', tenant: 't', token: 't' });
export const allowed: Promise<boolean> = accord.allowed({ subject: { type: 'user', id: 'a' }, action: 'car:read' });
export async function title(): Promise<string | undefined> {
  const { data } = await accord.call('GET', '/{tenant}/consents/active', { query: { name: 'n', language: 'en' } });
  const status: 'given' | 'valid' | 'grace' | 'expired' | 'required' | 'active' = data.status;
  return status === 'given' ? undefined : data.content?.title;
}
const path = { type: 'user', id: 'a' };
// @ts-expect-error: the path needs the id of an actor
await accord.call('GET', '/{tenant}/actors/{type}/{id}/relationships', { path: { type: 'user' } });
// @ts-expect-error: there is no such operation
await accord.call('DELETE', '/{tenant}/consents/active', { path });
export const code = (error: unknown) => (error instanceof AccordResponseError ? error.code : undefined);
// @ts-expect-error: there is no such code
export const wrong = (error: AccordResponseError) => error.code === 'no_such_code';

const app = fastify();
const refused = (refusal: Refusal, _request: FastifyRequest, reply: FastifyReply) =>
  reply.code(refusal.status).send({ reason: refusal.decision?.reason });
app.get('/', { preHandler: fastifyGuard(accord, (_request: FastifyRequest) => undefined) }, () => 'driven');
app.get('/page', { preHandler: fastifyGuard(accord, (_request: FastifyRequest) => undefined, { refused }) }, () => 'driven');
export const guard: (request: Request, response: Response, next: () => void) => void = expressGuard(
  accord,
  (request: Request) => ({ subject: { type: 'user', id: request.path }, action: 'car:read' }),
  { refused: (refusal, request, response: Response) => response.status(refusal.status).json(request.path) },
);
export const received = verifyWebhook<{ type: string }>({ headers: {}, body: '', secrets: [] });
export const explicit: boolean = isAllowed({ outcome: 'allow' });
`;

test.each([
  ['node16', 'typescript', ['--module', 'node16']],
  ['node16', 'typescript5', ['--module', 'node16']],
  ['bundler', 'typescript', ['--module', 'esnext', '--moduleResolution', 'bundler']],
  ['bundler', 'typescript5', ['--module', 'esnext', '--moduleResolution', 'bundler']],
])(
  'a consumer compiles with the resolution %s of %s, declarations checked too',
  async (_resolution, compiler, flags) => {
    writeFileSync(join(work, 'consumer.mts'), consumer);
    const strict = [
      '--strict',
      '--noEmit',
      '--exactOptionalPropertyTypes',
      '--skipLibCheck',
      'false',
      '--target',
      'es2022',
    ];
    const tsc = join(root, 'node_modules', compiler, 'bin/tsc');
    const libs = ['--lib', 'es2022,dom,dom.iterable,esnext.disposable', '--types', 'node'];
    const args = [tsc, ...strict, ...libs, ...flags, 'consumer.mts'];
    await run(process.execPath, args, { cwd: work }).catch(({ stdout }: { stdout: string }) => expect.fail(stdout));
  },
  120_000,
);

test.each(['.', './fastify', './express'])('%s loads as an ES module', async (name) => {
  const code = `import('@accord/client${name.slice(1)}').then((loaded) => console.log(Object.keys(loaded).length > 0))`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', code], { cwd: work });
  expect(stdout.trim()).toBe('true');
});
