import { defineScreen } from '../../core/screen.ts';
import { pageOfDefinition } from './shapes.ts';
import { texts } from './texts.ts';

export const consents = defineScreen({
  id: 'consents',
  icon: 'consents',
  texts,
  routes: [
    { path: '/', guide: 'consents.html', load: () => import('./first.tsx') },
    {
      path: '/given',
      guide: 'consents.html#for-users-and-back-ends',
      may: 'records',
      load: () => import('./given.tsx'),
    },
    { path: '/ledger', guide: 'ledger.html', may: 'records', load: () => import('./ledger.tsx') },
    { path: '/$name', guide: 'consents.html#definitions-versions-documents', load: () => import('./definition.tsx') },
    {
      path: '/definitions/$name',
      guide: 'consents.html#definitions-versions-documents',
      load: () => import('./definition.tsx'),
    },
  ],
  palette: (t) => [
    { label: t.newDefinition, to: '/consents?new=1', may: 'edit', icon: 'plus' },
    { label: t.given, to: '/consents/given', icon: 'people' },
    { label: t.ledger, to: '/consents/ledger', icon: 'consents' },
  ],
  find: async (query, { api, signal }) => {
    const { data } = await api.get<{ resources: string[] }>('/consent-definitions', { query: { limit: 200 }, signal });
    return data.resources
      .filter((name) => name.toLowerCase().includes(query.toLowerCase()))
      .slice(0, 8)
      .map((name) => ({ label: name, icon: 'consents' as const, to: pageOfDefinition(name) }));
  },
});
