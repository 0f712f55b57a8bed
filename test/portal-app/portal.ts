/**
 * The portal's web application on a real server, with a member who is logged in. It is built once for all test files, in
 * node_modules/.cache; a file that changes below portal/ makes it be built again.
 */
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import Fastify from 'fastify';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll } from 'vitest';
import type { TestServer } from '../helpers/server.ts';
import { chromiumPath, howToGetChromium } from '../pages/chromium.ts';

const root = join(import.meta.dirname, '../..');
export const executablePath = chromiumPath();
if (executablePath === undefined) {
  // biome-ignore lint/suspicious/noConsole: what is not tested is said aloud
  console.warn(`THE PORTAL'S APPLICATION IS NOT TESTED: there is no Chromium. To get it: ${howToGetChromium}`);
}

/** Where it is built: the mode `test` adds the gallery of portal/src/why. */
export async function buildPortal(): Promise<string> {
  const sources = globSync('portal/{*.{ts,html,json},src/**/*}', { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const digest = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  for (const file of sources) digest.update(`${file}\0`).update(readFileSync(file));
  const cache = join(root, 'node_modules/.cache');
  const built = join(cache, `accord-portal-${digest.digest('hex').slice(0, 16)}`);
  if (existsSync(built)) return built;
  mkdirSync(cache, { recursive: true });
  // Built beside it and renamed: two test files may build at the same time.
  const making = `${built}.${process.pid}`;
  const vite = [join(root, 'node_modules/vite/bin/vite.js'), 'build', '--config', 'portal/vite.config.ts'];
  const env = { ...process.env, NODE_ENV: 'production' };
  await promisify(execFile)(process.execPath, [...vite, '--mode', 'test', '--outDir', making], { cwd: root, env });
  try {
    renameSync(making, built);
  } catch {
    rmSync(making, { recursive: true, force: true });
  }
  return built;
}

type Role = Parameters<TestServer['member']>[1];
const media: Record<string, string> = { '.js': 'text/javascript', '.css': 'text/css' };

const policyOf = (nonce: string) =>
  [
    `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; font-src 'self'`,
    `connect-src 'self'; worker-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
    `require-trusted-types-for 'script'; trusted-types default`,
  ].join('; ');

/**
 * Serves the application and C of the tenants to one browser, in which a member of each tenant is logged in. C is the server's own;
 * the token of the member stands for the cookie.
 */
export async function servePortal(server: TestServer, members: { tenant: string; name?: string; role: Role }[]) {
  const dist = await buildPortal();
  const index = readFileSync(join(dist, 'index.html'), 'utf8');
  const tokens = new Map<string, string>();
  for (const { tenant, role } of members) tokens.set(tenant, await server.member(tenant, role));
  const state = { isLoggedIn: true, environment: undefined as string | undefined };
  const app = Fastify();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  const unauthorized = { title: 'Unauthorized', status: 401, code: 'unauthorized', detail: 'Nobody is logged in.' };
  app.get('/portal/session', async (request, reply) => {
    if (!state.isLoggedIn || request.headers['x-accord-portal'] !== '1') return reply.status(401).send(unauthorized);
    const tenants = members.map(({ tenant: code, name = 'Cars of Ghent', role }) => ({ code, name, role }));
    const times = { authenticatedAt: '2026-01-01T00:00:00Z', expiresAt: '2036-01-01T00:00:00Z' };
    return { email: 'ann@example.com', displayName: 'Ann', ...times, tenants, environment: state.environment };
  });
  app.get('/portal/log-in', (_, reply) => reply.type('text/html').send('<title>Log in</title>'));
  const page = (_: unknown, reply: { headers(of: object): { send(body: string): unknown } }) => {
    const nonce = randomBytes(16).toString('base64');
    const headers = { 'content-type': 'text/html', 'content-security-policy': policyOf(nonce) };
    return reply.headers(headers).send(index.replaceAll('__ACCORD_NONCE__', nonce).replaceAll('__ACCORD_BASE__', ''));
  };
  app.get('/portal', page);
  app.get('/portal/t/*', page);
  app.get('/portal/gallery', page);
  app.get<{ Params: { '*': string } }>('/portal/assets/*', (request, reply) => {
    const file = join(dist, 'assets', request.params['*']);
    return reply.type(media[extname(file)] ?? 'application/octet-stream').send(readFileSync(file));
  });
  app.all<{ Params: { tenant: string } }>('/tenants/:tenant/*', async (request, reply) => {
    const token = tokens.get(request.params.tenant);
    if (!state.isLoggedIn || request.headers['x-accord-portal'] !== '1' || token === undefined)
      return reply.status(401).send(unauthorized);
    const headers = { ...request.headers, authorization: `Bearer ${token}` };
    const asked = { method: request.method as 'GET', url: request.url, headers };
    const answer = await server.app.inject({ ...asked, ...(request.body ? { payload: request.body as Buffer } : {}) });
    const { 'transfer-encoding': _, ...answered } = answer.headers;
    return reply.status(answer.statusCode).headers(answered).send(answer.rawPayload);
  });
  const base = await app.listen({ port: 0, host: '127.0.0.1' });
  afterAll(() => app.close());
  return { base, state, dist };
}

let launched: Promise<Browser> | undefined;

/** One browser for the file; closed after it. */
export function browserOfFile(): Promise<Browser> {
  if (launched === undefined) {
    launched = chromium.launch({ executablePath: executablePath as string, args: ['--no-sandbox'] });
    afterAll(async () => (await launched)?.close());
  }
  return launched;
}

/**
 * A page, and what the browser complained of: errors of scripts and violations of the Content-Security-Policy. Disposed of by
 * `await using`.
 */
export async function openPage(options: BrowserContextOptions = {}) {
  const browser = await (launched ?? browserOfFile());
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB', ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  return { page, complaints, [Symbol.asyncDispose]: () => context.close() };
}

/** Keeps a picture where ACCORD_TEST_SHOTS says, and holds that nothing is wider than the page. */
export async function look(page: Page, name: string): Promise<void> {
  const to = process.env.ACCORD_TEST_SHOTS;
  if (to) await page.screenshot({ path: `${to}/${name}.png`, fullPage: true });
  const wider = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  if (wider !== 0) throw new Error(`${name} is ${wider} pixels wider than the window.`);
}
