/**
 * The rules of libraries and data documents, pure: names, what must not overlap, which of them a source uses. A library is
 * known by its package (a.b), a document by its path (a/b); both stand below data, where no two of them meet.
 */
import { createHash } from 'node:crypto';
import { patterns, unstorable } from '../../crds/index.ts';
import { isObject } from '../../crds/values.ts';
import { limits } from '../core/limits.ts';
import type { ProblemPlace } from '../core/problems.ts';
import type { LibraryModule, ModuleNeeds } from '../rego/index.ts';
import { policyProblem } from './problems.ts';

export type PartKind = 'library' | 'data';
export type PartName = { readonly kind: PartKind; readonly name: string };
export type PartRevision = PartName & { readonly number: number };
/** What compiling has to know of a library or document. */
export type Part = PartRevision & {
  readonly digest: string;
  /** Of its content in UTF-8. */
  readonly bytes: number;
  readonly refs: readonly string[][];
};

type NamedModule = { name: string; rego: string };
export type PartBody = { kind: 'library'; modules: NamedModule[] } | { kind: 'data'; value: Record<string, unknown> };

/** The parts of a tenant as something is compiled with them. @param content what policy_part_revision holds */
export type PartSet = { readonly parts: readonly Part[]; content(part: Part): Promise<string> };

export const noParts: PartSet = { parts: [], content: () => Promise.reject(new Error('there are no parts')) };

const NAMES = {
  library: new RegExp(patterns.regoPackage.source, 'u'),
  data: new RegExp(patterns.dataPath.source, 'u'),
};
const RESERVED = new Set(['system', 'accord', 'data', 'input']);
const words = { library: 'library', data: 'data document' };

/** @throws Problem policy_part_name_invalid */
export function checkPartName({ kind, name }: PartName): void {
  const [first = ''] = segmentsOf({ kind, name });
  const refuse = (detail: string) => {
    const pointer = kind === 'library' ? '/params/package' : '/params/path';
    throw policyProblem('policy_part_name_invalid', { detail, errors: [{ pointer, detail }] });
  };
  if (!NAMES[kind].test(name) || name.length > limits.policyPartNameCharsMax)
    refuse(`${name.slice(0, 100)} must be ${patterns[kind === 'library' ? 'regoPackage' : 'dataPath'].words}.`);
  if (RESERVED.has(first)) refuse(`${name} is reserved: the first part must not be ${[...RESERVED].join(', ')}.`);
}

/** Where it stands below data. */
function segmentsOf({ kind, name }: PartName): string[] {
  return name.split(kind === 'library' ? '.' : '/');
}

function begins(path: readonly string[], prefix: readonly string[]): boolean {
  return prefix.length <= path.length && prefix.every((segment, i) => path[i] === segment);
}

function overlap(a: readonly string[], b: readonly string[]): boolean {
  return begins(a, b) || begins(b, a);
}

export function isSamePart(a: PartName, b: PartName): boolean {
  return a.kind === b.kind && a.name === b.name;
}

/** @throws Problem policy_part_overlaps */
export function checkOverlap(part: PartName, others: readonly PartName[]): void {
  const own = segmentsOf(part);
  const other = others.find((one) => !isSamePart(one, part) && overlap(own, segmentsOf(one)));
  if (other === undefined) return;
  const detail = `The ${words[part.kind]} ${part.name} and the ${words[other.kind]} ${other.name} overlap: no library or data document may stand at or below another.`;
  throw policyProblem('policy_part_overlaps', { detail });
}

/**
 * The parts that a policy or a library uses, those that its libraries use included, by kind and name. What overlaps a policy's
 * package is not available to the policy itself: such a reference is to its own rules.
 * @param own the name of the library; absent: a policy
 * @throws Problem policy_library_cycle; policy_reference_unknown when a library of a policy uses what overlaps the policy's package,
 *   since the library would find the policy's rules, or nothing, in its place
 */
