/** What a person allowed applications, and taking it back. */
import type { App } from '../http/fastify.ts';
import { listGrantedClients, revokeClient } from '../oidc/index.ts';
import {
  type AccountPageServices,
  asked,
  backTo,
  endingOf,
  notFound,
  type OwnVisit,
  ownPage,
} from './account-visit.ts';

/** The applications, with the names that people know them by. */
export async function clientsOf({ oidc }: AccountPageServices, { visit, session }: OwnVisit) {
  const granted = await listGrantedClients(oidc, visit.code, session.account.id);
  const { clients } = visit.tenant.snapshot;
  return granted.map(({ clientId, scopes, since }) => ({
    ...{ id: clientId, name: clients.get(clientId)?.displayName ?? clientId, since },
    scopes: scopes.map((name) => ({ name })),
  }));
}

export function registerClients(app: App, services: AccountPageServices): void {
  const path = '/clients/end';
  ownPage(app, services, ['POST', path], async (own) => {
    const one = (await clientsOf(services, own)).find(({ id }) => id === own.fields.id) ?? notFound();
    const question = asked(own, { kind: 'client', subject: one.name, id: one.id, path });
    if (question !== undefined) return question;
    await revokeClient(services.oidc, endingOf(own), one.id);
    return backTo(own, 'ended');
  });
}
