import { segment } from '../../core/api.ts';
import { defineScreen } from '../../core/screen.ts';
import { mayDo } from '../../core/session.ts';
import { texts } from './texts.ts';

/**
 * A UUID, a number, or whatever a caller called its request: a word alone that has a digit, and is too long to be one that is still being
 * typed. Each question looks through the logs, and that of support is audited.
 */
const isId = (text: string) => /^(?:\d{1,19}|(?=[\x21-\x7e]*\d)[\x21-\x7e]{8,128})$/.test(text);

export const activity = defineScreen({
  id: 'activity',
  icon: 'activity',
  texts,
  routes: [
    { path: '/', guide: 'explain.html#a-decision-of-the-log', load: () => import('./decisions.tsx') },
    { path: '/events', guide: 'events.html', may: 'edit', load: () => import('./events.tsx') },
    { path: '/subscriptions', guide: 'events.html#subscriptions', load: () => import('./subscriptions.tsx') },
    {
      path: '/subscriptions/$id',
      guide: 'events.html#deliveries-and-replays',
      load: () => import('./subscription.tsx'),
    },
    { path: '/mail', guide: 'mail.html', may: 'records', load: () => import('./mail.tsx') },
    { path: '/templates', guide: 'mail.html#templates', load: () => import('./templates.tsx') },
    { path: '/templates/$name/$language', guide: 'mail.html#templates', load: () => import('./template.tsx') },
    { path: '/query', guide: 'graphql.html', load: () => import('./query.tsx') },
    { path: '/found', guide: 'portal.html', may: 'records', load: () => import('./found.tsx') },
  ],
  /** A pasted id opens what has it; that of a request, all that it made. */
  async find(query, { tenant, api, signal }) {
    if (!isId(query) || !mayDo(tenant.role, 'records')) return [];
    const { lookUp, placeOf } = await import('./lookup.ts');
    const found = await lookUp(api, query, signal);
    const each = found.slice(0, 8).map((one) => ({
      label: [one.what, one.action ?? one.name ?? one.objectKind].filter(Boolean).join(' '),
      hint: query,
      to: one.id === query ? placeOf(one, tenant.role) : `/activity/found?id=${segment(query)}`,
    }));
    // Of one record there is nothing more to see.
    const isOne = found.every((one) => one.id === query);
    return isOne ? each : [{ label: query, to: `/activity/found?id=${segment(query)}` }, ...each];
  },
  palette: (t) => [
    { label: t.decisions, to: '/activity' },
    { label: t.events, to: '/activity/events' },
    { label: t.subscriptions, to: '/activity/subscriptions' },
    { label: t.mail, to: '/activity/mail', icon: 'mail' },
    { label: t.templates, to: '/activity/templates', icon: 'mail' },
    { label: t.found, to: '/activity/found' },
    { label: t.query, to: '/activity/query', icon: 'code' },
  ],
});
