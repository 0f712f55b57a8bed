/** Checks of a policy's dataSubjects when the policy is accepted. */
import type { DataSubjects } from '../../crds/data-subjects.ts';
import type { Transaction } from '../core/db/database.ts';
import type { Reads } from '../rego/schema.ts';
import { readRelationshipType, typeProblem } from '../types/index.ts';
import { modulesOf, type Part, type PartSet } from './parts.ts';
import { policyProblem } from './problems.ts';

/** Whether the policy reads a member of the input by name; a use of the whole input or of a computed key does not count. */
function reads(read: Reads, ...path: string[]): boolean {
  return !read.all && read.paths.some((one) => path.every((segment, i) => i >= one.length || one[i] === segment));
}

/** What a policy is compiled of. */
type Sources = { source: string; uses: readonly Part[]; set: PartSet };

/**
 * Refuses a policy that reads input.dataSubjects without stating them: a negation over the absent list would allow. Where the
 * policy uses the input as a whole (in a variable, an argument, with a computed key), what it reads of it is not known: then it is
 * refused when it, or a library that it uses, names them at all.
 * @throws Problem policy_without_data_subjects
 */
export async function checkStated(stated: DataSubjects | undefined, read: Reads, sources: Sources): Promise<void> {
  if (stated !== undefined) return;
  if (read.all ? !(await isNamed('dataSubjects', sources)) : !reads(read, 'dataSubjects')) return;
  const detail =
    'The policy reads input.dataSubjects and does not say who they are: add dataSubjects with relationship or path.';
  throw policyProblem('policy_without_data_subjects', { detail, errors: [{ pointer: '/dataSubjects', detail }] });
}

/** Whether the policy, or a library that it uses, has the word. */
async function isNamed(word: string, { source, uses, set }: Sources): Promise<boolean> {
  if (hasWord(source, word)) return true;
  for (const part of uses) {
    if (part.kind !== 'library') continue;
    if (modulesOf(part.name, await set.content(part)).some((module) => hasWord(module.source, word))) return true;
  }
  return false;
}

/** Texts are kept: a key may be one of them. */
const TEXT_OR_COMMENT = /"(?:[^"\\\n]|\\.)*"|`[^`]*`|#[^\n]*/g;

function hasWord(rego: string, word: string): boolean {
  return rego.replace(TEXT_OR_COMMENT, (one) => (one.startsWith('#') ? '' : one)).includes(word);
}

/** @throws Problem type_unknown when the tenant does not have the relationship type */
export async function checkRelationship(
  tx: Transaction,
  tenant: string,
  stated: DataSubjects | undefined,
): Promise<void> {
  if (stated?.relationship === undefined) return;
  const [from = '', name = '', to = ''] = stated.relationship.split(':');
  const row = await readRelationshipType(tx, tenant, { from, name, to });
  if (row !== undefined && !row.retired) return;
  const detail = `There is no relationship type ${stated.relationship}: make it first.`;
  throw typeProblem('type_unknown', { detail, errors: [{ pointer: '/dataSubjects/relationship', detail }] });
}

/**
 * Likely mistakes in how a policy reads consents, one sentence each. Where it gives the input as a whole to a rule or a library's
 * function, it reads what is named in them.
 */
export async function consentNotes(
  name: string,
  stated: DataSubjects | undefined,
  read: Reads,
  sources: Sources,
): Promise<string[]> {
  if (stated !== undefined) {
    const isRead = read.all || reads(read, 'dataSubjects');
    if (!isRead) return ['dataSubjects has no effect: the policy does not read input.dataSubjects'];
    return otherType(name, stated.relationship);
  }
  if (isAboutInvitation(name)) return [];
  for (const member of ['consents', 'graph'])
    if (read.all ? !(await isNamed(member, sources)) : !reads(read, member)) return [];
  return [
    'the policy reads relationships, and input.consents, which are the consents of the subject that asks; for the consents of those whom the data is about state dataSubjects and read input.dataSubjects',
  ];
}

/** {From}:{relationship}:{To}:invitation:{verb} is about what the subject does with an invitation, not about an owner's data. */
export function isAboutInvitation(name: string): boolean {
  return /^[^:]+:[^:]+:[^:]+:invitation:[^:]+$/.test(name);
}

/** By convention a policy is called {resource type}:{action}. Names with more parts are those of the service's own actions. */
function otherType(name: string, relationship: string | undefined): string[] {
  const [resource, ...action] = name.split(':');
  const to = relationship?.split(':')[2];
  if (to === undefined || action.length !== 1 || resource === to) return [];
  return [
    `by its name the policy is for resources of the type ${resource}, but ${relationship} leads to the type ${to}: decisions about a ${resource} deny with no_data_subject`,
  ];
}
