import { segment } from '../../core/api.ts';
import { defineScreen } from '../../core/screen.ts';
import { mayDo } from '../../core/session.ts';
import { findPeople } from './find.ts';
import { texts } from './texts.ts';

export const people = defineScreen({
  id: 'people',
  icon: 'people',
  texts,
  routes: [
    { path: '/', guide: 'portal.html', load: () => import('./first.tsx') },
    { path: '/$type/$id', guide: 'erasure.html', load: () => import('./person.tsx') },
  ],
  palette: (t) => [{ label: t.eraseSomebody, icon: 'trash', to: '/people', may: 'admin' }],
  async find(query, { tenant, api, signal }) {
    if (query.length < 2 || !mayDo(tenant.role, 'records')) return [];
    const { people } = await findPeople(api, { q: query, role: tenant.role, limit: 5 }, signal);
    return people.slice(0, 5).map(({ type, id }) => ({
      label: `${type}/${id}`,
      icon: 'person' as const,
      to: `/people/${segment(type)}/${segment(id)}`,
    }));
  },
});
