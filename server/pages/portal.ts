/** The portal's pages for members: tenants to choose, members, invitations, tokens. */
import type { Role } from '../core/auth/schema.ts';
import { button, errorSummary, type FieldErrors, type Form, fact, field, form, hasErrors, notice } from './form.ts';
import { type Html, html } from './html.ts';
import { textsOf } from './language.ts';
import { type PageContext, page, type RenderedPage } from './layout.ts';
import { type Item, panel } from './list.ts';
import type { Texts } from './texts/texts.ts';
import { when, whenExactly, whenText } from './when.ts';

/** What every page of a tenant's portal has at its head. */
export type PortalFrame = Readonly<{
  csrf: string;
  email: string;
  tenant: Readonly<{ code: string; name: string }>;
  logOutAction: string;
  current: 'members' | 'invitations' | 'tokens';
  urls: Readonly<{ members: string; invitations: string; tokens: string; tenants?: string }>;
}>;

function portalPage(
  context: PageContext,
  frame: PortalFrame,
  layout: { title: string; body: Html; hasError?: boolean },
) {
  const { portal } = textsOf(context.language);
  const { urls, current, csrf, email, tenant } = frame;
  const entry = (name: PortalFrame['current']) =>
    html`<li><a href="${urls[name]}"${name === current && html` aria-current="page"`}>${portal[name]}</a></li>`;
  const navigation = html`<div class="who"><span class="soft">${email}</span>${form({ action: frame.logOutAction, csrf }, button(portal.logOut, { kind: 'second' }), 'small')}</div>
<p class="tenant"><strong>${tenant.name}</strong> <span class="soft">${tenant.code}</span></p>
<nav class="tabs" aria-label="${portal.menu}"><ul>${entry('members')}${entry('invitations')}${entry('tokens')}
${urls.tenants !== undefined && html`<li><a href="${urls.tenants}">${portal.otherTenant}</a></li>`}</ul></nav>`;
  return page(context, { ...layout, title: `${layout.title} – ${tenant.name}`, wide: true, navigation });
}

export type TenantChoiceProps = Readonly<{
  tenants: readonly Readonly<{ code: string; name: string; role: Role; url: string }>[];
  logOut: Form;
}>;

export function tenantChoicePage(context: PageContext, { tenants, logOut }: TenantChoiceProps): RenderedPage {
  const { tenants: texts, roles, portal } = textsOf(context.language);
  const entries = tenants.map(
    ({ code, name, role, url }) =>
      html`<li><a class="button second choice" href="${url}"><span><strong>${name}</strong> <span class="soft">${code}</span></span><span class="badge">${roles[role].name}</span></a></li>`,
  );
  const body = html`<h1>${texts.title}</h1>
${entries.length === 0 ? html`<p>${texts.none}</p>` : html`<p class="lead">${texts.lead}</p><ul class="choices">${entries}</ul>`}
${form(logOut, button(portal.logOut, { kind: 'quiet' }))}`;
  return page(context, { title: texts.title, body });
}

export type MembersProps = Readonly<{
  frame: PortalFrame;
  members: readonly Readonly<{ id: string; email: string; role: Role; createdAt: string; isYou: boolean }>[];
  /** Posts `id`, `csrf`. Absent: the member may not remove others. */
  removeAction?: string;
  inviteUrl?: string;
  /** What was asked for was refused, as the last security admin cannot be removed. */
  isRefused?: boolean;
}>;

export function membersPage(context: PageContext, props: MembersProps): RenderedPage {
  const { members: texts, roles, portal } = textsOf(context.language);
  const { frame, members, removeAction, inviteUrl, isRefused } = props;
  const admins = members.filter(({ role }) => role === 'security-admin').length;
  const items = members.map(
    ({ id, email, role, createdAt, isYou }): Item => ({
      id,
      title: email,
      badge: isYou ? `${roles[role].name} · ${portal.you}` : roles[role].name,
      lines: [when(context.language, createdAt, texts.since)],
      canEnd: removeAction !== undefined && !(role === 'security-admin' && admins === 1),
    }),
  );
  const foot =
    inviteUrl !== undefined && html`<p class="small"><a class="button" href="${inviteUrl}">${texts.invite}</a></p>`;
  const list = {
    id: 'members',
    isPage: true,
    title: texts.title,
    text: texts.lead(frame.tenant.name),
    none: '',
    end: texts.remove,
    items,
    foot,
  };
  const body = html`${notice(isRefused ? texts.lastAdmin : undefined, 'bad')}
${panel({ ...list, action: removeAction ?? '', csrf: frame.csrf })}`;
  return portalPage(context, frame, { title: texts.title, body, hasError: isRefused ?? false });
}

export type InviteProps = Readonly<{
  frame: PortalFrame;
  /** Posts `email`, `role`, `csrf`. */
  action: string;
  roles: readonly Role[];
  email?: string;
  role?: Role;
  errors?: FieldErrors<'email' | 'role'>;
  problem?: keyof Texts['invite']['problems'];
}>;

