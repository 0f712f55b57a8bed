/** The page of the link by which a tenant's first security admin logs in at an `accord start`. */
import { invitationScriptAddress } from './assets.ts';
import { button, field, notice } from './form.ts';
import { html } from './html.ts';
import { textsOf } from './language.ts';
import { type PageContext, page, type RenderedPage } from './layout.ts';

export type LogInLinkProps = Readonly<{
  /** Posts `code`. */
  action: string;
  /** What was posted works no more. */
  isGone: boolean;
  /** What prints another link. @default LOG_IN_COMMAND */
  command?: string | undefined;
}>;

/** What prints such a link for an instance in the default directory. */
export const LOG_IN_COMMAND = 'npx accord log-in';

/** The code stands in the fragment; a script puts it into the form, and without one it is pasted. */
export function logInLinkPage(
  context: PageContext,
  { action, isGone, command = LOG_IN_COMMAND }: LogInLinkProps,
): RenderedPage {
  const texts = textsOf(context.language);
  const { logInLink } = texts;
  if (isGone) {
    const body = html`<h1>${logInLink.title}</h1>${notice(logInLink.gone, 'bad')}<p>${logInLink.another}</p>
<pre tabindex="0"><code>${command}</code></pre>`;
    return page(context, { title: logInLink.title, body, hasError: true });
  }
  const code = { name: 'code', label: logInLink.code, autocomplete: 'off', maxLength: 128 };
  const body = html`<h1>${logInLink.title}</h1><p>${logInLink.text}</p>
<form method="post" action="${action}"><div id="by-hand">${field(texts, code)}</div>${button(logInLink.logIn)}</form>`;
  return page(context, { title: logInLink.title, body, script: invitationScriptAddress });
}
