/** The policies and questions that the benchmarks decide: one of twenty rules, one over relationships, and small ones. */
import type { SubjectRelationship } from '../server/facts/index.ts';

/** Twenty-one rules over roles, departments, classification and channel, as a line-of-business application has them. */
export const twentyRules = `package bench.document

default outcome := "deny"

outcome := "allow" if {
	permitted
	not blocked
}

permitted if is_owner
permitted if is_editor
permitted if is_viewer
permitted if is_manager
permitted if is_auditor
permitted if is_emergency

is_owner if input.resource.owner == input.subject.id
is_editor if {
	input.subject.role == "editor"
	input.resource.department in input.subject.departments
}
is_viewer if {
	input.subject.role == "viewer"
	input.resource.department in input.subject.departments
	input.context.method == "GET"
}
is_manager if {
	input.subject.role == "manager"
	startswith(input.resource.path, input.subject.scope)
}
is_auditor if {
	input.subject.role == "auditor"
	input.context.method == "GET"
}
is_emergency if {
	input.subject.role == "doctor"
	input.context.emergency
}

blocked if input.resource.status == "deleted"
blocked if {
	input.resource.classification == "secret"
	input.subject.clearance < 3
}
blocked if {
	input.context.channel == "partner"
	not input.resource.shared
}

reason := "the document is blocked" if blocked
reason := "nobody has permitted this" if {
	not permitted
	not blocked
}

obligations contains "log" if is_emergency
obligations contains "mask" if input.resource.classification == "confidential"
`;

/** A walk over the subject's relationships, direct and by a team. */
export const overRelationships = `package bench.related

default outcome := "deny"

outcome := "allow" if {
	some one in input.graph.subject
	one.relationshipType in {"owner", "driver"}
	one.to.type == input.resource.type
	one.to.id == input.resource.id
}
outcome := "allow" if {
	some one in input.graph.subject
	one.relationshipType == "member"
	one.to.id == input.resource.team
}
reason := "no relationship to the resource" if outcome == "deny"
`;

/** A small policy of its own: no two of different numbers are the same source. */
export const small = (number: number): string => `package bench.small
default outcome := "deny"
outcome := "allow" if input.subject.id == "user-${number}"
reason := "version ${number}" if outcome == "deny"
`;

const roles = ['editor', 'viewer', 'manager', 'auditor', 'doctor', 'guest'];
const departments = ['sales', 'legal', 'care', 'fleet'];

/** The i-th of a mix of questions, about two in three allowed. */
export function question(i: number, action = 'document:read') {
  const department = departments[i % 4] as string;
  return {
    subject: {
      id: `user-${i}`,
      type: 'user',
      role: roles[i % 6] as string,
      departments: [department, departments[(i * 7) % 4] as string],
      scope: `/${department}/`,
      clearance: i % 5,
    },
    action,
    resource: {
      id: `document-${i * 31}`,
      type: 'document',
      owner: `user-${i % 3 === 0 ? i : i + 1}`,
      department,
      path: `/${department}/2026/${i}.pdf`,
      status: i % 11 === 0 ? 'deleted' : 'final',
      classification: ['public', 'internal', 'confidential', 'secret'][i % 4] as string,
      shared: i % 2 === 0,
    },
    context: { method: i % 2 === 0 ? 'GET' : 'POST', channel: i % 5 === 0 ? 'partner' : 'web', ip: '192.0.2.17' },
  };
}

/** What relates a subject to a hundred entities. */
export function relationships(count: number): SubjectRelationship[] {
  return Array.from({ length: count }, (_, i) => {
    const type = ['driver', 'member', 'guest'][i % 3] as string;
    return { type, relationshipType: type, to: { type: i % 3 === 1 ? 'team' : 'car', id: `entity-${i * 17}` } };
  });
}