export function usedParts(parts: readonly Part[], needs: ModuleNeeds, own?: string): Part[] {
  const root = needs.package.split('.');
  const found = new Set<Part>();
  const follow = (refs: readonly string[][], way: readonly string[]): void => {
    for (const part of parts) {
      const segments = segmentsOf(part);
      if (!refs.some((ref) => begins(ref, segments))) continue;
      if (part.kind === 'library' && part.name === own) {
        if (way.length > 0) throw cycle([own, ...way, own]);
        continue;
      }
      if (own === undefined && overlap(segments, root)) {
        if (way.length > 0) throw hidden(part, way, needs.package);
        continue;
      }
      if (found.has(part)) continue;
      found.add(part);
      follow(part.refs, [...way, part.name]);
    }
  };
  follow(needs.refs, []);
  return [...found].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function hidden({ kind, name }: PartName, way: readonly string[], root: string) {
  const detail = `The library ${way.at(-1)} uses the ${words[kind]} ${name}, which overlaps the package ${root} of the policy. Give the policy another package.`;
  return policyProblem('policy_reference_unknown', { detail, errors: [{ pointer: '/rego', detail }] });
}

/** Before the first of them is read. @throws Problem policy_data_too_large, policy_libraries_too_large */
export function checkBytes(uses: readonly Part[]): void {
  const bytesOf = (kind: PartKind) => uses.reduce((sum, one) => sum + (one.kind === kind ? one.bytes : 0), 0);
  const documents = bytesOf('data');
  if (documents > limits.policyDocumentsBytesMax) {
    const detail = `The data documents that the policy uses have ${documents} bytes together; ${limits.policyDocumentsBytesMax} are allowed.`;
    throw policyProblem('policy_data_too_large', { detail });
  }
  const libraries = bytesOf('library');
  if (libraries <= limits.policyLibrariesBytesMax) return;
  const detail = `The libraries have ${libraries} bytes together; ${limits.policyLibrariesBytesMax} are allowed for one policy.`;
  throw policyProblem('policy_libraries_too_large', { detail });
}

function cycle(way: readonly string[]) {
  const detail = `Libraries must not refer to each other in a cycle: ${way.join(' refers to ')}.`;
  return policyProblem('policy_library_cycle', { detail, errors: [{ pointer: '/modules', detail }] });
}

const keyOf = ({ kind, name }: PartName) => `${kind}/${name}`;

export function digestOf(content: string): string {
  return createHash('sha256').update(content).digest('base64url');
}

/** @throws Problem policy_library_invalid, policy_data_invalid for what is too large or cannot be stored */
export function contentOf(body: PartBody): string {
  const errors = body.kind === 'library' ? libraryErrors(body.modules) : dataErrors(body.value);
  if (errors.length > 0) {
    const detail = errors.map((error) => error.detail).join('; ');
    throw policyProblem(body.kind === 'library' ? 'policy_library_invalid' : 'policy_data_invalid', { detail, errors });
  }
  return JSON.stringify(body.kind === 'library' ? body.modules.map(({ name, rego }) => ({ name, rego })) : body.value);
}

function libraryErrors(modules: readonly NamedModule[]): ProblemPlace[] {
  const errors: ProblemPlace[] = [...unstorable('/modules', modules)];
  if (modules.length === 0) errors.push({ pointer: '/modules', detail: 'must have at least one module' });
  if (modules.length > limits.libraryModulesMax)
    errors.push({ pointer: '/modules', detail: `must have at most ${limits.libraryModulesMax} modules` });
  const bytes = modules.reduce((sum, { rego }) => sum + Buffer.byteLength(rego), 0);
  if (bytes > limits.libraryBytesMax)
    errors.push({ pointer: '/modules', detail: `has ${bytes} bytes; ${limits.libraryBytesMax} are allowed` });
  for (const [i, { name, rego }] of modules.entries()) {
    if (modules.findIndex((one) => one.name === name) < i)
      errors.push({ pointer: `/modules/${i}/name`, detail: `${name} is the name of another module` });
    if (Buffer.byteLength(rego) > limits.regoSourceBytesMax)
      errors.push({ pointer: `/modules/${i}/rego`, detail: `must have at most ${limits.regoSourceBytesMax} bytes` });
  }
  return errors;
}

function dataErrors(value: unknown): ProblemPlace[] {
  if (!isObject(value)) return [{ pointer: '/value', detail: 'must be a JSON object' }];
  const errors = unstorable('/value', value).slice(0, 20);
  if (errors.length > 0) return errors;
  const count = valuesIn(value);
  if (count > limits.policyDataValuesMax)
    return [{ pointer: '/value', detail: `has ${count} values; ${limits.policyDataValuesMax} are allowed` }];
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes <= limits.policyDataBytesMax) return [];
  return [{ pointer: '/value', detail: `has ${bytes} bytes as JSON; ${limits.policyDataBytesMax} are allowed` }];
}

/** Its nesting is bounded already. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, item) => sum + valuesIn(item), 1);
}

/** The modules of a library as the compiler takes them. @param content of a library's revision */
export function modulesOf(library: string, content: string): LibraryModule[] {
  return (JSON.parse(content) as NamedModule[]).map(({ name, rego }) => ({
    ...{ name: moduleFile(library, name), package: library, source: rego },
  }));
}

function moduleFile(library: string, module: string): string {
  return `${library}/${module}.rego`;
}

/** @throws Problem policy_library_invalid when a module is not in the library's package or below it */
export function checkPackages(library: string, needs: readonly ModuleNeeds[]): void {
  const root = library.split('.');
  const errors = needs.flatMap(({ package: own }, i) => {
    if (own === '' || begins(own.split('.'), root)) return []; // the compiler says why it does not parse
    return [{ pointer: `/modules/${i}/rego`, detail: `its package is ${own}; it must be ${library} or below it` }];
  });
  if (errors.length > 0)
    throw policyProblem('policy_library_invalid', { detail: errors.map(({ detail }) => detail).join('; '), errors });
}

/** What the modules of a library refer to outside of it. */
export function outwardRefs(library: string, needs: readonly ModuleNeeds[]): string[][] {
  const root = library.split('.');
  const refs = needs.flatMap((one) => one.refs).filter((ref) => !begins(ref, root));
  return [...new Map(refs.map((ref) => [JSON.stringify(ref), ref])).values()];
}
