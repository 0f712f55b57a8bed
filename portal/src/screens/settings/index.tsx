import { defineScreen } from '../../core/screen.ts';
import { texts } from './texts.ts';

export const settings = defineScreen({
  id: 'settings',
  icon: 'settings',
  texts,
  routes: [
    { path: '/', load: () => import('./first.tsx') },
    { path: '/members', may: 'admin', load: () => import('./members.tsx') },
    { path: '/clients', load: () => import('./clients.tsx') },
    { path: '/clients/$id', load: () => import('./client.tsx') },
    { path: '/issuers', load: () => import('./issuers.tsx') },
    { path: '/issuers/$name', load: () => import('./issuer.tsx') },
    { path: '/keys', load: () => import('./tenant/keys.tsx') },
    { path: '/pages', load: () => import('./tenant/pages.tsx') },
    { path: '/limits', load: () => import('./tenant/limits.tsx') },
    { path: '/manifests', load: () => import('./tenant/manifests.tsx') },
    { path: '/token', load: () => import('./token.tsx') },
    { path: '/audit', may: 'audit', load: () => import('./audit.tsx') },
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
    { label: t.token, to: '/settings/token', icon: 'lock' },
    { label: t.audit, to: '/settings/audit', icon: 'clock' },
  ],
});
