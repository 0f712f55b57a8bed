import { accessChecker, accessGuard, authzRoom } from '../authz/index.ts';
import { relationshipsRoom } from '../relationships/index.ts';
import { defineRoom } from '../room/room.ts';
import { timedTask } from '../room/timed.ts';
import { writesRoom } from '../writes/index.ts';
import { endInvitations } from './actions.ts';
import { erasingInvitations } from './erasing.ts';
import { invitationEvents } from './events.ts';
import { expiringInvitations } from './expiring.ts';
import { pendingInvitationOf } from './facts.ts';
import { invitationProblem } from './problems.ts';
import { type InvitationRouteServices, registerInvitationRoutes } from './routes.ts';

export const invitationsRoom = defineRoom({
  name: 'invitations',
  tables: ['invitation_delivery', 'invitation_use', 'invitation'],
  create({ database, encrypter, observe, baseUrl }, use): InvitationRouteServices {
    const authz = use(authzRoom);
    authz.provideInvitation((...token) => pendingInvitationOf({ database, baseUrl, encrypter }, ...token));
    use(relationshipsRoom).provideEndInvitations(endInvitations);
    return {
      ...{ ...use(writesRoom), encrypter, observe, baseUrl },
      checkAccess: accessChecker(authz),
      requireAccess: accessGuard(authz),
    };
  },
  routes: registerInvitationRoutes,
  openapiTag: 'Invitations',
  erasing: ({ encrypter }) => erasingInvitations(encrypter),
  tasks: (services) => [timedTask(services, expiringInvitations(services))],
  events: invitationEvents,
  problems: invitationProblem,
});
