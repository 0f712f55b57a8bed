/** What a search names and the tenant does not have is refused, with the name that was probably meant, instead of finding nothing. */
import { nearest } from '../../crds/similar.ts';
import { type ProblemPlace, problem } from '../core/problems.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import { actionNameOf, policyNameOf } from './rules.ts';

type Names = Pick<TenantSnapshot, 'types' | 'policies'>;
type Search = {
  /** Whose ids are asked for; `action`: which policies. */
  vary: 'subject' | 'resource' | 'action';
  subject: { type: string };
  resource: { type: string };
  action?: { name: string };
};

/**
 * Only known entities are found, so the type that is searched for must be declared. A type beside it need not be, unless it
 * looks like a declared one: a policy may allow what no type is declared for. Actions are found where there are policies.
 * @throws Problem invalid_request
 */
export function checkNames({ types, policies }: Names, { vary, subject, resource, action }: Search): void {
  const errors: ProblemPlace[] = [];
  const declared = [...types.attributes.keys()];
  for (const [part, { type }] of Object.entries({ subject, resource })) {
    if (types.attributes.has(type)) continue;
    const alike = nearest(type, declared);
    const mayBe = alike === undefined && !(vary === 'action' && part === 'resource');
    if (part !== vary && (mayBe || hasPolicies(policies, part, type))) continue;
    errors.push({ pointer: `/${part}/type`, detail: `No type has this name.${hint(alike)}` });
  }
  if (action !== undefined && errors.length === 0 && !policies.has(policyNameOf(resource.type, action.name))) {
    const alike = nearest(action.name, actionsOf(policies, resource.type));
    const detail = `There is no policy ${policyNameOf(resource.type, action.name)}.${hint(alike)}`;
    errors.push({ pointer: '/action/name', detail });
  }
  if (errors.length === 0) return;
  throw problem('invalid_request', { detail: errors.map((one) => `${one.pointer}: ${one.detail}`).join(' '), errors });
}

/** A type of resources without a declaration is meant where policies are named after it. */
function hasPolicies(policies: Names['policies'], part: string, type: string): boolean {
  return part === 'resource' && actionsOf(policies, type).length > 0;
}

function actionsOf(policies: Names['policies'], type: string): string[] {
  const names = [...policies.keys()].filter((name) => name.startsWith(`${type}:`));
  return names.map((name) => actionNameOf(type, name));
}

function hint(alike: string | undefined): string {
  return alike === undefined ? '' : ` Did you mean ${alike}?`;
}
