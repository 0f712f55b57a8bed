/** The one page with a script, since browsers give passkeys to scripts only. The script puts what it gets into the form and posts it. */
import { limits } from '../core/limits.ts';
import { passkeyScriptAddress } from './assets.ts';
import { button, type Form, field } from './form.ts';
import { html } from './html.ts';
import { textsOf } from './language.ts';
import { type PageContext, page, type RenderedPage } from './layout.ts';

export type PasskeyProps = Form &
  Readonly<{
    mode: 'log-in' | 'register';
    /** PublicKeyCredentialRequestOptionsJSON, or …CreationOptionsJSON to register. Posted: `credential` (JSON), `name`, `csrf`. */
    options: object;
    /** The server refused what was posted. */
    failed?: boolean;
    otherWayUrl: string;
  }>;

export function passkeyPage(context: PageContext, props: PasskeyProps): RenderedPage {
  const texts = textsOf(context.language);
  const { passkey, common } = texts;
  const { mode, options, action, csrf, failed = false, otherWayUrl } = props;
  const isNew = mode === 'register';
  const title = isNew ? passkey.register : passkey.logIn;
  const name = {
    name: 'name',
    label: passkey.name,
    hint: passkey.nameHint,
    autocomplete: 'off',
    optional: true,
    maxLength: limits.passkeyNameCharsMax,
  };
  const body = html`<div id="problem" class="notice bad" role="alert" tabindex="-1"${!failed && html` hidden`}><p>${passkey.problem}</p></div>
<h1>${title}</h1><p>${isNew ? passkey.registerText : passkey.logInText}</p>
<div id="waiting" class="notice"><p>${passkey.needsScript}</p></div>
<div id="unsupported" class="notice bad" hidden><p>${passkey.unsupported}</p></div>
<div id="ready" hidden><form method="post" action="${action}" data-mode="${mode}" data-options="${JSON.stringify(options)}">
<input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="credential" value="">${isNew && field(texts, name)}
${button(isNew ? passkey.create : passkey.start)}</form></div>
<p class="below"><a href="${otherWayUrl}">${isNew ? common.cancel : passkey.otherWay}</a></p>`;
  return page(context, { title, body, script: passkeyScriptAddress, hasError: failed });
}
