/** Where a person changes its password, or chooses a first one; who logged in longer ago does that again first. */
import { button, type FieldErrors, field, form, usernameField } from './form.ts';
import { type Html, html } from './html.ts';
import type { Texts } from './texts/texts.ts';

export type PasswordProps =
  | Readonly<{ logInUrl: string; hasPassword: boolean }>
  | Readonly<{
      action: string;
      /** Without one, the current one is not asked for. */
      hasPassword: boolean;
      passwordCharsMin: number;
      errors?: FieldErrors<'currentPassword' | 'password'>;
    }>;

export function changePasswordPanel(
  texts: Texts,
  props: PasswordProps,
  { csrf, email }: { csrf: string; email: string },
): Html {
  const { account } = texts;
  const title = props.hasPassword ? account.changePassword : account.choosePassword;
  return html`<section class="panel" aria-labelledby="change-password"><h2 id="change-password">${title}</h2>
${
  'logInUrl' in props
    ? html`<p class="soft">${account.again}</p><p class="small"><a class="button second" href="${props.logInUrl}">${account.logInAgain}</a></p>`
    : passwordForm(texts, props, { title, csrf, email })
}</section>`;
}

function passwordForm(
  texts: Texts,
  props: Extract<PasswordProps, { action: string }>,
  { title, csrf, email }: { title: string; csrf: string; email: string },
): Html {
  const { account, fields } = texts;
  const { action, hasPassword, passwordCharsMin, errors } = props;
  const current = {
    ...{ name: 'currentPassword', label: account.currentPassword, type: 'password' as const, maxLength: 1024 },
    ...{ error: errors?.currentPassword, autocomplete: 'current-password' },
  };
  const next = {
    ...{ name: 'password', label: fields.newPassword, type: 'password' as const, maxLength: 1024 },
    ...{ hint: fields.passwordHint(passwordCharsMin), error: errors?.password, autocomplete: 'new-password' },
  };
  return form(
    { action, csrf },
    html`<p class="soft">${account.passwordNote}</p>
${usernameField(fields.email, email)}${hasPassword && field(texts, current)}
${field(texts, next)}
${button(title)}`,
    'column',
  );
}
