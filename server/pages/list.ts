/** Panels with lists of things that can be ended, each by a form of its own. */
import { button } from './form.ts';
import { type Html, html } from './html.ts';

export type Item = Readonly<{
  /** Posted as `id`. */
  id: string;
  title: string;
  badge?: string;
  lines?: readonly (Html | string)[];
  /** Another thing to do with it: a page. */
  change?: Readonly<{ url: string; text: string }>;
  /** Absent: it cannot be ended here. */
  canEnd?: boolean;
  /** What ending it is called, where that is not what the list says. */
  end?: string;
}>;

type Panel = Readonly<{
  id: string;
  title: string;
  text?: string;
  none: string;
  items: readonly Item[];
  end: string;
  /** Where `id` and `csrf` are posted to. */
  action: string;
  csrf: string;
  foot?: Html | false;
}>;

export function panel({ id, title, text, none, items, end, action, csrf, foot = false }: Panel): Html {
  return html`<section class="panel" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${text !== undefined && html`<p class="soft">${text}</p>`}
${items.length === 0 ? html`<p class="none">${none}</p>` : html`<ul class="items">${items.map((one) => item(one, { end, action, csrf }))}</ul>`}
${foot}</section>`;
}

function item(
  { id, title, badge, lines = [], change, canEnd = true, end: own }: Item,
  { end: common, action, csrf }: Pick<Panel, 'end' | 'action' | 'csrf'>,
): Html {
  const end = own ?? common;
  return html`<li><div><p class="what">${title}${badge !== undefined && html` <span class="badge">${badge}</span>`}</p>
${lines.length > 0 && html`<p class="soft">${lines.map((line, i) => html`${i > 0 && html`<span aria-hidden="true"> · </span>`}${line}`)}</p>`}</div>
${change !== undefined && html`<a class="button second" href="${change.url}" aria-label="${`${change.text}: ${title}`}">${change.text}</a>`}
${canEnd && html`<form method="post" action="${action}"><input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="id" value="${id}">${button(end, { kind: 'second', label: `${end}: ${title}` })}</form>`}</li>`;
}
