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

/** Where the list of each spelling goes on. */
type Onward = { typed?: string; lower?: string };

/** Ids are often names in lower case: Alice finds alice, too. Each spelling has a list of its own, which goes on by its own cursor. */
async function askById(ask: (query: Record<string, string | number | undefined>) => Promise<Answer>, search: Search) {
  const { q, role, cursor, ...page } = search;
  const lower = q.toLowerCase();
  const onward: Onward | undefined = cursor === undefined ? undefined : JSON.parse(cursor);
  const of = async (spelled: string, after: string | undefined): Promise<Answer> =>
    onward !== undefined && after === undefined
      ? { people: [] }
      : ask({ [role === 'support' ? 'id' : 'idPrefix']: spelled, ...page, cursor: after });
  const [typed, inLower] = await Promise.all([
    of(q, onward?.typed),
    lower === q ? { people: [] } : of(lower, onward?.lower),
  ]);
  const next: Onward = { typed: typed.cursor, lower: (inLower as Answer).cursor };
  const goesOn = next.typed !== undefined || next.lower !== undefined;
  return { people: [...typed.people, ...inLower.people], ...(goesOn && { cursor: JSON.stringify(next) }) };
}

/** The beginning of an id that is no address finds nobody by one. */
function noAddress(error: unknown): Answer {
  if (error instanceof ApiProblem && error.status === 400) return { people: [] };
  throw error;
}
