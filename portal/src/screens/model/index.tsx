import { defineScreen, type PaletteEntry } from '../../core/screen.ts';
import { mayDo } from '../../core/session.ts';
import { texts } from './texts.ts';

/** As the audit log and events name one: `user/alice drives car/7`. */
function relationshipOf(query: string): PaletteEntry[] {
  const [, type, id] = /^([a-z][\w-]*)\/(.+) [a-z][\w-]* [a-z][\w-]*\/.+$/i.exec(query) ?? [];
  if (type === undefined || id === undefined) return [];
  const to = `/model/relationships?type=${encodeURIComponent(type)}&id=${encodeURIComponent(id)}`;
  return [{ label: query, icon: 'link', to }];
}

export const model = defineScreen({
  id: 'model',
  icon: 'model',
  texts,
  routes: [
    { path: '/', guide: 'sharing.html#types-and-policies', load: () => import('./types.tsx') },
    { path: '/relationships', guide: 'sharing.html', load: () => import('./explorer.tsx') },
    { path: '/invitations', guide: 'sharing.html#inviting-and-accepting', load: () => import('./invitations.tsx') },
    { path: '/import', guide: 'sharing.html', load: () => import('./bulk.tsx') },
  ],
  palette: (t) => [
    { label: t.relationships, to: '/model/relationships', icon: 'link' },
    { label: t.invitations, to: '/model/invitations', icon: 'mail' },
    { label: t.bulk, to: '/model/import', icon: 'download' },
  ],
  async find(query, { tenant, api, signal }) {
    const related = mayDo(tenant.role, 'records') ? relationshipOf(query) : [];
    if (related.length > 0) return related;
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
