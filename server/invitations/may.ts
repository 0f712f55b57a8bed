/** What a user may do, so that nothing is offered that would be refused: the tenant's policies are asked as for the act itself. */
import { doing, type InvitationServices } from './authorization.ts';
import { nameOfInvitor } from './mailed.ts';
import { invitorOf, statusOf } from './rules.ts';
import type { InvitationAction, InvitationRow } from './schema.ts';
import type { OwnContext } from './shared.ts';

/** Where there is no policy of the name, nothing is asked. */
export async function isAllowed(
  { checkAccess }: Pick<InvitationServices, 'checkAccess'>,
  context: OwnContext,
  question: Parameters<InvitationServices['checkAccess']>[1],
): Promise<boolean> {
  if (!context.requestTenant.snapshot.policies.has(question.action)) return false;
  return (await checkAccess(context, question)).answer.outcome === 'allow';
}

/**
 * What the user may do with an invitation now.
 * @param isReceived whether it stands before it as the one who was invited
 */
async function actionsOn(
  services: InvitationServices,
  context: OwnContext,
  row: InvitationRow,
  isReceived: boolean,
): Promise<InvitationAction[]> {
  if (statusOf(row, services.clock.now()) !== 'pending') return [];
  const may = (verb: 'resend' | 'revoke' | 'accept') =>
    isAllowed(services, context, doing(services, context, verb, row));
  if (!isReceived) {
    const verbs = ['resend', 'revoke'] as const;
    const allowed = await Promise.all(verbs.map(may));
    return verbs.filter((_, n) => allowed[n]);
  }
  // No policy is needed for accepting: one that is there must allow it.
  const { action } = doing(services, context, 'accept', row);
  const isFitting = acceptorTypeOf(row) === context.caller.actor.type;
  const accepts = isFitting && (!context.requestTenant.snapshot.policies.has(action) || (await may('accept')));
  return [...(accepts ? (['accept'] as const) : []), ...(row.max_uses === 1 ? (['decline'] as const) : [])];
}

/** What a list with actions=true tells of an invitation besides. */
export async function toldOf(
  services: InvitationServices,
  context: OwnContext,
  row: InvitationRow,
  isReceived: boolean,
) {
  const [actions, invitorName] = await Promise.all([
    actionsOn(services, context, row, isReceived),
    isReceived ? nameOfInvitor(services, context.tenant, invitorOf(row)) : undefined,
  ]);
  return { actions, ...(invitorName === undefined ? {} : { invitorName }) };
}

const acceptorTypeOf = ({ direction, from_type, to_type }: InvitationRow) =>
  direction === 'acceptor_to_target' ? from_type : to_type;
