import { segment } from '../../core/api.ts';
import { defineScreen } from '../../core/screen.ts';
import { mayDo } from '../../core/session.ts';
import { texts } from './texts.ts';

export const people = defineScreen({
  id: 'people',
  icon: 'people',
  texts,
  routes: [
    { path: '/', load: () => import('./first.tsx') },
    { path: '/$type/$id', load: () => import('./person.tsx') },
  ],
  async find(query, { tenant, api, signal }) {
    if (query.length < 2 || !mayDo(tenant.role, 'records')) return [];
    const by = query.includes('@') ? 'email' : tenant.role === 'support' ? 'id' : 'idPrefix';
    if (by === 'email' && tenant.role === 'support') return [];
    const { data } = await api.get<{ people: { type: string; id: string }[] }>('/people', {
      query: { [by]: query, limit: 5 },
      signal,
    });
    return data.people.map(({ type, id }) => ({
      label: `${type}/${id}`,
      icon: 'person' as const,
      to: `/people/${segment(type)}/${segment(id)}`,
    }));
  },
});
