/** What depends on a library or document is compiled and tested with a change of it before anything is changed. */
import { LRUCache } from 'lru-cache';
import type { Transaction } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { Problem, type ProblemPlace, problem } from '../core/problems.ts';
import type { PolicyServices } from './actions.ts';
import { describe } from './artifacts.ts';
import { ConflictError } from './conflict.ts';
import { checkStated } from './data-subjects.ts';
import { libraryErrors } from './part-compiling.ts';
import type { DependentRow, UserRow } from './part-schema.ts';
import { readContent, readDependents, readParts, readUsers } from './part-store.ts';
import { isSamePart, type Part, type PartName, type PartSet } from './parts.ts';
import { policyProblem } from './problems.ts';
import type { ArtifactAbout } from './schema.ts';
import { allowTested, textsOf } from './tests.ts';

/** All that a change was prepared with. Nothing of it may be another when it is written. */
export type Seen = { parts: Part[]; users: UserRow[]; policies: DependentRow[] };

/** A library, and what it is to use. */
export type LibraryUses = { name: string; uses: readonly Part[] };

export type Recompiled = {
  name: string;
  number: number;
  digest: string;
  about: ArtifactAbout;
  uses: readonly Part[];
  allowTested: boolean | null;
};

export async function readSeen(database: PolicyServices['database'], tenant: string, part: PartName): Promise<Seen> {
  return database.tenantSnapshot(tenant, (tx) => seenNow(tx, tenant, part));
}

/** @throws Problem too_many_dependents before any of them is read whole */
export async function seenNow(tx: Transaction, tenant: string, part: PartName): Promise<Seen> {
  const users = await readUsers(tx, tenant, part);
  if (users.length > limits.policyDependentsMax) {
    const detail = `${part.name} is used by ${users.length} policies and libraries; with more than ${limits.policyDependentsMax} it cannot be changed.`;
    throw policyProblem('too_many_dependents', { detail });
  }
  return { users, parts: await readParts(tx, tenant), policies: await readDependents(tx, tenant, part) };
}

/** Of libraries and documents, while what uses them is compiled. */
const KEPT_BYTES = 4 * limits.policyDocumentsBytesMax;

/** The parts of a tenant with one that is not stored yet. @throws ConflictError from `content` */
export function partSetWith(
  { database }: PolicyServices,
  tenant: string,
  parts: readonly Part[],
  next: Part,
  content: string,
): PartSet {
  const kept = new LRUCache<Part, string>({
    maxSize: KEPT_BYTES,
    sizeCalculation: (_, { bytes }) => Math.max(1, bytes),
  });
  return {
    parts: [...parts.filter((one) => !isSamePart(one, next)), next],
    async content(part) {
      if (part === next) return content;
      const found = kept.get(part) ?? (await database.read(tenant, (tx) => readContent(tx, tenant, part)));
      if (found === undefined) throw new ConflictError();
      kept.set(part, found);
      return found;
    },
  };
}

/** `signal`: the client that waits has gone; absent where none waits. */
export type Checking = { dryRun?: boolean; signal?: AbortSignal };

/** @returns what throws when the client has gone, or has waited for too long */
function patience({ clock }: PolicyServices, { name }: PartName, { signal }: Checking): () => void {
  if (signal === undefined) return () => {};
  const started = clock.monotonic();
  return () => {
    if (signal.aborted) throw problem('client_closed_request');
    if (clock.monotonic() - started <= limits.policyPartCheckMsMax) return;
    const detail = `What uses ${name} could not be compiled and tested within ${limits.policyPartCheckMsMax / 1000} seconds.`;
    throw policyProblem('too_many_dependents', { detail });
  };
}

/**
 * Compiles and tests everything that uses a part. What was compiled is stored at once unless it is a dry run, because the code of
 * all would be too much to hold; nothing uses it before the change is written.
 * @param set with the part as it is to be
 * @returns the policies, and what each library that uses a library uses then
 * @throws Problem policy_part_breaks_policies naming the first that fail; too_many_dependents, client_closed_request, compiler_busy,
 *   evaluator_busy, not_ready
 */
export async function checkDependents(
  services: PolicyServices,
  tenant: string,
  part: Part,
  { seen, set }: { seen: Seen; set: PartSet },
  options: Checking = {},
): Promise<{ recompiled: Recompiled[]; libraries: LibraryUses[] }> {
  const errors: ProblemPlace[] = [];
  const libraries: LibraryUses[] = [];
  const recompiled: Recompiled[] = [];
  const checkPatience = patience(services, part, options);
  const pointer = part.kind === 'library' ? '/modules' : '/value';
  if (part.kind === 'library') {
    for (const { user_kind, user_name } of seen.users) {
      if (user_kind !== 'library') continue;
      checkPatience();
      const { errors: failed, uses } = await libraryErrors(services.artifacts.compiler, tenant, set, user_name);
      libraries.push({ name: user_name, uses });
      errors.push(...failed.map((error) => ({ pointer, detail: `library ${user_name}: ${describe(error)}` })));
    }
  }
  for (const policy of seen.policies) {
    checkPatience();
    try {
      const keeps = options.dryRun !== true && errors.length === 0;
      recompiled.push(await recompile(services, tenant, policy, { set, keeps }));
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500 || error.status === 429) throw error;
      errors.push({ pointer, detail: `policy ${policy.name}: ${error.message}` });
    }
  }
  if (errors.length > 0) {
    const told = errors.slice(0, limits.policyDependentErrorsMax);
    const more = errors.length > told.length ? [`and ${errors.length - told.length} more`] : [];
    const detail = [...told.map((error) => error.detail), ...more].join('; ');
    throw policyProblem('policy_part_breaks_policies', { detail, errors: told });
  }
  return { recompiled, libraries };
}

async function recompile(
  services: PolicyServices,
  tenant: string,
  policy: DependentRow,
  { set, keeps }: { set: PartSet; keeps: boolean },
): Promise<Recompiled> {
  const { artifacts, engine, clock } = services;
  const { name, number, effective_rego: source, drawn, tests } = policy;
  const compiled = await artifacts.compile(tenant, source, drawn ? 'graph' : 'rego', set);
  const sources = { source, uses: compiled.uses, set };
  await checkStated(policy.data_subjects ?? undefined, compiled.about.reads, sources);
  const code = compiled.code ?? (await artifacts.fetch(tenant, compiled.digest));
  if (code === undefined) throw problem('internal_error', { cause: new Error('artifact vanished') });
  const documents = await textsOf(compiled.uses, set);
  const program = { tenant, key: `${tenant}/${compiled.digest}`, code, documents };
  const { digest, about, uses } = compiled;
  const allowed = await allowTested(engine, program, tests ?? [], clock.now());
  if (keeps && compiled.code) await artifacts.keep(tenant, compiled, compiled.code);
  return { name, number, digest, about, uses, allowTested: allowed };
}
