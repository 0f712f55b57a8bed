/** One question before something ends that does not come back by itself. */
import { button, type Form, form } from './form.ts';
import { html } from './html.ts';
import { textsOf } from './language.ts';
import { type PageContext, page, type RenderedPage } from './layout.ts';
import type { Texts } from './texts/texts.ts';

export type ConfirmProps = Form &
  Readonly<{
    kind: keyof Texts['confirm'];
    /** What ends, as people know it. */
    subject: string;
    /** Posted: `id`, `confirmed` = 1, `csrf`. */
    id: string;
    cancelUrl: string;
  }>;

export function confirmPage(context: PageContext, props: ConfirmProps): RenderedPage {
  const { confirm, common } = textsOf(context.language);
  const { kind, subject, id, cancelUrl } = props;
  const title = confirm[kind].title(subject);
  const body = html`<h1>${title}</h1><p>${confirm[kind].text}</p>
${form(props, html`<input type="hidden" name="id" value="${id}">${button(confirm[kind].yes, { kind: 'danger', name: 'confirmed', value: '1' })}<a class="button second" href="${cancelUrl}">${common.cancel}</a>`, 'pair')}`;
  return page(context, { title, body });
}
