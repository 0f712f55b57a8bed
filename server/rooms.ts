/** The one list of rooms, in order: a room may import and use those before it, and none after it. */
import { accountsRoom } from './accounts/index.ts';
import { auditRoom } from './audit/index.ts';
import { authzRoom } from './authz/index.ts';
import { authzenRoom } from './authzen/index.ts';
import { clientsRoom } from './clients/index.ts';
import { consentsRoom } from './consents/index.ts';
import { definitionsRoom } from './definitions/index.ts';
import { erasureRoom } from './erasure/index.ts';
import { eventsRoom } from './events/index.ts';
import { factsRoom } from './facts/index.ts';
import { graphqlRoom } from './graphql/index.ts';
import { idempotencyRoom } from './idempotency/index.ts';
import { invitationsRoom } from './invitations/index.ts';
import { issuersRoom } from './issuers/index.ts';
import { keysRoom } from './keys/index.ts';
import { ledgerRoom } from './ledger/index.ts';
import { mailRoom } from './mail/index.ts';
import { membersRoom } from './members/index.ts';
import { oidcRoom } from './oidc/index.ts';
import { overviewRoom } from './overview/index.ts';
import { peopleRoom } from './people/index.ts';
import { personsRoom } from './persons/index.ts';
import { policiesRoom } from './policies/index.ts';
import { portalRoom } from './portal/index.ts';
import { pseudonymsRoom } from './pseudonyms/index.ts';
import { regoRoom } from './rego/index.ts';
import { relationshipsRoom } from './relationships/index.ts';
import { resourcesRoom } from './resources/index.ts';
import { searchRoom } from './search/index.ts';
import { snapshotRoom } from './snapshot/index.ts';
import { subscriptionsRoom } from './subscriptions/index.ts';
import { tenantsRoom } from './tenants/index.ts';
import { typesRoom } from './types/index.ts';
import { writesRoom } from './writes/index.ts';

export const rooms = [
  regoRoom,
  auditRoom,
  tenantsRoom,
  resourcesRoom,
  snapshotRoom,
  keysRoom,
  pseudonymsRoom,
  eventsRoom,
  ledgerRoom,
  idempotencyRoom,
  writesRoom,
  issuersRoom,
  clientsRoom,
  subscriptionsRoom,
  mailRoom,
  membersRoom,
  accountsRoom,
  typesRoom,
  policiesRoom,
  definitionsRoom,
  factsRoom,
  relationshipsRoom,
  consentsRoom,
  authzRoom,
  searchRoom,
  invitationsRoom,
  authzenRoom,
  oidcRoom,
  portalRoom,
  personsRoom,
  erasureRoom,
  overviewRoom,
  peopleRoom,
  graphqlRoom,
] as const;
