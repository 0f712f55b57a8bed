import { keysRoom } from '../keys/index.ts';
import { mailRoom } from '../mail/index.ts';
import { defineRoom } from '../room/room.ts';
import { writesRoom } from '../writes/index.ts';
import { memberProblem } from './problems.ts';
import { type MemberRouteServices, registerMemberRoutes } from './routes.ts';

export const membersRoom = defineRoom({
  name: 'members',
  tables: ['portal_token', 'member_invitation', 'member'],
  create({ baseUrl }, use): MemberRouteServices {
    return { ...use(writesRoom), ...use(mailRoom), baseUrl, installationKey: use(keysRoom).installationKey };
  },
  writtenByOperator: true,
  routes: registerMemberRoutes,
  openapiTag: 'Members',
  problems: memberProblem,
});
