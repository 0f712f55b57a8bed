/** What depends on a library or document is compiled and tested with a change of it before anything is changed. */
import { Problem, type ProblemPlace, problem } from '../core/problems.ts';
import { hostBuiltinNames, type PackedCode, packCode } from '../rego/index.ts';
import type { PolicyServices } from './actions.ts';
import { besideOf, compilerFailed, describe } from './artifacts.ts';
import { checkStated } from './data-subjects.ts';
import type { DependentRow, UserRow } from './part-schema.ts';
import { readContent, readDependents, readParts, readUsers } from './part-store.ts';
import { isSamePart, modulesOf, type Part, type PartName, type PartSet, usedParts } from './parts.ts';
import { policyProblem } from './problems.ts';
import type { ArtifactAbout } from './schema.ts';
import { allowTested, textsOf } from './tests.ts';

/** All that a change was prepared with. Nothing of it may be another when it is written. */
export type Seen = { parts: Part[]; users: UserRow[]; policies: DependentRow[] };

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
  return database.tenantSnapshot(tenant, async (tx) => ({
    parts: await readParts(tx, tenant),
    users: await readUsers(tx, tenant, part),
    policies: await readDependents(tx, tenant, part),
  }));
}

/** The parts of a tenant with one that is not stored yet. */
export function setWith(
  { database }: PolicyServices,
  tenant: string,
  parts: readonly Part[],
  next: Part,
  content: string,
): PartSet {
  return {
    parts: [...parts.filter((one) => !isSamePart(one, next)), next],
    async content(part) {
      if (part === next) return content;
      const found = await database.read(tenant, (tx) => readContent(tx, tenant, part));
      if (found === undefined) throw problem('internal_error', { cause: new Error(`${part.name} vanished`) });
      return found;
    },
  };
}

/**
 * Compiles and tests everything that uses a part.
 * @param set with the part as it is to be
 * @throws Problem policy_part_breaks_policies naming each that fails; compiler_busy, evaluator_busy, not_ready
 */
export async function checkDependents(
  services: PolicyServices,
  tenant: string,
  part: Part,
  { seen, set }: { seen: Seen; set: PartSet },
): Promise<Recompiled[]> {
  const errors: ProblemPlace[] = [];
  const recompiled: Recompiled[] = [];
  const pointer = part.kind === 'library' ? '/modules' : '/value';
  if (part.kind === 'library') {
    for (const { user_kind, user_name } of seen.users) {
      if (user_kind !== 'library') continue;
      const failed = await checkLibrary(services, tenant, set, user_name);
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
    const detail = errors.map((error) => error.detail).join('; ');
    throw policyProblem('policy_part_breaks_policies', { detail, errors });
  }
  return recompiled;
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

/** The errors of a library beside those that it uses. */
export async function checkLibrary(
  { artifacts }: Pick<PolicyServices, 'artifacts'>,
  tenant: string,
  set: PartSet,
  name: string,
) {
  const library = set.parts.find((one) => isSamePart(one, { kind: 'library', name })) as Part;
  const uses = usedParts(set.parts, { package: name, refs: library.refs as string[][] }, name);
  const beside = besideOf(uses, set);
  const own = modulesOf(name, await set.content(library));
  const checked = await artifacts.compiler
    .check(tenant, own, { builtins: hostBuiltinNames, libraries: await beside.libraries(), data: beside.data })
    .catch(compilerFailed);
  return checked.ok ? [] : checked.errors;
}
