/**
 * The answer to a form that leads to another site. A redirect will not do: browsers apply form-action of the Content-Security-Policy to
 * every step of it, also to those that the other site adds.
 */
import { html, isLink } from './html.ts';
import { textsOf } from './language.ts';
import { type PageContext, page, type RenderedPage } from './layout.ts';

/**
 * @param url absolute, which the caller has checked: a registered redirect URI, or an address of our own
 * @param to where that is, as people know it; without it, back to where they came from
 * @throws TypeError when it is none that a link may have
 */
export function redirectPage(context: PageContext, url: string, to?: string): RenderedPage {
  if (!URL.canParse(url) || !isLink(url)) throw new TypeError('redirectPage: not an address to lead to');
  const { href } = new URL(url);
  const { redirect, common } = textsOf(context.language);
  const body = html`<h1>${redirect.title}</h1><p class="lead">${to === undefined ? redirect.text : redirect.to(to)}</p>
<a class="button" href="${href}">${common.continue}</a>`;
  return page(context, { title: redirect.title, body, headers: { refresh: `0; url=${href}` } });
}