export function invitePage(context: PageContext, props: InviteProps): RenderedPage {
  const texts = textsOf(context.language);
  const { invite, fields, errors: errorTexts, common } = texts;
  const { frame, action, errors, email } = props;
  const problem = props.problem && invite.problems[props.problem];
  const choice = (role: Role, i: number) => html`<div class="field check">
<input type="radio" id="${i === 0 ? 'role' : `role-${role}`}" name="role" value="${role}"${role === props.role && html` checked`}${errors?.role !== undefined && html` aria-describedby="role-error" aria-invalid="true"`} required>
<label for="${i === 0 ? 'role' : `role-${role}`}"><strong>${texts.roles[role].name}</strong>: ${texts.roles[role].text}</label></div>`;
  const body = html`${errorSummary(texts, errors, problem)}<section class="panel"><h1>${invite.title}</h1><p class="lead">${invite.lead(frame.tenant.name)}</p>
${form(
  { action, csrf: frame.csrf },
  html`${field(texts, { name: 'email', label: fields.email, type: 'email', value: email, error: errors?.email, autocomplete: 'off' })}
<fieldset${errors?.role !== undefined && html` class="wrong"`}><legend>${invite.role}</legend>${errors?.role !== undefined && html`<p class="error" id="role-error"><span class="unseen">${common.errorPrefix}: </span>${errorTexts[errors.role]}</p>`}${props.roles.map(choice)}</fieldset>
${button(invite.submit)}`,
  'column',
)}</section>`;
  return portalPage(context, frame, { title: invite.title, body, hasError: hasErrors(errors, problem) });
}

export type InvitedProps = Readonly<{
  frame: PortalFrame;
  email: string;
  /** The mailed link, which is shown once. */
  url: string;
}>;

export function invitedPage(context: PageContext, { frame, email, url }: InvitedProps): RenderedPage {
  const { invite } = textsOf(context.language);
  const body = html`<section class="panel"><h1>${invite.sentTitle}</h1>
<p>${invite.mailed(email)}</p><p>${invite.sentText}</p>${secretBox(invite.link, url)}
<p class="small"><a class="button second" href="${frame.urls.invitations}">${invite.back}</a></p></section>`;
  return portalPage(context, frame, { title: invite.sentTitle, body });
}

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

/** What is to be copied: a click selects all of it, and so does the keyboard, which can reach it. */
function secretBox(label: string, value: string): Html {
  return html`<div class="field"><p class="label" id="secret-label">${label}</p><div class="secret" role="textbox" aria-readonly="true" aria-labelledby="secret-label" tabindex="0"><code>${value}</code></div></div>`;
}

export type InvitationsProps = Readonly<{
  frame: PortalFrame;
  invitations: readonly Readonly<{
    id: string;
    email: string;
    role: Role;
    status: keyof Texts['invitations']['statuses'];
    expiresAt: string;
  }>[];
  /** Posts `id`, `csrf`. */
  withdrawAction?: string;
  inviteUrl?: string;
}>;

export function invitationsPage(context: PageContext, props: InvitationsProps): RenderedPage {
  const { invitations: texts, roles, members } = textsOf(context.language);
  const { frame, invitations, withdrawAction, inviteUrl } = props;
  const items = invitations.map(
    ({ id, email, role, status, expiresAt }): Item => ({
      id,
      title: email,
      badge: texts.statuses[status],
      lines: [roles[role].name, ...(status === 'pending' ? [when(context.language, expiresAt, texts.expires)] : [])],
      canEnd: status === 'pending' && withdrawAction !== undefined,
    }),
  );
  const foot =
    inviteUrl !== undefined && html`<p class="small"><a class="button" href="${inviteUrl}">${members.invite}</a></p>`;
  const list = {
    id: 'invitations',
    isPage: true,
    title: texts.title,
    text: texts.lead(frame.tenant.name),
    none: texts.none,
    end: texts.withdraw,
    items,
    foot,
  };
  const body = html`${panel({ ...list, action: withdrawAction ?? '', csrf: frame.csrf })}`;
  return portalPage(context, frame, { title: texts.title, body });
}

export type TokensProps = Readonly<{
  frame: PortalFrame;
  /** Posts `csrf`. */
  createAction: string;
  /** The log-in is too old to create one: where to log in again. */
  logInAgainUrl?: string;
  /** The token that was just created, and a command that uses it. It is shown once. */
  created?: Readonly<{ token: string; expiresAt: string; command: string }>;
  tokens: readonly Readonly<{ jti: string; createdAt: string; expiresAt: string; isRevoked: boolean }>[];
  /** Posts `id`, `csrf`. */
  revokeAction: string;
}>;

export function tokensPage(context: PageContext, props: TokensProps): RenderedPage {
  const { tokens: texts } = textsOf(context.language);
  const { frame, created, logInAgainUrl, createAction, revokeAction } = props;
  const { csrf } = frame;
  const { language } = context;
  const items = props.tokens.map(
    ({ jti, createdAt, expiresAt, isRevoked }): Item => ({
      id: jti,
      title: whenText(language, createdAt),
      ...(isRevoked ? { badge: texts.revoked } : {}),
      lines: [html`<code>${jti.slice(0, 8)}</code>`, whenExactly(language, expiresAt, texts.expires)],
      canEnd: !isRevoked,
    }),
  );
  const create =
    logInAgainUrl === undefined
      ? form({ action: createAction, csrf }, button(texts.create), 'small')
      : html`<div class="notice"><p>${texts.again}</p></div><p class="small"><a class="button" href="${logInAgainUrl}">${texts.logIn}</a></p>`;
  const shown =
    created !== undefined &&
    html`<section class="panel" aria-labelledby="created"><h2 id="created">${texts.createdTitle}</h2><p>${texts.createdText}</p>
${secretBox(texts.token, created.token)}<p class="soft">${whenExactly(language, created.expiresAt, texts.expires)}</p>
<details><summary>${texts.tryIt}</summary><pre tabindex="0"><code>${created.command}</code></pre></details></section>`;
  const list = { id: 'tokens', title: texts.own, none: texts.none, end: texts.revoke, items };
  const body = html`${shown}<section class="panel"><h1>${texts.title}</h1><p class="soft">${texts.lead(frame.tenant.name)}</p>${create}</section>
${panel({ ...list, action: revokeAction, csrf })}`;
  return portalPage(context, frame, { title: texts.title, body });
}
