import { defineScreen } from '../../core/screen.ts';
import { texts } from './texts.ts';

export const policies = defineScreen({
  id: 'policies',
  icon: 'policies',
  texts,
  routes: [
    { path: '/', guide: 'policies.html', load: () => import('./first.tsx') },
    { path: '/$name', guide: 'policies.html', load: () => import('./policy.tsx') },
    { path: '/$name/revisions', guide: 'policies.html#replaying-decisions', load: () => import('./revisions.tsx') },
  ],
  palette: (t) => [{ label: t.newPolicy, icon: 'plus', to: '/policies?new=1', may: 'edit' }],
  find: async (query, { api, signal }) => {
    const { data } = await api.get<{ resources: string[] }>('/policies', { query: { q: query, limit: 8 }, signal });
    return data.resources.map((name) => ({
      ...{ label: name, icon: 'policies' as const },
      to: `/policies/${encodeURIComponent(name)}`,
    }));
  },
});
