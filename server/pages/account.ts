/** A person's own page: what they share, what they agreed to, and how they log in, each with a form to end it. */
import type { Device } from '../http/device.ts';
import { changePasswordPanel, type PasswordProps } from './account-password.ts';
import { type ScopeAsked, scopeText } from './consent.ts';
import { button, errorSummary, fact, form, hasErrors, notice } from './form.ts';
import { type Html, html } from './html.ts';
import { textsOf } from './language.ts';
import { type PageContext, page, type RenderedPage } from './layout.ts';
import { type Item, panel } from './list.ts';
import type { Texts } from './texts/texts.ts';
import { when, whenExactly } from './when.ts';

/** A list that is shown. Absent: the tenant does not have it. Its action gets `id`, `csrf`. */
type Section<T> = Readonly<{ action: string; items: readonly Readonly<T>[] }>;

export type AccountNotice = keyof Texts['account']['notices'];

export type AccountProps = Readonly<{
  csrf: string;
  account: Readonly<{ email: string; emailVerified: boolean; displayName?: string }>;
  /** Where the name is changed. */
  nameUrl?: string;
  /** Where the sharing page is, if the tenant has it. */
  sharingUrl?: string;
  notice?: AccountNotice;
  logOutAction: string;
  /** `with` is whom it is shared with, `what` the thing, `as` the type of the relationship. `isInvited`: nobody has accepted it yet. */
  shares?: Section<{
    id: string;
    with: string;
    what: string;
    as?: string;
    since: string;
    until?: string;
    isInvited?: boolean;
    canEnd?: boolean;
  }>;
  /** What the person has itself. */
  relationships?: Section<{ id: string; what: string; as: string; until?: string; canEnd: boolean }>;
  consents?: Section<{ id: string; name: string; version: string; since: string; textUrl?: string }>;
  clients?: Section<{ id: string; name: string; scopes: readonly ScopeAsked[]; since: string }>;
  sessions: Section<{ id: string; device: Device; since: string; lastUsed?: string; isCurrent: boolean }> &
    Readonly<{ endOthersAction?: string }>;
  /** Without `addUrl`, the browser takes none for this address. */
  passkeys?: Section<{ id: string; name: string; since: string; lastUsed?: string; renameUrl?: string }> &
    Readonly<{ addUrl?: string }>;
  logIns?: Section<{ id: string; name: string; since: string }> &
    /** Posts `upstream` = its id, `csrf`. */
    Readonly<{ available: readonly Readonly<{ id: string; name: string }>[]; linkAction: string }>;
  /** Posts `currentPassword`, `password`, `csrf`. */
  password?: PasswordProps;
}>;

export function accountPage(context: PageContext, props: AccountProps): RenderedPage {
  const texts = textsOf(context.language);
  const { account } = texts;
  const { csrf, password, logOutAction } = props;
  const errors = password !== undefined && 'errors' in password ? password.errors : undefined;
  const isWrong = hasErrors(errors);
  const told = props.notice && notice(account.notices[props.notice], bad.has(props.notice) ? 'bad' : 'good');
  const body = html`${errorSummary(texts, errors)}${!isWrong && told}
<h1>${account.title}</h1>${details(texts, props)}
${props.sharingUrl !== undefined && html`<p><a href="${props.sharingUrl}">${account.sharing}</a></p>`}
${shares(context, props)}${relationships(context, props)}${consents(context, props)}${clients(context, props)}${sessions(context, props)}${passkeys(context, props)}${logIns(context, props)}
${password !== undefined && changePasswordPanel(texts, password, { csrf, email: props.account.email })}`;
  const navigation = form({ action: logOutAction, csrf }, button(account.logOut, { kind: 'second' }), 'small');
  return page(context, { title: account.title, body, wide: true, navigation, hasError: isWrong });
}

/** What a page may be asked to say, by the word in its address; undefined for any other. */
export function accountNoticeOf(word: unknown): AccountNotice | undefined {
  const known = textsOf('en').account.notices;
  return typeof word === 'string' && Object.hasOwn(known, word) ? (word as AccountNotice) : undefined;
}

const bad: ReadonlySet<AccountNotice> = new Set<AccountNotice>(['last_way', 'link_failed', 'link_taken', 'gone']);

function details({ account: texts, naming }: Texts, { account, nameUrl }: AccountProps): Html {
  const state = account.emailVerified ? texts.verified : texts.unverified;
  return html`<dl class="facts">${fact(texts.displayName, account.displayName ?? (nameUrl === undefined ? undefined : '–'))}
${fact(texts.email, html`${account.email} <span class="badge ${account.emailVerified ? 'good' : ''}">${state}</span>`)}</dl>
${nameUrl !== undefined && html`<p><a href="${nameUrl}">${naming.changeOwn}</a></p>`}`;
}

