/** The device flow (RFC 8628): a person enters the code of a device that has no keyboard. */
import { type ScopeAsked, scopeText } from './consent.ts';
import { button, errorSummary, field, hasErrors } from './form.ts';
import { type Html, html } from './html.ts';
import { textsOf } from './language.ts';
import { type PageContext, page, type RenderedPage } from './layout.ts';

/** Hidden fields: `csrf`, or the `xsrf` and others of oidc-provider. */
type HiddenFields = Readonly<{ action: string; fields: Readonly<Record<string, string>> }>;
const hidden = (fields: HiddenFields['fields']): Html[] =>
  Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);

export type DeviceCodeProps = HiddenFields &
  Readonly<{
    /** Posted: `user_code`. */
    userCode?: string;
    error?: 'user_code_required' | 'user_code_unknown' | 'user_code_expired' | 'user_code_again';
  }>;

export function deviceCodePage(
  context: PageContext,
  { action, fields, userCode, error }: DeviceCodeProps,
): RenderedPage {
  const texts = textsOf(context.language);
  const { device } = texts;
  const errors = error === undefined ? {} : { user_code: error };
  const code = {
    name: 'user_code',
    label: device.code,
    value: userCode,
    error,
    autocomplete: 'one-time-code',
    maxLength: 32,
    className: 'code',
    autofocus: error === undefined,
  };
  const body = html`${errorSummary(texts, errors)}<h1>${device.title}</h1><p class="lead">${device.lead}</p>
<form method="post" action="${action}" novalidate>${hidden(fields)}${field(texts, code)}${button(device.submit)}</form>`;
  return page(context, { title: device.title, body, hasError: hasErrors(errors) });
}

export type DeviceConfirmProps = HiddenFields &
  Readonly<{
    /** Posted: `fields` and, to refuse, `abort` = yes. */
    clientName: string;
    userCode: string;
    scopes?: readonly ScopeAsked[];
  }>;

export function deviceConfirmPage(context: PageContext, props: DeviceConfirmProps): RenderedPage {
  const texts = textsOf(context.language);
  const { device, consent } = texts;
  const { action, fields, clientName, userCode, scopes = [] } = props;
  const title = device.confirm(clientName);
  const body = html`<h1>${title}</h1><p>${device.compare}</p><p class="told code">${userCode}</p>
${scopes.length > 0 && html`<h2 class="lead">${consent.may(clientName)}</h2><ul class="ticks">${scopes.map((scope) => html`<li>${scopeText(texts, scope)}</li>`)}</ul>`}
<p class="soft">${device.warning}</p>
<form method="post" action="${action}" class="pair">${hidden(fields)}${button(device.allow)}${button(device.deny, { kind: 'second', name: 'abort', value: 'yes' })}</form>`;
  return page(context, { title, body });
}

export type DeviceDoneProps = Readonly<{ isConnected: boolean }>;

export function deviceDonePage(context: PageContext, { isConnected }: DeviceDoneProps): RenderedPage {
  const { device } = textsOf(context.language);
  const title = isConnected ? device.done : device.denied;
  const body = html`<p class="sign ${isConnected ? 'good' : ''}" aria-hidden="true">${isConnected ? '✓' : '–'}</p>
<h1>${title}</h1><p>${isConnected ? device.doneText : device.deniedText}</p>`;
  return page(context, { title, body });
}
