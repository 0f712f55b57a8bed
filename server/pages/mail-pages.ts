/** Pages that a mailed link leads to or comes from. To open a link changes nothing: mail scanners open them. */
import {
  button,
  errorSummary,
  type FieldErrors,
  type Form,
  field,
  form,
  hasErrors,
  notice,
  usernameField,
} from './form.ts';
import { html } from './html.ts';
import { textsOf } from './language.ts';
import { type PageContext, page, type RenderedPage } from './layout.ts';

export type CheckMailProps = Readonly<{
  purpose: 'verify' | 'reset';
  email: string;
  /** Posts `email`, `pending`, `again` = 1, `csrf`: to send it again. */
  resend: Form & Readonly<{ pending?: string }>;
  wasResent?: boolean;
  logInUrl?: string;
}>;

export function checkMailPage(context: PageContext, props: CheckMailProps): RenderedPage {
  const { checkMail, common } = textsOf(context.language);
  const { purpose, email, resend, wasResent, logInUrl } = props;
  const body = html`${notice(wasResent ? checkMail.sent : undefined, 'good')}
<p class="sign" aria-hidden="true">✉</p><h1>${checkMail.title}</h1><p>${checkMail[purpose]}</p><p class="told">${email}</p>
<p class="soft">${checkMail.hint}</p>
${form(resend, html`<input type="hidden" name="email" value="${email}"><input type="hidden" name="pending" value="${resend.pending}">${button(checkMail.resend, { kind: 'second', name: 'again', value: '1' })}`)}
${logInUrl !== undefined && html`<p class="below"><a href="${logInUrl}">${common.backToLogIn}</a></p>`}`;
  return page(context, { title: checkMail.title, body });
}

export type VerifyEmailProps = Form &
  Readonly<{
    /** Posted: `token`, `password`, `csrf`. */
    token: string;
    email: string;
    problem?: 'wrong' | 'missing';
    retryAfterSeconds?: number;
    /** Where somebody signs up anew who has forgotten the password. */
    startUrl: string;
  }>;

/** Somebody else may have signed up with the address: who opens the link also knows the password. */
export function verifyEmailPage(context: PageContext, props: VerifyEmailProps): RenderedPage {
  const texts = textsOf(context.language);
  const { verifyEmail, fields, errors: errorTexts, logIn } = texts;
  const { token, email, problem, retryAfterSeconds, startUrl } = props;
  const wait = retryAfterSeconds === undefined ? '' : ` ${logIn.retry(Math.max(1, Math.ceil(retryAfterSeconds)))}`;
  const told = { wrong: `${verifyEmail.wrong}${wait}`, missing: errorTexts.password_required };
  const isWrong = problem !== undefined;
  const body = html`${errorSummary(texts, {}, problem && told[problem])}<h1>${verifyEmail.title}</h1><p class="lead">${verifyEmail.text}</p>
${form(
  props,
  html`<input type="hidden" name="token" value="${token}">
${field(texts, { name: 'email', label: fields.email, type: 'email', value: email, autocomplete: 'username', readonly: true })}
${field(texts, { name: 'password', label: fields.password, type: 'password', autocomplete: 'current-password', maxLength: 1024, autofocus: !isWrong })}
${button(verifyEmail.submit)}`,
)}
<p class="below">${verifyEmail.forgot} <a href="${startUrl}">${verifyEmail.start}</a></p>`;
  return page(context, { title: verifyEmail.title, body, hasError: isWrong });
}

/** @param onward posts `proof`, `csrf`: the person is logged in, having just proved who it is */
export function emailVerifiedPage(context: PageContext, onward: Form & Readonly<{ proof: string }>): RenderedPage {
  const { verifyEmail, common } = textsOf(context.language);
  const body = html`<p class="sign good" aria-hidden="true">✓</p><h1>${verifyEmail.doneTitle}</h1><p>${verifyEmail.doneText}</p>
${form(onward, html`<input type="hidden" name="proof" value="${onward.proof}">${button(common.continue)}`)}`;
  return page(context, { title: verifyEmail.doneTitle, body });
}

export type ResetRequestProps = Form &
  Readonly<{
    /** Posted: `email`, `csrf`. */
    email?: string;
    errors?: FieldErrors<'email'>;
    logInUrl?: string;
  }>;

export function resetRequestPage(context: PageContext, props: ResetRequestProps): RenderedPage {
  const texts = textsOf(context.language);
  const { resetRequest, fields, common } = texts;
  const { email, errors, logInUrl } = props;
  const body = html`${errorSummary(texts, errors)}<h1>${resetRequest.title}</h1><p class="lead">${resetRequest.lead}</p>
${form(props, html`${field(texts, { name: 'email', label: fields.email, type: 'email', value: email, error: errors?.email, autocomplete: 'username', autofocus: !hasErrors(errors) })}${button(resetRequest.submit)}`)}
${logInUrl !== undefined && html`<p class="below"><a href="${logInUrl}">${common.backToLogIn}</a></p>`}`;
  return page(context, { title: resetRequest.title, body, hasError: hasErrors(errors) });
}

export type ResetProps = Form &
  Readonly<{
    /** Posted: `token`, `password`, `csrf`. */
    token: string;
    email?: string;
    passwordCharsMin: number;
    errors?: FieldErrors<'password'>;
  }>;

export function resetPage(context: PageContext, props: ResetProps): RenderedPage {
  const texts = textsOf(context.language);
  const { reset, fields } = texts;
  const { token, email, errors, passwordCharsMin } = props;
  const username = html`<input type="hidden" name="token" value="${token}">${usernameField(fields.email, email)}`;
  const body = html`${errorSummary(texts, errors)}<h1>${reset.title}</h1>${email !== undefined && html`<p class="lead">${reset.lead(email)}</p>`}
${form(
  props,
  html`${username}
${field(texts, { name: 'password', label: fields.newPassword, type: 'password', hint: fields.passwordHint(passwordCharsMin), error: errors?.password, autocomplete: 'new-password', maxLength: 1024, autofocus: !hasErrors(errors) })}
<p class="soft">${reset.note}</p>${button(reset.submit)}`,
)}`;
  return page(context, { title: reset.title, body, hasError: hasErrors(errors) });
}

/** After the new password was taken. */
export function resetDonePage(context: PageContext, { logInUrl }: { logInUrl: string }): RenderedPage {
  const { logIn } = textsOf(context.language);
  const title = logIn.notices.password_changed;
  const body = html`<p class="sign good" aria-hidden="true">✓</p><h1>${title}</h1>
<p class="below"><a class="button" href="${logInUrl}">${logIn.title}</a></p>`;
  return page(context, { title, body });
}
