/** Log-in and sign-up. */
import { limits } from '../core/limits.ts';
import { button, errorSummary, type FieldErrors, type Form, field, form, hasErrors, notice } from './form.ts';
import { type Html, html } from './html.ts';
import { textsOf } from './language.ts';
import { type PageContext, page, type RenderedPage } from './layout.ts';
import type { Texts } from './texts/texts.ts';

/** How somebody gets in for the first time: by an invitation, or by the link that a command prints. */
export type FirstTime = 'invitation' | Readonly<{ command: string }>;

export type LogInProps = Form &
  Readonly<{
    /** Posted: `email`, `password`, `csrf`. */
    email?: string;
    /** The address cannot be changed: somebody who is logged in already confirms that it is them. */
    emailFixed?: boolean;
    clientName?: string;
    problem?: keyof Texts['logIn']['problems'];
    retryAfterSeconds?: number;
    notice?: keyof Texts['logIn']['notices'];
    errors?: FieldErrors<'email' | 'password'>;
    signUpUrl?: string;
    resetUrl?: string;
    /** The passkey page. */
    passkeyUrl?: string;
    /** Other log-ins: posts `upstream` = its id, with `csrf`. */
    upstreams?: readonly Readonly<{ id: string; name: string }>[];
    upstreamAction?: string;
    /** Posts `cancel` = 1, with `csrf`: the application gets access_denied. */
    cancelAction?: string;
    /** Of members: how whoever has no account yet gets in. */
    firstTime?: FirstTime;
    /** It is shown beside something else: no field takes the focus. */
    isPreview?: boolean;
  }>;

/** What asks for something; the others tell what is done. */
const infos = new Set<keyof Texts['logIn']['notices']>(['again', 'finish', 'link']);

export function logInPage(context: PageContext, props: LogInProps): RenderedPage {
  const texts = textsOf(context.language);
  const { logIn, fields } = texts;
  const { email, errors, clientName, csrf } = props;
  const problem = problemOf(texts, props);
  const isWrong = hasErrors(errors, problem);
  const focuses = !isWrong && !props.isPreview;
  const body = html`${errorSummary(texts, errors, problem)}
${!isWrong && notice(props.notice && logIn.notices[props.notice], props.notice && infos.has(props.notice) ? 'info' : 'good')}
<h1>${logIn.title}</h1>
${clientName !== undefined && html`<p class="lead">${logIn.lead(clientName)}</p>`}
${form(
  props,
  html`
${field(texts, { name: 'email', label: fields.email, type: 'email', value: email, error: errors?.email, autocomplete: 'username', autofocus: focuses && !email, readonly: props.emailFixed ?? false })}
${field(texts, { name: 'password', label: fields.password, type: 'password', error: errors?.password, autocomplete: 'current-password', autofocus: focuses && Boolean(email), maxLength: 1024 })}
${props.resetUrl !== undefined && html`<p class="aside"><a href="${props.resetUrl}">${logIn.forgot}</a></p>`}
${button(logIn.submit)}`,
)}
${otherWays(texts, props)}
${props.signUpUrl !== undefined && html`<p class="below">${logIn.noAccount} <a href="${props.signUpUrl}">${logIn.signUp}</a></p>`}
${props.cancelAction !== undefined && form({ action: props.cancelAction, csrf }, button(clientName === undefined ? texts.common.cancel : logIn.cancel(clientName), { kind: 'quiet', name: 'cancel', value: '1' }))}
${props.firstTime !== undefined && firstTimeOf(texts, props.firstTime)}`;
  return page(context, { title: logIn.title, body, hasError: isWrong });
}

function problemOf({ logIn }: Texts, { problem, retryAfterSeconds }: LogInProps): string | undefined {
  if (problem === undefined) return undefined;
  if (retryAfterSeconds === undefined) return logIn.problems[problem];
  return `${logIn.problems[problem]} ${logIn.retry(Math.max(1, Math.ceil(retryAfterSeconds)))}`;
}

function firstTimeOf({ logInFirst }: Texts, by: FirstTime): Html {
  return html`<section class="details" aria-labelledby="first-time"><h2 id="first-time">${logInFirst.title}</h2>
${by !== 'invitation' && html`<p>${logInFirst.link}</p><pre tabindex="0"><code>${by.command}</code></pre>`}
<p class="after soft">${logInFirst.invitation}</p></section>`;
}

function otherWays(texts: Texts, { passkeyUrl, upstreams = [], upstreamAction, csrf }: LogInProps): Html | false {
  const { logIn, common } = texts;
  const isUpstream = upstreams.length > 0 && upstreamAction !== undefined;
  if (passkeyUrl === undefined && !isUpstream) return false;
  return html`<p class="or"><span>${common.or}</span></p><div class="ways">
${passkeyUrl !== undefined && html`<a class="button second" href="${passkeyUrl}">${logIn.passkey}</a>`}
${isUpstream && form({ action: upstreamAction, csrf }, html`${upstreams.map(({ id, name }) => button(logIn.upstream(name), { kind: 'second', name: 'upstream', value: id }))}`)}
</div>`;
}

export type SignUpProps = Form &
  Readonly<{
    /** Posted: `email`, `displayName`, `password`, `csrf`. */
    email?: string;
    /** The address of an invitation, which cannot be changed. */
    emailFixed?: boolean;
    /** Of a member, who shares nothing by invitation: nothing is said about who sees the name. */
    isMember?: boolean;
    displayName?: string;
    passwordCharsMin: number;
    errors?: FieldErrors<'email' | 'displayName' | 'password'>;
    logInUrl?: string;
  }>;

export function signUpPage(context: PageContext, props: SignUpProps): RenderedPage {
  const texts = textsOf(context.language);
  const { signUp, fields } = texts;
  const { errors, logInUrl } = props;
  const isWrong = hasErrors(errors);
  const body = html`${errorSummary(texts, errors)}
<h1>${signUp.title}</h1>
${form(
  props,
  html`
${field(texts, { name: 'displayName', label: fields.displayName, value: props.displayName, hint: props.isMember ? undefined : signUp.displayNameHint, error: errors?.displayName, autocomplete: 'name', maxLength: limits.accountNameCharsMax, optional: true, autofocus: !isWrong })}
${field(texts, { name: 'email', label: fields.email, type: 'email', value: props.email, hint: props.emailFixed ? signUp.emailFixed : signUp.emailHint, error: errors?.email, autocomplete: 'username', readonly: props.emailFixed ?? false })}
${field(texts, { name: 'password', label: fields.password, type: 'password', hint: fields.passwordHint(props.passwordCharsMin), error: errors?.password, autocomplete: 'new-password', maxLength: 1024 })}
${button(signUp.submit)}`,
)}
${logInUrl !== undefined && html`<p class="below">${signUp.haveAccount} <a href="${logInUrl}">${signUp.logIn}</a></p>`}`;
  return page(context, { title: signUp.title, body, hasError: isWrong });
}
