/** Registers the invitations room. */
import { askingPolicies, authzRoom, governedByPolicies } from '../authz/index.ts';
import { defineRoom } from '../core/room.ts';
import { relationshipsRoom } from '../relationships/index.ts';
import { erasingInvitations } from './erasing.ts';
import { pendingInvitationOf } from './facts.ts';
import { invitationProblem } from './problems.ts';
import { type InvitationRouteServices, registerInvitationRoutes } from './routes.ts';
import { endInvitations } from './store.ts';

export const invitationsRoom = defineRoom({
  name: 'invitations',
  tables: ['invitation_delivery', 'invitation_use', 'invitation'],
  create({ database, clock, sealer, baseUrl }, use): InvitationRouteServices {
    const authz = use(authzRoom);
    authz.provideInvitationOf((tenant, requestToken, now) =>
      pendingInvitationOf({ database, baseUrl }, tenant, requestToken, now),
    );
    use(relationshipsRoom).provideEndInvitations(endInvitations);
    return {
      ...{ database, clock, sealer, tagger: sealer, baseUrl },
      ask: askingPolicies(authz),
      govern: governedByPolicies(authz),
      hasPolicy: (tenant, name) => authz.snapshotOf(tenant).policies.has(name),
    };
  },
  routes: registerInvitationRoutes,
  openapiTag: 'Invitations',
  erasing: ({ sealer }) => erasingInvitations(sealer),
  problems: invitationProblem,
});
