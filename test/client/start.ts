/** A server with a listener, and a tenant whose policy `car:read` allows ann, and defines an outcome of its own for odd. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { type ClientOptions, createClient } from '../../packages/client/src/index.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { createOidcServer } from '../oidc/relying-party.ts';

const rego = `package accord

default outcome := "deny"
outcome := "allow" if input.subject.id == "ann"

outcome := "allow" if input.subject.id == "owes"
outcome := {"allow": true} if input.subject.id == "odd"
obligations contains "mfa" if input.subject.id == "owes"
reason := "not_ann" if input.subject.id == "carl"
`;

export async function startForClient() {
  const server = await createOidcServer({ ACCORD_OUTBOUND_ALLOW: '127.0.0.1' });
  const tenant = await server.tenant();
  const options = { baseUrl: server.origin, tenant };
  const member = await server.member(tenant, 'security-admin');
  const admin = createClient({ ...options, token: member });
  const put = async (path: string, payload: object) => {
    const headers = { authorization: `Bearer ${member}` };
    const answer = await server.app.inject({ method: 'PUT', url: `/tenants/${tenant}${path}`, headers, payload });
    if (answer.statusCode > 299) throw new Error(`${path}: ${answer.body}`);
  };
  await put('/actor-types/user', {});
  await put('/resource-types/car', {});
  await put('/relationship-types/user:drives:car', {});
  await put('/policies/car:read', { rego });
  await server.services.snapshots.refresh(tenant);
  const secret = (await server.register(tenant, 'shop', {
    grantTypes: ['client_credentials'],
    scopes: ['authz:evaluate', 'relationships:read', 'relationships:write'],
  })) as string;
  const client = (more: Partial<ClientOptions> = {}) =>
    createClient({ ...options, token: { clientId: 'shop', clientSecret: secret }, ...more });
  return { server, tenant, admin, secret, client, origin: server.origin };
}

export const question = (id: string) => ({ subject: { type: 'user', id }, action: 'car:read' });

/** Stands before the server. What `decide` says of the number of a request, from 1, is done with it. */
export async function startProxy(origin: string, decide: (number: number) => 'pass' | 'lose' | 'hang' | Response) {
  const seen: { method: string; url: string; key: string | null }[] = [];
  const proxy = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const headers = new Headers(request.headers as Record<string, string>);
    for (const name of ['host', 'connection', 'content-length']) headers.delete(name);
    const { method = '', url = '' } = request;
    const number = seen.push({ method, url, key: headers.get('idempotency-key') });
    const said = decide(number);
    if (said === 'hang') return;
    const answer =
      said instanceof Response
        ? said
        : await fetch(origin + url, { method, headers, ...(body.length > 0 && { body }) });
    if (said === 'lose') return void response.destroy();
    const kept = ['content-type', 'retry-after', 'idempotency-replayed', 'location'];
    for (const name of kept) if (answer.headers.has(name)) response.setHeader(name, answer.headers.get(name) as string);
    response.writeHead(answer.status).end(await answer.text());
  });
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
  closeAtEnd(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return { seen, baseUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
}
