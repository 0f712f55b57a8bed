/** Consent of a person to what an application (an OAuth client) asks for. */
import { button, type Form, fact, form } from './form.ts';
import { type Html, html } from './html.ts';
import { textsOf } from './language.ts';
import { type PageContext, page, type RenderedPage } from './layout.ts';
import type { Texts } from './texts/texts.ts';

/** A scope that is asked for. Those of OpenID Connect have texts; others are shown by their description, or by name. */
export type ScopeAsked = Readonly<{ name: string; description?: string }>;

export type ConsentProps = Form &
  Readonly<{
    /** Posted: `decision` = allow or deny, `csrf`. */
    clientName: string;
    /** The host to which the person is led afterwards. */
    redirectHost?: string;
    account: Readonly<{ displayName?: string; email: string }>;
    scopes: readonly ScopeAsked[];
  }>;

export function consentPage(context: PageContext, props: ConsentProps): RenderedPage {
  const texts = textsOf(context.language);
  const { consent } = texts;
  const { clientName, account, redirectHost, scopes } = props;
  const title = consent.title(clientName);
  const who = account.displayName === undefined ? account.email : `${account.displayName} (${account.email})`;
  const body = html`<h1>${title}</h1>
<dl class="facts">${fact(consent.account, who)}</dl>
${scopes.length > 0 && html`<h2 class="lead">${consent.may(clientName)}</h2><ul class="ticks">${scopes.map((scope) => html`<li>${scopeText(texts, scope)}</li>`)}</ul>`}
<p class="soft">${consent.revoke}${redirectHost !== undefined && ` ${consent.leads(redirectHost)}`}</p>
${form(props, html`${button(consent.allow, { name: 'decision', value: 'allow' })}${button(consent.deny, { kind: 'second', name: 'decision', value: 'deny' })}`, 'pair')}`;
  return page(context, { title, body });
}

export function scopeText({ scopes }: Texts, { name, description }: ScopeAsked): Html | string {
  const texts: Readonly<Record<string, string>> = scopes;
  if (Object.hasOwn(texts, name)) return texts[name] as string;
  return description ?? html`<code>${name}</code>`;
}
