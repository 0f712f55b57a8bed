/**
 * The choice of candidates: what relationships lead to, when nothing else can be allowed, or all entities of the type.
 * Both come in the order of ids, so that a search goes on by the other when the policy was changed between two pages.
 */
import type { Database } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import type { PolicyEntry } from '../policies/index.ts';
import {
  type EntitiesPage,
  entitiesPage,
  type Head,
  type InnerStep,
  reachedPage,
  readInner,
  stepsOf,
} from '../relationships/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import { type Root, rootsOf } from './candidates.ts';
import type { EntitySearch } from './schema.ts';

/** The next so many ids after one. */
export type Enumerate = (after: string, count: number) => Promise<string[]>;

/** No entity has it: ids have no control characters. */
const PROBE_ID = '\u0001';

/**
 * How the candidates of a search are listed.
 * @param mayBeAllowed whether the decision about one entity of the type is an allow, or could not be made
 * @param now ms
 */
export function enumerationOf(
  database: Pick<Database, 'read'>,
  { tenant, types }: TenantSnapshot,
  policy: PolicyEntry,
  { vary, type, request }: EntitySearch,
  { mayBeAllowed, now }: { mayBeAllowed: (id: string) => Promise<boolean>; now: number },
): Enumerate {
  const at = new Date(now).toISOString();
  const pageOf = (after: string, count: number): EntitiesPage => ({ tenant, type, after, count, now: at });
  const everything: Enumerate = (after, count) => database.read(tenant, (tx) => entitiesPage(tx, pageOf(after, count)));
  const { id, type: knownType } = request[vary === 'subject' ? 'resource' : 'subject'] ?? {};
  const known = {
    ...(typeof id === 'string' ? { id } : {}),
    ...(typeof knownType === 'string' ? { type: knownType } : {}),
  };
  const roots = rootsOf(policy, types, { vary, type, known });
  if (roots === undefined) return everything;
  const start = vary === 'resource' ? 'from' : 'to';
  let heads: Head[] | 'many' | undefined;
  const reached: Enumerate = async (after, count) => {
    heads ??= await headsOf(database, { tenant, now: at }, start, roots);
    if (heads === 'many') return everything(after, count);
    const from = heads;
    if (from.length === 0) return [];
    return database.read(tenant, (tx) => reachedPage(tx, pageOf(after, count), start, from));
  };
  let isOpen: Promise<boolean> | undefined;
  return async (after, count) => {
    isOpen ??= mayBeAllowed(PROBE_ID);
    const [open, ids] = await Promise.all([isOpen, reached(after, count)]);
    return open ? everything(after, count) : ids;
  };
}

/** Whose relationships are the last on the paths: the roots themselves, and what they reach. */
async function headsOf(
  database: Pick<Database, 'read'>,
  page: Pick<EntitiesPage, 'tenant' | 'now'>,
  start: 'from' | 'to',
  roots: readonly Root[],
): Promise<Head[] | 'many'> {
  const steps = roots.map(({ pattern }) => stepsOf(pattern, start));
  const inner: InnerStep[] = steps.flatMap((list, root) =>
    list.filter((one) => one.inner).map((one) => ({ root, ...one })),
  );
  const reached =
    inner.length === 0 ? [] : await database.read(page.tenant, (tx) => readInner(tx, page, start, roots, inner));
  if (reached.length > limits.searchHeadsMax) return 'many';
  const places = [...roots.map(({ type, id }, root) => ({ root, key: '', type, id })), ...reached];
  const heads = new Map<string, Head>();
  for (const { root, key, type, id } of places) {
    for (const step of steps[root] ?? []) {
      if (!step.last || step.after !== key) continue;
      heads.set(JSON.stringify([type, id, step.name]), { type, id, name: step.name });
    }
  }
  return heads.size > limits.searchHeadsMax ? 'many' : [...heads.values()];
}
