/** What went wrong, and what to do. */
import { fact } from './form.ts';
import { html } from './html.ts';
import { textsOf } from './language.ts';
import { type PageContext, page, type RenderedPage } from './layout.ts';
import type { Texts } from './texts/texts.ts';

export type ErrorPageProps = Readonly<{
  kind: keyof Texts['errorPage']['kinds'];
  /** An OAuth error such as invalid_request, or a problem's code. */
  code?: string;
  /** A sentence for whoever made the request. It is shown as text of the server, in English. */
  description?: string;
  requestId?: string;
  /** Of too_many: the text says it. */
  retryAfterSeconds?: number;
  /** A checked address. */
  back?: Readonly<{ name?: string; url: string }>;
}>;

export function errorPage(context: PageContext, props: ErrorPageProps): RenderedPage {
  const { errorPage: texts, common, logIn } = textsOf(context.language);
  const { kind, code, description, requestId, retryAfterSeconds, back } = props;
  const { title } = texts.kinds[kind];
  const isKnown = kind === 'too_many' && retryAfterSeconds !== undefined;
  const text = isKnown ? logIn.retry(retryAfterSeconds) : texts.kinds[kind].text;
  const hasDetails = code !== undefined || description !== undefined || requestId !== undefined;
  const body = html`<p class="sign bad" aria-hidden="true">!</p><h1>${title}</h1><p>${text}</p>
${back !== undefined && html`<a class="button" href="${back.url}">${back.name === undefined ? common.back : texts.back(back.name)}</a>`}
${
  hasDetails &&
  html`<section class="details" aria-labelledby="details"><h2 id="details">${texts.details}</h2><dl class="facts">
${fact(texts.code, code !== undefined ? html`<code>${code}</code>` : undefined)}${fact(texts.requestId, requestId !== undefined ? html`<code>${requestId}</code>` : undefined)}
</dl>${description !== undefined && html`<p class="soft" lang="en">${description}</p>`}</section>`
}`;
  return page(context, { title, body });
}