function shares({ language }: PageContext, { shares: of, csrf }: AccountProps): Html | false {
  const { shares: texts, since, until } = textsOf(language).account;
  if (of === undefined) return false;
  const items = of.items.map((one): Item => {
    const { isInvited = false } = one;
    const ends = one.until === undefined ? [] : [when(language, one.until, isInvited ? texts.open : until)];
    return {
      id: one.id,
      title: `${one.what} → ${one.with}`,
      ...(isInvited ? { badge: texts.invited, end: texts.withdraw } : {}),
      lines: [...(one.as ? [one.as] : []), when(language, one.since, isInvited ? texts.sent : since), ...ends],
      canEnd: one.canEnd ?? true,
    };
  });
  return panel({ ...texts, id: 'shares', items, action: of.action, csrf });
}

function relationships({ language }: PageContext, { relationships: of, csrf }: AccountProps): Html | false {
  const { relationships: texts, until } = textsOf(language).account;
  if (of === undefined) return false;
  const items = of.items.map(
    (one): Item => ({
      ...{ id: one.id, title: one.what, canEnd: one.canEnd },
      lines: [one.as, ...(one.until === undefined ? [] : [when(language, one.until, until)])],
    }),
  );
  return panel({ ...texts, id: 'relationships', items, action: of.action, csrf });
}

function consents({ language }: PageContext, { consents: of, csrf }: AccountProps): Html | false {
  const { consents: texts, since } = textsOf(language).account;
  if (of === undefined) return false;
  const items = of.items.map(
    (one): Item => ({
      id: one.id,
      title: one.name,
      lines: [
        texts.version(one.version),
        when(language, one.since, since),
        one.textUrl ? html`<a href="${one.textUrl}">${texts.read}</a>` : texts.noText,
      ],
    }),
  );
  return panel({ ...texts, id: 'consents', items, action: of.action, csrf });
}

function clients({ language }: PageContext, { clients: of, csrf }: AccountProps): Html | false {
  const texts = textsOf(language);
  if (of === undefined) return false;
  const items = of.items.map(
    (one): Item => ({
      id: one.id,
      title: one.name,
      lines: [...one.scopes.map((scope) => scopeText(texts, scope)), when(language, one.since, texts.account.since)],
    }),
  );
  return panel({ ...texts.account.clients, id: 'clients', items, action: of.action, csrf });
}

function sessions({ language }: PageContext, { sessions: of, csrf }: AccountProps): Html {
  const { sessions: texts, since, lastUsed } = textsOf(language).account;
  const items = of.items.map(
    (one): Item => ({
      id: one.id,
      title: texts.device(one.device.browser, one.device.system),
      ...(one.isCurrent ? { badge: texts.current } : {}),
      lines: [
        whenExactly(language, one.since, since),
        ...(one.lastUsed ? [whenExactly(language, one.lastUsed, lastUsed)] : []),
      ],
      canEnd: !one.isCurrent,
    }),
  );
  const others = of.endOthersAction !== undefined && of.items.some((one) => !one.isCurrent);
  const foot =
    others &&
    form({ action: of.endOthersAction as string, csrf }, button(texts.endOthers, { kind: 'second' }), 'small');
  return panel({ ...texts, id: 'sessions', items, action: of.action, csrf, foot });
}

function passkeys({ language }: PageContext, { passkeys: of, csrf }: AccountProps): Html | false {
  const { account, naming } = textsOf(language);
  const { passkeys: texts, added, lastUsed } = account;
  if (of === undefined) return false;
  const items = of.items.map(
    (one): Item => ({
      id: one.id,
      title: one.name,
      lines: [when(language, one.since, added), ...(one.lastUsed ? [when(language, one.lastUsed, lastUsed)] : [])],
      ...(one.renameUrl === undefined ? {} : { change: { url: one.renameUrl, text: naming.rename } }),
    }),
  );
  const foot =
    of.addUrl !== undefined && html`<p class="small"><a class="button second" href="${of.addUrl}">${texts.add}</a></p>`;
  return panel({ ...texts, id: 'passkeys', items, action: of.action, csrf, foot });
}

function logIns({ language }: PageContext, { logIns: of, csrf }: AccountProps): Html | false {
  const { logIns: texts, since } = textsOf(language).account;
  if (of === undefined) return false;
  const items = of.items.map(
    (one): Item => ({ id: one.id, title: one.name, lines: [when(language, one.since, since)] }),
  );
  const adds = of.available.map(({ id, name }) =>
    button(texts.add(name), { kind: 'second', name: 'upstream', value: id }),
  );
  const foot = adds.length > 0 && form({ action: of.linkAction, csrf }, html`${adds}`, 'small');
  return panel({ ...texts, id: 'log-ins', items, action: of.action, csrf, foot });
}
