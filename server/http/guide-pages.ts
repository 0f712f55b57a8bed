/**
 * The pages of docs/ as they are written, at the addresses that the site has for them: for a clone in which nobody built the site. They
 * are written to be read as text; links lead on. A page is read when it is asked for.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { escapeHtml } from '../core/escape-html.ts';
import { problem } from '../core/problems.ts';
import type { App } from './fastify.ts';
import { registerUnderGuide } from './guide-address.ts';

const docs = join(import.meta.dirname, '../../docs');
const PAGE = /^([a-z][a-z0-9-]*)\.html$/;

export const hasPages = (folder: string = docs): boolean => existsSync(join(folder, 'README.md'));

/** @param folder that may be absent */
export async function registerGuidePages(app: App, folder: string = docs): Promise<void> {
  if (!hasPages(folder)) return;
  await registerUnderGuide(app, async (scope) => {
    const answer = async (name: string) => shownPage(await readFile(join(folder, `${name}.md`), 'utf8'));
    const type = 'text/html; charset=utf-8';
    scope.route({
      ...{ method: 'GET', url: '/', prefixTrailingSlash: 'slash' },
      handler: async (_request, reply) => reply.type(type).send(await answer('README')),
    });
    scope.get<{ Params: { page: string } }>('/:page', async ({ params }, reply) => {
      const [, name] = PAGE.exec(params.page) ?? [];
      if (name === undefined || !existsSync(join(folder, `${name}.md`))) throw problem('not_found');
      return reply.type(type).send(await answer(name));
    });
  });
}

/** As GitHub makes them of headings; what was escaped is punctuation. */
const anchorOf = (heading: string): string =>
  heading
    .replace(/<[^>]*>|&#?\w+;/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

/** Links to pages of docs/ and to the web are followed; those to code stay text. */
function linked(label: string, target: string): string {
  const [, page, anchor = ''] = /^([a-z0-9-]+)\.md(#[\w-]+)?$/.exec(target) ?? [];
  if (page !== undefined) return `<a href="${page}.html${anchor}">${label}</a>`;
  return /^(https?:|#)/.test(target) ? `<a href="${target}">${label}</a>` : label;
}

function shownPage(markdown: string): string {
  const text = markdown.replace(/<!--[\s\S]*?-->\n*/g, '');
  const [, title = 'Accord'] = /^# (.*)$/m.exec(text) ?? [];
  const body = escapeHtml(text)
    .replace(/!\[([^\]]*)\]\([^)]*\)/g, '[$1]')
    .replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (_all, label, target) => linked(label, target))
    .replace(/^(#+ )(.*)$/gm, (_all, signs, heading) => `<b id="${anchorOf(heading)}">${signs}${heading}</b>`);
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">',
    `<title>${escapeHtml(title)} · Accord</title></head><body>`,
    '<nav><a href="./">All pages</a> · The page as it is written. <code>npm run docs</code> builds the site, with a search.</nav>',
    `<main><pre style="white-space:pre-wrap;overflow-wrap:anywhere;max-width:100ch;margin:16px auto">${body}</pre></main>`,
    '</body></html>',
  ].join('\n');
}
