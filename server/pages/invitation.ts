/** Where the link of a relationship's invitation leads. To open it changes nothing: what is decided is posted. */
import { invitationScriptAddress } from './assets.ts';
import { button, errorSummary, type FieldError, type Form, fact, field, form, hasErrors } from './form.ts';
import { type Html, html } from './html.ts';
import { textsOf } from './language.ts';
import { type PageContext, page, type RenderedPage } from './layout.ts';
import { dayText, when } from './when.ts';

/**
 * The page that the link opens. Its code stands in the fragment, which neither logs nor referrers get; a script puts it into the form,
 * and without one it is pasted. Posts `code`, `csrf`.
 */
export function openInvitationPage(
  context: PageContext,
  to: Form,
  wrong?: Readonly<{ error: FieldError; code: string }>,
): RenderedPage {
  const texts = textsOf(context.language);
  const { invitation } = texts;
  const { error } = wrong ?? {};
  const errors = error === undefined ? {} : { code: error };
  const code = {
    ...{ name: 'code', label: invitation.code, hint: invitation.codeHint, autocomplete: 'off' },
    ...{ value: wrong?.code, error, maxLength: 4096 },
  };
  const body = html`${errorSummary(texts, errors)}<h1>${invitation.titleUnknown}</h1><p>${invitation.openText}</p>
${form(to, html`<div id="by-hand">${field(texts, code)}</div>${button(invitation.open)}`)}`;
  return page(context, {
    ...{ title: invitation.titleUnknown, body, script: invitationScriptAddress },
    hasError: hasErrors(errors),
  });
}

export type InvitationProps = Readonly<{
  /** Who shares; absent when it is not known. */
  from?: string;
  what: string;
  /** What the invitee becomes by it: the type of the relationship. */
  as?: string;
  relationshipExpiresAt?: string;
  expiresAt: string;
  /** Posts `csrf`, with `decision` = accept or decline. */
  decide: Form;
  /** Who is logged in. Without it the page leads to log-in and sign-up, and still lets decline. */
  account?: Readonly<{ email: string }>;
  /** The masked address that the invitation is bound to, when the account has another. Then it cannot be accepted. */
  boundTo?: string;
  /** Posts `other` = 1, `csrf`. */
  otherAccountAction?: string;
  logInUrl: string;
  signUpUrl?: string;
}>;

export function invitationPage(context: PageContext, props: InvitationProps): RenderedPage {
  const { language } = context;
  const { invitation } = textsOf(language);
  const { from, what, as, account, boundTo, decide, otherAccountAction } = props;
  const title = from === undefined ? invitation.titleUnknown : invitation.title(from);
  const ends =
    props.relationshipExpiresAt === undefined ? invitation.noEnd : dayText(language, props.relationshipExpiresAt);
  const body = html`<h1>${title}</h1>
<dl class="facts">${fact(invitation.from, from)}${fact(invitation.what, html`<strong>${what}</strong>`)}${fact(invitation.as, as)}${fact(invitation.until, ends)}</dl>
<p class="soft">${when(language, props.expiresAt, invitation.expires)}</p>
${account !== undefined && html`<p>${invitation.account} <strong>${account.email}</strong></p>`}
${boundTo !== undefined && html`<div class="notice"><p>${invitation.otherAddress(boundTo)}</p></div>`}
${account !== undefined && otherAccountAction !== undefined && form({ action: otherAccountAction, csrf: decide.csrf }, button(invitation.otherAccount, { kind: 'quiet', name: 'other', value: '1' }), 'inline')}
${account === undefined ? asVisitor(context, props) : asAccount(context, props)}`;
  return page(context, { title, body });
}

function declineButton({ language }: PageContext): Html {
  return button(textsOf(language).invitation.decline, { kind: 'second', name: 'decision', value: 'decline' });
}

function asAccount(context: PageContext, props: InvitationProps): Html {
  const { invitation } = textsOf(context.language);
  if (props.boundTo !== undefined) return form(props.decide, declineButton(context));
  const accept = button(invitation.accept, { name: 'decision', value: 'accept' });
  return form(props.decide, html`${accept}${declineButton(context)}`, 'pair');
}

function asVisitor(context: PageContext, props: InvitationProps): Html {
  const { invitation } = textsOf(context.language);
  const { logInUrl, signUpUrl } = props;
  return html`<p>${invitation.first}</p><a class="button" href="${logInUrl}">${invitation.logIn}</a>
${signUpUrl !== undefined && html`<a class="button second" href="${signUpUrl}">${invitation.signUp}</a>`}
${form(props.decide, declineButton(context), 'after')}`;
}

export type InvitationDoneProps = Readonly<{
  outcome: 'accepted' | 'declined';
  what: string;
  /** Where the application wants the person: the invitation's redirectUri, checked. */
  continueUrl?: string;
  accountUrl?: string;
}>;

export function invitationDonePage(context: PageContext, props: InvitationDoneProps): RenderedPage {
  const { invitation, common } = textsOf(context.language);
  const { outcome, what, continueUrl, accountUrl } = props;
  const isAccepted = outcome === 'accepted';
  const title = isAccepted ? invitation.acceptedTitle : invitation.declinedTitle;
  const body = html`<p class="sign ${isAccepted ? 'good' : ''}" aria-hidden="true">${isAccepted ? '✓' : '–'}</p><h1>${title}</h1>
<p>${isAccepted ? invitation.acceptedText(what) : invitation.declinedText}</p>
${continueUrl !== undefined && html`<a class="button" href="${continueUrl}">${common.continue}</a>`}
${accountUrl !== undefined && isAccepted && html`<a class="button second" href="${accountUrl}">${invitation.account_page}</a>`}`;
  return page(context, { title, body });
}
