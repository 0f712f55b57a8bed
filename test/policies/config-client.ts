/** A member's way to the Config API of one tenant, for tests: short calls over inject. */
import { randomUUID } from 'node:crypto';
import type { TestServer } from '../helpers/server.ts';

export type Role = 'security-admin' | 'config-editor' | 'config-viewer' | 'support';
type Call = { body?: unknown; headers?: Record<string, string>; raw?: { type: string; text: string } };

export async function configClient(server: TestServer, tenant: string, role: Role = 'config-editor') {
  const token = await server.member(tenant, role);
  return async (method: 'GET' | 'PUT' | 'POST' | 'DELETE', path: string, { body, headers = {}, raw }: Call = {}) => {
    const response = await server.app.inject({
      method,
      url: `/tenants/${tenant}${path}`,
      headers: { authorization: `Bearer ${token}`, ...(raw ? { 'content-type': raw.type } : {}), ...headers },
      ...(raw ? { payload: raw.text } : body === undefined ? {} : { payload: body as object }),
    });
    return { status: response.statusCode, headers: response.headers, body: response.json() };
  };
}

/** A policy whose source nobody has compiled before. */
export const says = (outcome: 'allow' | 'deny', about: string = randomUUID()) =>
  `package p\n# ${about}\noutcome := "${outcome}"`;

export const graphSaying = (outcome: 'allow' | 'deny') => ({
  nodes: [
    { id: 'start', type: 'start' },
    { id: 'end', type: 'outcome', outcome, reason: 'drawn' },
  ],
  edges: [{ from: 'start', to: 'end' }],
});
