/** Parts of forms: fields with their labels, hints and errors; the summary of errors; buttons. */
import { type Html, html } from './html.ts';
import type { Texts } from './texts/texts.ts';

/** Where a form is posted to. `csrf` is its hidden field of that name. */
export type Form = Readonly<{ action: string; csrf: string }>;

/** What is wrong with a field: a key of the texts. */
export type FieldError = keyof Texts['errors'];
export type FieldErrors<Field extends string> = Readonly<Partial<Record<Field, FieldError>>>;

export function form({ action, csrf }: Form, body: Html, className = ''): Html {
  return html`<form method="post" action="${action}" class="${className}" novalidate><input type="hidden" name="csrf" value="${csrf}">${body}</form>`;
}

export type Field = Readonly<{
  name: string;
  label: string;
  type?: 'text' | 'email' | 'password';
  value?: string | undefined;
  hint?: string | undefined;
  error?: FieldError | undefined;
  autocomplete: string;
  autofocus?: boolean;
  optional?: boolean;
  readonly?: boolean;
  inputmode?: 'email' | 'text';
  maxLength?: number;
  className?: string;
}>;

export function field(texts: Texts, field: Field): Html {
  const { name, label, type = 'text', hint, error } = field;
  const described = [hint !== undefined && `${name}-hint`, error !== undefined && `${name}-error`].filter(Boolean);
  return html`<div class="${error === undefined ? 'field' : 'field wrong'}">
<label for="${name}">${label}${field.optional && html` <span class="optional">${texts.common.optional}</span>`}</label>
${hint !== undefined && html`<p class="hint" id="${`${name}-hint`}">${hint}</p>`}
${error !== undefined && html`<p class="error" id="${`${name}-error`}"><span class="unseen">${texts.common.errorPrefix}: </span>${texts.errors[error]}</p>`}
<input id="${name}" name="${name}" type="${type}" value="${type === 'password' ? '' : field.value}" autocomplete="${field.autocomplete}" maxlength="${field.maxLength ?? 256}"
${type !== 'text' && html` autocapitalize="none" spellcheck="false"`}${field.className !== undefined && html` class="${field.className}"`}
${!field.optional && html` required`}${field.readonly && html` readonly`}${field.autofocus && html` autofocus`}
${described.length > 0 && html` aria-describedby="${described.join(' ')}"`}${error !== undefined && html` aria-invalid="true"`}>
</div>`;
}

/** What is wrong, at the head of the page, with links to the fields. It has the focus, so that it is read out. */
export function errorSummary(texts: Texts, errors: FieldErrors<string> = {}, problem?: string): Html | false {
  const wrong = Object.entries(errors).filter((entry): entry is [string, FieldError] => entry[1] !== undefined);
  if (wrong.length === 0 && problem === undefined) return false;
  if (wrong.length === 0)
    return html`<div class="notice bad" role="alert" tabindex="-1" autofocus><p>${problem}</p></div>`;
  return html`<div class="notice bad" role="alert" tabindex="-1" autofocus aria-labelledby="problems">
<h2 id="problems">${texts.common.problems}</h2>${problem !== undefined && html`<p>${problem}</p>`}
<ul>${wrong.map(([name, error]) => html`<li><a href="${`#${name}`}">${texts.errors[error]}</a></li>`)}</ul></div>`;
}

export const hasErrors = (errors: FieldErrors<string> = {}, problem?: string) =>
  problem !== undefined || Object.values(errors).some((error) => error !== undefined);

export const notice = (text: string | undefined, kind: 'good' | 'bad' | 'info' = 'info'): Html | false =>
  text !== undefined &&
  html`<div class="notice ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}"><p>${text}</p></div>`;

type Button = Readonly<{
  name?: string;
  value?: string;
  kind?: 'first' | 'second' | 'quiet' | 'danger';
  label?: string;
}>;

/** @param label what it does, where its text alone does not say to what */
export function button(text: string, { name, value = '', kind = 'first', label }: Button = {}): Html {
  return html`<button class="${kind}"${name !== undefined && html` name="${name}" value="${value}"`}${label !== undefined && html` aria-label="${label}"`}>${text}</button>`;
}

export const fact = (term: string, value: Html | string | undefined): Html | false =>
  value !== undefined && html`<div><dt>${term}</dt><dd>${value}</dd></div>`;

/** Password managers keep a password with the address that stands in its form. */
export const usernameField = (label: string, email: string | undefined): Html =>
  html`<input type="email" name="username" value="${email}" autocomplete="username" aria-label="${label}" readonly hidden>`;
