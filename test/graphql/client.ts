/** Members who ask by GraphQL. */
import type { TestServer } from '../helpers/server.ts';
import type { Role } from '../policies/config-client.ts';

type Answer = { status: number; body: ReturnType<typeof JSON.parse> };
export type Ask = (query: string, variables?: Record<string, unknown>) => Promise<Answer>;

export async function graphqlClient(server: TestServer, tenant: string, role: Role) {
  const headers = { authorization: `Bearer ${await server.member(tenant, role)}`, 'content-type': 'application/json' };
  const send = async (payload: object): Promise<Answer> => {
    const answer = await server.app.inject({ method: 'POST', url: `/tenants/${tenant}/graphql`, headers, payload });
    return { status: answer.statusCode, body: answer.json() };
  };
  const ask: Ask = (query, variables) => send({ query, ...(variables && { variables }) });
  return { ask, send, document: (document: string, variables = {}) => send({ document, variables }) };
}
