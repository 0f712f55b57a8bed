/** Who may call what, pure: the table "Who may call" of the API as functions. */
import { pointerStep } from '../../../crds/values.ts';
import { problem } from '../problems.ts';
import { insufficientScope } from './problems.ts';
import type { Access, Actor, Caller, Scope } from './schema.ts';

/**
 * Checks whether a caller may use a route. Whoever a caller is, what a rule does not name is refused.
 * @throws Problem forbidden, insufficient_scope
 */
export function authorizeCaller(access: Access, caller: Caller): void {
  if (access.api === 'public') return;
  if (access.api === 'config') {
    if (caller.kind !== 'member')
      throw problem('forbidden', { detail: 'Only members of the tenant may call the Config API.' });
    if (!access.roles.includes(caller.role))
      throw problem('forbidden', { detail: `The role ${caller.role} is not allowed to do this.` });
    return;
  }
  if (caller.kind === 'backend') {
    if (!hasScope(caller, access.scope)) throw insufficientScope(access.scope);
  } else if (caller.kind !== 'user' || !access.users) {
    throw problem('forbidden', { detail: 'Only back ends of the tenant can call this endpoint.' });
  }
}

/** Whether a tenant back end holds a scope; pg:tenant:admin holds all of them. Users and members hold none. */
export function hasScope(caller: Caller, scope: Scope): boolean {
  return caller.kind === 'backend' && (caller.scopes.has(scope) || caller.scopes.has('pg:tenant:admin'));
}

/**
 * The subject that an authorization request is about. A back end asks about anybody, and so does a member; an end user only about its own
 * actor, and cannot vouch for attributes of its own.
 * @param subject as the request has it; undefined when it has none
 * @throws Problem forbidden when a user asks about another, or brings attributes
 */
export function subjectFor(
  caller: Caller,
  subject: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, unknown>> | undefined {
  if (caller.kind !== 'user') return subject;
  const { actor } = caller;
  if (subject === undefined) return { ...actor };
  for (const [name, value] of Object.entries(subject)) {
    if (name !== 'id' && name !== 'type') {
      const detail = `Users cannot set the attribute ${name} of their own subject.`;
      throw problem('forbidden', { detail, errors: [{ pointer: `/subject/${pointerStep(name)}`, detail }] });
    }
    if (value !== actor[name as keyof Actor]) {
      const detail = 'Users can ask only about themselves.';
      throw problem('forbidden', { detail, errors: [{ pointer: `/subject/${name}`, detail }] });
    }
  }
  return { ...actor };
}
