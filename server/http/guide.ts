/**
 * The documentation at {base_url}/docs/guide/. As a site: the files that `npm run docs` builds and the image has. Nothing of it is kept in
 * memory: a file is read, compressed already, when it is asked for. Without them, in a clone, the pages as they are written
 * (guide-pages.ts); elsewhere there is no such address.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { App } from './fastify.ts';
import { registerUnderGuide } from './guide-address.ts';
import { hasPages, registerGuidePages } from './guide-pages.ts';

export const guideFolder = join(import.meta.dirname, '../../docs/site/dist');

const HTML = 'text/html; charset=utf-8';

const isBuilt = (folder: string) => existsSync(join(folder, 'index.html'));
/** The addresses of the site are absolute: it cannot stand under a path. */
const isAtRoot = (baseUrl: string) => new URL(baseUrl).pathname === '/';

/** Whether there is an address of the documentation. */
export const hasGuide = (baseUrl: string): boolean => (isAtRoot(baseUrl) && isBuilt(guideFolder)) || hasPages();

/** The site where it was built, or the pages where they are. */
export async function registerDocumentation(app: App, baseUrl: string): Promise<void> {
  if (isAtRoot(baseUrl) && (await registerGuide(app))) return;
  await registerGuidePages(app);
}

/** @param folder that may be absent @returns whether it is there */
export async function registerGuide(app: App, folder: string = guideFolder): Promise<boolean> {
  if (!isBuilt(folder)) return false;
  await registerUnderGuide(app, async (scope) => {
    scope.setNotFoundHandler(async (_request, reply) =>
      reply
        .code(404)
        .type(HTML)
        .send(await readFile(join(folder, '404.html'))),
    );
    await scope.register(fastifyStatic, {
      root: folder,
      preCompressed: true,
      dotfiles: 'ignore',
      cacheControl: false,
      // Names in assets/ have a digest of the content.
      setHeaders: (reply, path) => {
        const lasts = path.includes('/assets/');
        reply.header('cache-control', lasts ? 'public, max-age=31536000, immutable' : 'no-cache');
      },
    });
  });
  return true;
}
