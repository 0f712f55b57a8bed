/** A name that somebody gives: its own, or one of a passkey. */
import { limits } from '../core/limits.ts';
import { button, errorSummary, type FieldErrors, type Form, field, form, hasErrors } from './form.ts';
import { html } from './html.ts';
import { textsOf } from './language.ts';
import { type PageContext, page, type RenderedPage } from './layout.ts';

export type NameProps = Form &
  Readonly<{
    /** Posted: `name`, `id`, `csrf`. */
    kind: 'own' | 'passkey';
    id?: string;
    name?: string;
    errors?: FieldErrors<'name'>;
    cancelUrl: string;
  }>;

export function namePage(context: PageContext, props: NameProps): RenderedPage {
  const texts = textsOf(context.language);
  const { naming, passkey, fields, signUp, common } = texts;
  const { kind, id, name, errors, cancelUrl } = props;
  const isOwn = kind === 'own';
  const title = naming[kind];
  const input = {
    ...{ name: 'name', value: name, error: errors?.name, autofocus: !hasErrors(errors) },
    ...(isOwn
      ? { label: fields.displayName, hint: signUp.displayNameHint, autocomplete: 'name', optional: true }
      : { label: passkey.name, hint: passkey.nameHint, autocomplete: 'off' }),
    maxLength: isOwn ? limits.accountNameCharsMax : limits.passkeyNameCharsMax,
  };
  const body = html`${errorSummary(texts, errors)}<h1>${title}</h1>
${form(props, html`${id !== undefined && html`<input type="hidden" name="id" value="${id}">`}${field(texts, input)}${button(naming.submit)}`)}
<p class="below"><a href="${cancelUrl}">${common.cancel}</a></p>`;
  return page(context, { title, body, hasError: hasErrors(errors) });
}
