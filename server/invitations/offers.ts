/** What a user may share by invitation, for a form that offers it: of itself and of what it has, by the policies that an invitation asks. */
import { limits } from '../core/limits.ts';
import type { Entity } from '../relationships/index.ts';
import { loadTypesTouching, type RelationshipTypeRow } from '../types/index.ts';
import { creating, type InvitationServices } from './authorization.ts';
import { isAllowed } from './may.ts';
import { isOffered, typeKeyIn } from './rules.ts';
import { findOwn, type OwnContext } from './shared.ts';
import type { Direction } from './sharing-schema.ts';

/** `acceptorType`: of whoever accepts, for the invitation's invitee.type. `ttl`: of an invitation. `typeKey`: From:rel:To. */
export type Offered = {
  relationshipType: string;
  typeKey: string;
  to: Entity;
  acceptorType: string;
  direction: Direction;
  ttl: string;
};

/**
 * What the user may invite others like itself to. What it has is looked at where the policy type:relationships:list lets it read that.
 * @returns `more`: not all was looked at
 */
export async function listOffers(
  services: InvitationServices,
  context: OwnContext,
): Promise<{ rows: Offered[]; more: boolean }> {
  const { tenant, caller } = context;
  const own = await findOwn(services, context);
  const all = [...(own?.rows ?? []).map(({ what }) => what), caller.actor];
  const things = [...new Map(all.map((one) => [JSON.stringify([one.type, one.id]), one])).values()];
  const types = new Map<string, RelationshipTypeRow[]>();
  for (const { type } of things)
    if (!types.has(type))
      types.set(type, await services.database.read(tenant, (tx) => loadTypesTouching(tx, tenant, { type })));
  const { policies } = context.requestTenant.snapshot;
  const asked = things
    .flatMap((to) => offersOf(to, types.get(to.type) ?? [], caller.actor.type))
    .filter(({ terms }) => policies.has(creating(terms).action));
  const looked = asked.slice(0, limits.sharingOffersMax);
  const allowed = await Promise.all(looked.map(({ terms }) => isAllowed(services, context, creating(terms))));
  return {
    rows: looked.filter((_, n) => allowed[n]).map(({ offered }) => offered),
    more: asked.length > looked.length || own?.more === true,
  };
}

/** Of the types that fit: one that leads to the thing goes before one of the same name that begins there, as in offerOf. */
function offersOf(to: Entity, types: readonly RelationshipTypeRow[], acceptorType: string) {
  const found = new Map<string, { offered: Offered; terms: Parameters<typeof creating>[0] }>();
  for (const direction of ['acceptor_to_target', 'target_to_acceptor'] as const)
    for (const type of types) {
      const { from_type, name, to_type, spec } = type;
      const [target, acceptor] = direction === 'acceptor_to_target' ? [to_type, from_type] : [from_type, to_type];
      if (target !== to.type || acceptor !== acceptorType || found.has(name) || !isOffered(type)) continue;
      const terms = { from_type, name, to_type, direction, target_type: to.type, target_id: to.id };
      const shown = { relationshipType: name, typeKey: typeKeyIn(type), to };
      const offered = { ...shown, acceptorType, direction, ttl: spec.invitation?.ttl ?? 'P7D' };
      found.set(name, { offered, terms });
    }
  return [...found.values()];
}
