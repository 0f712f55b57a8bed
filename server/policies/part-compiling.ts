/** Libraries as they are compiled by themselves: what they use, and whether they compile with it. */
import type { ProblemPlace } from '../core/problems.ts';
import { type Compiler, hostBuiltinNames, type RegoError } from '../rego/index.ts';
import { compilerFailed, dependenciesOf, describe, isForeign } from './artifacts.ts';
import {
  checkBytes,
  checkPackages,
  digestOf,
  isSamePart,
  modulesOf,
  outwardRefs,
  type Part,
  type PartName,
  type PartSet,
  usedParts,
} from './parts.ts';
import { policyProblem } from './problems.ts';

/**
 * A library or document with this content, as its next revision.
 * @throws Problem policy_library_invalid for a module of another package; compiler_busy
 */
export async function partOf(
  compiler: Compiler,
  tenant: string,
  name: PartName & { number: number },
  content: string,
): Promise<Part> {
  const own = name.kind === 'library' ? modulesOf(name.name, content) : [];
  const needs = own.length === 0 ? [] : await compiler.needs(tenant, own).catch(compilerFailed);
  checkPackages(name.name, needs);
  const { kind, name: called, number } = name;
  const bytes = Buffer.byteLength(content);
  return { kind, name: called, number, digest: digestOf(content), bytes, refs: outwardRefs(called, needs) };
}

/** What a library uses; a document uses nothing. @throws Problem policy_library_cycle */
function usesOfLibrary({ parts }: PartSet, { name, refs }: Part): Part[] {
  return usedParts(parts, { package: name, refs: refs as string[][] }, name);
}

/** The errors of a library, compiled with what it uses. @throws Problem policy_library_cycle, policy_libraries_too_large, compiler_busy */
export async function libraryErrors(
  compiler: Compiler,
  tenant: string,
  set: PartSet,
  name: string,
): Promise<{ uses: readonly Part[]; errors: readonly RegoError[] }> {
  const library = set.parts.find((one) => isSamePart(one, { kind: 'library', name })) as Part;
  const uses = usesOfLibrary(set, library);
  checkBytes([library, ...uses]);
  const dependencies = dependenciesOf(uses, set);
  const own = modulesOf(name, await set.content(library));
  const checked = await compiler
    .check(tenant, own, {
      builtins: hostBuiltinNames,
      libraries: await dependencies.libraries(),
      data: dependencies.data,
    })
    .catch(compilerFailed);
  return { uses, errors: checked.ok ? [] : checked.errors };
}

/**
 * @returns what the library uses
 * @throws Problem policy_library_invalid with module, line and column; policy_reference_unknown, policy_library_cycle,
 *   policy_libraries_too_large, compiler_busy
 */
export async function checkLibrary(
  compiler: Compiler,
  tenant: string,
  set: PartSet,
  library: Part,
): Promise<readonly Part[]> {
  const { uses, errors } = await libraryErrors(compiler, tenant, set, library.name);
  if (errors.length === 0) return uses;
  const own = modulesOf(library.name, await set.content(library));
  throw policyProblem(errors.every(isForeign) ? 'policy_reference_unknown' : 'policy_library_invalid', {
    detail: errors.map(describe).join('; '),
    errors: errors.map((error): ProblemPlace => {
      const index = own.findIndex(({ name }) => name === error.file);
      if (index < 0) return { pointer: '/modules', detail: describe(error) };
      return { pointer: `/modules/${index}/rego`, detail: error.message, line: error.row, column: error.col };
    }),
  });
}
