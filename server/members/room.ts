import { keysRoom } from '../keys/index.ts';
import { defineRoom } from '../room/room.ts';
import { writesRoom } from '../writes/index.ts';
import type { PortalServices } from './portal-token.ts';
import { memberProblem } from './problems.ts';
import { registerMemberRoutes } from './routes.ts';

export const membersRoom = defineRoom({
  name: 'members',
  tables: ['portal_token', 'member_invitation', 'member'],
  create({ baseUrl }, use): PortalServices {
    return { ...use(writesRoom), baseUrl, installationKey: use(keysRoom).installationKey };
  },
  writtenByOperator: true,
  routes: registerMemberRoutes,
  openapiTag: 'Members',
  problems: memberProblem,
});
