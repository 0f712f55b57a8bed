/** What the site makes of Markdown that a code host shows otherwise. */
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { placeOf, root, sourceOf, staged } from './pages.mjs';

/** An image is built from less than the repository. */
const isClone = existsSync(join(root, 'CONTRIBUTING.md'));
const pageOf = (env) => relative(staged, env.path);

/**
 * Links of pages are those of the repository. One to a file that the site does not have (source code, a chart) becomes its
 * path as text. One to a file that does not exist fails the build.
 */
function follow(token, env) {
  const href = token.attrGet('href') ?? '';
  if (/^([a-z]+:|#)/.test(href)) return true;
  const source = sourceOf(pageOf(env), href);
  if (isClone && !existsSync(join(root, source)))
    throw new Error(`${pageOf(env)}: a link leads to ${source}, which does not exist`);
  const place = placeOf(source);
  if (place === undefined) {
    const attrs = [
      ['class', 'in-repository'],
      ['title', `${source} in the repository`],
    ];
    Object.assign(token, { tag: 'span', attrs });
    return false;
  }
  const anchor = href.indexOf('#');
  token.attrSet('href', anchor < 0 ? place : place + href.slice(anchor));
  // No page: the browser opens it, not the site.
  if (!place.endsWith('.md')) token.attrSet('target', '_blank');
  return true;
}

export function repositoryLinks(md) {
  md.core.ruler.push('repository_links', (state) => {
    for (const { children } of state.tokens) {
      let leads = true;
      for (const token of children ?? []) {
        if (token.type === 'link_open') leads = follow(token, state.env);
        if (token.type === 'link_close' && !leads) Object.assign(token, { tag: 'span' });
      }
    }
  });
  // VitePress sees to links when they are rendered; what is none any more is not its affair.
  const otherwise = md.renderer.rules.link_open;
  md.renderer.rules.link_open = (tokens, index, options, env, self) =>
    tokens[index].tag === 'span'
      ? self.renderToken(tokens, index, options)
      : otherwise(tokens, index, options, env, self);
}

/** Pictures that are drawn become part of the page, so that they follow its theme, which has their colours. */
export function inlineSvg(md) {
  const otherwise = md.renderer.rules.image;
  md.renderer.rules.image = (tokens, index, options, env, self) => {
    const { content } = tokens[index];
    const src = tokens[index].attrGet('src') ?? '';
    if (!src.endsWith('.svg')) return otherwise(tokens, index, options, env, self);
    const svg = readFileSync(join(root, sourceOf(pageOf(env), src)), 'utf8');
    const drawing = svg
      .slice(svg.indexOf('<svg'))
      .replace(/<style>[\s\S]*?<\/style>/, '')
      .replace('<svg', '<svg aria-hidden="true"')
      .replace(/\n\s*/g, '');
    return `<span class="drawing" role="img" tabindex="0" aria-label="${md.utils.escapeHtml(content)}">${drawing}</span>`;
  };
}
