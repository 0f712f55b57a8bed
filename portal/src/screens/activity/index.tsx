import { segment } from '../../core/api.ts';
import { defineScreen } from '../../core/screen.ts';
import { texts } from './texts.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const activity = defineScreen({
  id: 'activity',
  icon: 'activity',
  texts,
  routes: [
    { path: '/', load: () => import('./decisions.tsx') },
    { path: '/events', may: 'edit', load: () => import('./events.tsx') },
    { path: '/subscriptions', load: () => import('./subscriptions.tsx') },
    { path: '/subscriptions/$id', load: () => import('./subscription.tsx') },
    { path: '/mail', load: () => import('./mail.tsx') },
    { path: '/templates', load: () => import('./templates.tsx') },
    { path: '/templates/$name/$language', load: () => import('./template.tsx') },
    { path: '/query', load: () => import('./query.tsx') },
  ],
  /** A decision's id opens the decision in its policy. */
  async find(query, { api, signal }) {
    if (!uuid.test(query)) return [];
    const path = `/decisions/${segment(query)}/explain`;
    const { data } = await api.post<{ decision: { action?: string } }>(path, { signal });
    const { action } = data.decision;
    return action === undefined
      ? []
      : [{ label: query, hint: action, to: `/policies/${segment(action)}?decision=${segment(query)}` }];
  },
  palette: (t) => [
    { label: t.decisions, to: '/activity' },
    { label: t.events, to: '/activity/events' },
    { label: t.subscriptions, to: '/activity/subscriptions' },
    { label: t.mail, to: '/activity/mail', icon: 'mail' },
    { label: t.templates, to: '/activity/templates', icon: 'mail' },
    { label: t.query, to: '/activity/query', icon: 'code' },
  ],
});
