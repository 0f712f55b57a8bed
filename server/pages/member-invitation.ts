/** The pages of a member's invitation to the portal. */
import type { Role } from '../core/auth/schema.ts';
import { button, type Form, fact, form } from './form.ts';
import { html } from './html.ts';
import { textsOf } from './language.ts';
import { type PageContext, page, type RenderedPage } from './layout.ts';
import { when } from './when.ts';

export type MemberInvitationProps = Readonly<{
  /** Its name for people. */
  tenant: string;
  email: string;
  role: Role;
  expiresAt: string;
  /** Posts `csrf` and `decision` = accept or later. */
  decide: Form;
  /** Who is logged in. Without it, and with another address, the page leads to log-in and sign-up. */
  account?: Readonly<{ email: string }>;
  logInUrl: string;
  signUpUrl: string;
}>;

/** Where the link of a member's invitation leads. To open it changes nothing: what is decided is posted. */
export function memberInvitationPage(context: PageContext, props: MemberInvitationProps): RenderedPage {
  const { memberInvitation: texts, invitation, roles } = textsOf(context.language);
  const { tenant, email, role, account, decide, logInUrl, signUpUrl } = props;
  const isTheirs = account !== undefined && account.email.toLowerCase() === email.toLowerCase();
  const title = texts.title(tenant);
  const later = button(texts.later, { kind: 'second', name: 'decision', value: 'later' });
  const accept = html`${button(invitation.accept, { name: 'decision', value: 'accept' })}${later}`;
  const first = html`<p>${invitation.first}</p><a class="button" href="${signUpUrl}">${invitation.signUp}</a>
<a class="button second" href="${logInUrl}">${invitation.logIn}</a>`;
  const other = html`<div class="notice"><p>${invitation.otherAddress(email)}</p></div>
<a class="button" href="${logInUrl}">${invitation.logIn}</a>`;
  const body = html`<h1>${title}</h1><p class="lead">${texts.lead}</p>
<dl class="facts">${fact(texts.address, email)}${fact(texts.role, html`<strong>${roles[role].name}</strong>: ${roles[role].text}`)}</dl>
<p class="soft">${when(context.language, props.expiresAt, texts.expires)}</p>
${account !== undefined && html`<p>${invitation.account} <strong>${account.email}</strong></p>`}
${isTheirs ? form(decide, accept, 'pair') : html`${account === undefined ? first : other}${form(decide, later, 'after')}`}`;
  return page(context, { title, body });
}

/** After "not now". */
export function memberInvitationLaterPage(context: PageContext, { expiresAt }: { expiresAt: string }): RenderedPage {
  const { memberInvitation: texts } = textsOf(context.language);
  const body = html`<h1>${texts.laterTitle}</h1><p>${texts.laterText}</p>
<p class="soft">${when(context.language, expiresAt, texts.expires)}</p>`;
  return page(context, { title: texts.laterTitle, body });
}
