/** What depends on a library or document is compiled and tested with a change of it before anything is changed. */
import { LRUCache } from 'lru-cache';
import type { Transaction } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { Problem, type ProblemPlace, problem } from '../core/problems.ts';
import { hostBuiltinNames, type PackedCode, packCode, type RegoError } from '../rego/index.ts';
import type { PolicyServices } from './actions.ts';
import { besideOf, compilerFailed, describe } from './artifacts.ts';
import { checkStated } from './data-subjects.ts';
import { Moved } from './moved.ts';
import type { DependentRow, UserRow } from './part-schema.ts';
import { readContent, readDependents, readParts, readUsers } from './part-store.ts';
import { isSamePart, modulesOf, type Part, type PartName, type PartSet, usedParts } from './parts.ts';
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
  packed: PackedCode | undefined;
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

/** The parts of a tenant with one that is not stored yet. @throws Moved from `content` */
export function setWith(
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
      if (found === undefined) throw new Moved();
      kept.set(part, found);
      return found;
    },
  };
}

/**
 * Compiles and tests everything that uses a part.
 * @param set with the part as it is to be
 * @returns the policies, and what each library that uses a library uses then
 * @throws Problem policy_part_breaks_policies naming the first that fail; compiler_busy, evaluator_busy, not_ready
 */
export async function checkDependents(
  services: PolicyServices,
  tenant: string,
  part: Part,
  { seen, set }: { seen: Seen; set: PartSet },
): Promise<{ recompiled: Recompiled[]; libraries: LibraryUses[] }> {
  const errors: ProblemPlace[] = [];
  const libraries: LibraryUses[] = [];
  const recompiled: Recompiled[] = [];
  const pointer = part.kind === 'library' ? '/modules' : '/value';
  if (part.kind === 'library') {
    for (const { user_kind, user_name } of seen.users) {
      if (user_kind !== 'library') continue;
      const { errors: failed, uses } = await checkLibrary(services, tenant, set, user_name);
      libraries.push({ name: user_name, uses });
      errors.push(...failed.map((error) => ({ pointer, detail: `library ${user_name}: ${describe(error)}` })));
    }
  }
  for (const policy of seen.policies) {
    try {
      recompiled.push(await recompile(services, tenant, policy, set));
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
  set: PartSet,
): Promise<Recompiled> {
  const { artifacts, engine, clock } = services;
  const { name, number, effective_rego: source, drawn, tests } = policy;
  const compiled = await artifacts.compile(tenant, source, drawn ? 'graph' : 'rego', set);
  checkStated(policy.data_subjects === null ? undefined : policy.data_subjects, compiled.about.reads);
  const code = compiled.code ?? (await artifacts.fetch(tenant, compiled.digest));
  if (code === undefined) throw problem('internal_error', { cause: new Error('artifact vanished') });
  const documents = await textsOf(compiled.uses, set);
  const program = { tenant, key: `${tenant}/${compiled.digest}`, code, documents };
  const { digest, about, uses } = compiled;
  return {
    ...{ name, number, digest, about, uses, packed: compiled.code && packCode(compiled.code) },
    allowTested: await allowTested(engine, program, tests ?? [], clock.now()),
  };
}

/** What a library uses, and its errors beside it. */
export async function checkLibrary(
  { artifacts }: Pick<PolicyServices, 'artifacts'>,
  tenant: string,
  set: PartSet,
  name: string,
): Promise<{ uses: readonly Part[]; errors: readonly RegoError[] }> {
  const library = set.parts.find((one) => isSamePart(one, { kind: 'library', name })) as Part;
  const uses = usedParts(set.parts, { package: name, refs: library.refs as string[][] }, name);
  const beside = besideOf(uses, set);
  const own = modulesOf(name, await set.content(library));
  const checked = await artifacts.compiler
    .check(tenant, own, { builtins: hostBuiltinNames, libraries: await beside.libraries(), data: beside.data })
    .catch(compilerFailed);
  return { uses, errors: checked.ok ? [] : checked.errors };
}
