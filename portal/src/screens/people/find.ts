/** Finding people by what was typed: the beginning of an id, or a whole address. Ids may look like addresses, so both are asked for. */
import type { TenantApi } from '../../core/api.ts';
import { ApiProblem } from '../../core/problem.ts';
import type { Role } from '../../core/session.ts';
import type { Found } from './shapes.ts';

type Search = { q: string; type?: string; role: Role; limit: number; cursor?: string };
type Answer = { people: Found[]; cursor?: string };

/** How the API is asked. Support finds people by the whole id alone. */
export const searchBy = (role: Role, q: string) => (role === 'support' ? 'id' : /.@./.test(q) ? 'email' : 'idPrefix');

const keyOf = ({ type, id }: Found) => `${type}/${id}`;

export async function findPeople(api: TenantApi, { q, role, ...page }: Search, signal: AbortSignal): Promise<Answer> {
  const ask = async (query: Record<string, string | number | undefined>) =>
    (await api.get<Answer>('/people', { query, signal })).data;
  const byId = askById(ask, { q, role, ...page });
  if (searchBy(role, q) !== 'email' || page.cursor !== undefined) return byId;
  const { type, limit } = page;
  const [found, { people, ...onward }] = await Promise.all([ask({ email: q, type, limit }).catch(noAddress), byId]);
  const known = new Set(found.people.map(keyOf));
  return { people: [...found.people, ...people.filter((one) => !known.has(keyOf(one)))], ...onward };
}

/** Ids are often names in lower case: Alice finds alice, too. */
async function askById(ask: (query: Record<string, string | number | undefined>) => Promise<Answer>, search: Search) {
  const { q, role, ...page } = search;
  if (role === 'support') return ask({ id: q, ...page });
  const lower = q.toLowerCase();
  if (lower === q || page.cursor !== undefined) return ask({ idPrefix: q, ...page });
  const [asTyped, inLower] = await Promise.all([ask({ idPrefix: q, ...page }), ask({ idPrefix: lower, ...page })]);
  // A list that goes on is of what was typed: its cursor is.
  return asTyped.cursor === undefined && asTyped.people.length === 0
    ? { people: inLower.people }
    : { ...asTyped, people: [...asTyped.people, ...inLower.people] };
}

/** The beginning of an id that is no address finds nobody by one. */
function noAddress(error: unknown): Answer {
  if (error instanceof ApiProblem && error.status === 400) return { people: [] };
  throw error;
}
