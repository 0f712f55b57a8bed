import { defineScreen } from '../../core/screen.ts';
import { texts } from './texts.ts';

export const model = defineScreen({
  id: 'model',
  icon: 'model',
  texts,
  routes: [
    { path: '/', load: () => import('./types.tsx') },
    { path: '/relationships', load: () => import('./explorer.tsx') },
    { path: '/invitations', load: () => import('./invitations.tsx') },
    { path: '/import', load: () => import('./bulk.tsx') },
  ],
  palette: (t) => [
    { label: t.relationships, to: '/model/relationships', icon: 'link' },
    { label: t.invitations, to: '/model/invitations', icon: 'mail' },
    { label: t.bulk, to: '/model/import', icon: 'download' },
  ],
  async find(query, { api, signal }) {
    const kinds = ['actor-types', 'resource-types', 'relationship-types'] as const;
    const found = await Promise.all(
      kinds.map(async (kind) => {
        const { data } = await api.get<{ resources: string[] }>(`/${kind}`, { query: { limit: 200 }, signal });
        return data.resources.map((name) => ({ kind, name }));
      }),
    );
    return found
      .flat()
      .filter(({ name }) => name.toLowerCase().includes(query.toLowerCase()))
      .slice(0, 8)
      .map(({ kind, name }) => ({
        label: name,
        icon: 'model' as const,
        to: `/model?open=${encodeURIComponent(`${kind}/${name}`)}`,
      }));
  },
});
