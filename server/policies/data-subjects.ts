/** Checks of a policy's dataSubjects when the policy is accepted. */
import type { DataSubjects } from '../../crds/data-subjects.ts';
import type { Transaction } from '../core/db/database.ts';
import type { Reads } from '../rego/schema.ts';
import { readRelationshipType, typeProblem } from '../types/index.ts';
import { policyProblem } from './problems.ts';

/** Whether the policy reads a member of the input by name; a use of the whole input or of a computed key does not count. */
function reads(read: Reads, ...path: string[]): boolean {
  return !read.all && read.paths.some((one) => path.every((segment, i) => i >= one.length || one[i] === segment));
}

/**
 * Refuses a policy that reads input.dataSubjects without stating them: a negation over the absent list would allow.
 * @throws Problem policy_without_data_subjects
 */
export function checkStated(stated: DataSubjects | undefined, read: Reads): void {
  if (stated !== undefined || !reads(read, 'dataSubjects')) return;
  const detail =
    'The policy reads input.dataSubjects and does not say who they are: add dataSubjects with relationship or path.';
  throw policyProblem('policy_without_data_subjects', { detail, errors: [{ pointer: '/dataSubjects', detail }] });
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

/** Likely mistakes in how a policy reads consents, one sentence each. */
export function consentNotes(name: string, stated: DataSubjects | undefined, read: Reads): string[] {
  if (stated !== undefined) {
    const isRead = read.all || reads(read, 'dataSubjects');
    if (!isRead) return ['dataSubjects has no effect: the policy does not read input.dataSubjects'];
    return otherType(name, stated.relationship);
  }
  if (isAboutInvitation(name) || !reads(read, 'consents') || !reads(read, 'graph')) return [];
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
