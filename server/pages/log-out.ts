/** The end of a session. */
import { button } from './form.ts';
import { html } from './html.ts';
import { textsOf } from './language.ts';
import { type PageContext, page, type RenderedPage } from './layout.ts';

export type LogoutConfirmProps = Readonly<{
  action: string;
  /** Hidden fields: `csrf`, or the `xsrf` of oidc-provider's session. */
  fields: Readonly<Record<string, string>>;
  /** Posted: `logout` = yes; without it the person stays logged in. */
  clientName?: string;
}>;

export function logoutConfirmPage(
  context: PageContext,
  { action, fields, clientName }: LogoutConfirmProps,
): RenderedPage {
  const { logout } = textsOf(context.language);
  const hidden = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  const body = html`<h1>${logout.title}</h1>
<p>${logout.text(context.brand.name)}${clientName !== undefined && ` ${logout.client(clientName)}`}</p>
<form method="post" action="${action}" class="pair">${hidden}${button(logout.yes, { name: 'logout', value: 'yes' })}${button(logout.no, { kind: 'second' })}</form>`;
  return page(context, { title: logout.title, body });
}

export type LoggedOutProps = Readonly<{
  logInUrl?: string;
  /** Where the application wants the person afterwards; checked by the caller. */
  client?: Readonly<{ name: string; url: string }>;
}>;

export function loggedOutPage(context: PageContext, { logInUrl, client }: LoggedOutProps): RenderedPage {
  const { loggedOut } = textsOf(context.language);
  const body = html`<p class="sign good" aria-hidden="true">✓</p><h1>${loggedOut.title}</h1><p>${loggedOut.text}</p>
${client !== undefined && html`<a class="button" href="${client.url}">${loggedOut.back(client.name)}</a>`}
${logInUrl !== undefined && html`<a class="button second" href="${logInUrl}">${loggedOut.logIn}</a>`}`;
  return page(context, { title: loggedOut.title, body });
}
