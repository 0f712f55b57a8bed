/** An answer that the browser carries to another site in a form: a script sends it at once, the button does without scripts. */
import { formPostScriptAddress } from './assets.ts';
import { button } from './form.ts';
import { html } from './html.ts';
import { textsOf } from './language.ts';
import { type PageContext, page, type RenderedPage } from './layout.ts';

/**
 * @param action absolute, which the caller has checked: a registered redirect URI, or an address of our own
 * @param fields by name, hidden
 */
export function formPostPage(
  context: PageContext,
  action: string,
  fields: Readonly<Record<string, string>>,
): RenderedPage {
  const { redirect, common } = textsOf(context.language);
  const inputs = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  const body = html`<h1>${redirect.title}</h1><p class="lead">${redirect.text}</p>
<form method="post" action="${action}">${inputs}${button(common.continue)}</form>`;
  return page(
    // Where an application opened a window, it hears of the answer in it.
    { ...context, popup: true },
    {
      ...{ title: redirect.title, body, script: formPostScriptAddress, leaves: true },
      // Without an origin, whoever gets the form cannot tell that it is of this site.
      headers: { 'referrer-policy': 'strict-origin' },
    },
  );
}
