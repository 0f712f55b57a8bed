import { defineScreen } from '../../core/screen.ts';
import { texts } from './texts.ts';

export const settings = defineScreen({
  id: 'settings',
  icon: 'settings',
  texts,
  routes: [
    { path: '/', guide: 'portal.html', load: () => import('./first.tsx') },
    { path: '/members', guide: 'members.html', may: 'admin', load: () => import('./members.tsx') },
    { path: '/clients', guide: 'clients.html', load: () => import('./clients.tsx') },
    { path: '/clients/$id', guide: 'clients.html', load: () => import('./client.tsx') },
    { path: '/issuers', guide: 'issuers.html', load: () => import('./issuers.tsx') },
    { path: '/issuers/$name', guide: 'issuers.html#does-a-token-work', load: () => import('./issuer.tsx') },
    { path: '/keys', guide: 'keys.html', load: () => import('./tenant/keys.tsx') },
    { path: '/pages', guide: 'pages.html', load: () => import('./tenant/pages.tsx') },
    { path: '/limits', guide: 'calling.html#quotas', load: () => import('./tenant/limits.tsx') },
    { path: '/manifests', guide: 'resources.html', load: () => import('./tenant/manifests.tsx') },
    { path: '/token', guide: 'members.html#the-portal', load: () => import('./token.tsx') },
    { path: '/audit', guide: 'audit.html', may: 'audit', load: () => import('./audit.tsx') },
  ],
  palette: (t) => [
    { label: t.members, to: '/settings/members', icon: 'people' },
    { label: t.invite, to: '/settings/members', icon: 'plus', may: 'admin' },
    { label: t.clients, to: '/settings/clients' },
    { label: t.issuers, to: '/settings/issuers' },
    { label: t.keys, to: '/settings/keys' },
    { label: t.pages, to: '/settings/pages' },
    { label: t.limits, to: '/settings/limits' },
    { label: t.manifests, to: '/settings/manifests' },
    { label: t.token, hint: t.tokenHint, to: '/settings/token', icon: 'lock' },
    { label: t.audit, to: '/settings/audit', icon: 'clock' },
  ],
});
