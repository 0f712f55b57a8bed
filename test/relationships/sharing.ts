/** A tenant that shares cars, for the tests of relationships: its types, and short calls as a back end or a user. */

import { expect } from 'vitest';
import type { Scope } from '../../server/core/auth/schema.ts';
import type { TenantSpec } from '../../server/tenants/index.ts';
import type { TestServer } from '../helpers/server.ts';
import { configClient } from '../policies/config-client.ts';

type Call = { body?: unknown; headers?: Record<string, string>; raw?: string; type?: string };
export type Client = Awaited<ReturnType<typeof sharingTenant>>;

/** user drives car, also through user member_of group and group owns car; a car has one owner. */
export const types: [path: string, body: object][] = [
  ['/actor-types/user', { attributes: { level: { type: 'number' } } }],
  ['/actor-types/group', {}],
  ['/resource-types/car', { attributes: { color: { type: 'string', required: true }, since: { type: 'date' } } }],
  ['/relationship-types/user:member_of:group', {}],
  ['/relationship-types/group:owns:car', {}],
  ['/relationship-types/user:is_owner_of:car', { maxPerTarget: 1 }],
  [
    '/relationship-types/user:drives:car',
    { inheritedThrough: [{ relationship: 'user:member_of:group', from: 'group:owns:car' }] },
  ],
];

export async function sharingTenant(server: TestServer, setup = types, spec: Partial<TenantSpec> = {}) {
  const tenant = await server.tenant(spec);
  const config = await configClient(server, tenant);
  for (const [path, body] of setup) {
    const { status, body: answer } = await config('PUT', path, { body });
    expect([path, status, answer]).toEqual([path, 200, {}]);
  }
  const as =
    (token: string) =>
    async (method: 'GET' | 'PUT' | 'POST' | 'DELETE', path: string, { body, headers = {}, raw, type }: Call = {}) => {
      const response = await server.app.inject({
        method,
        url: `/${tenant}${path}`,
        headers: { authorization: `Bearer ${token}`, ...(type ? { 'content-type': type } : {}), ...headers },
        ...(raw === undefined ? (body === undefined ? {} : { payload: body as object }) : { payload: raw }),
      });
      const json =
        String(response.headers['content-type']).includes('json') &&
        !String(response.headers['content-type']).includes('ndjson');
      return {
        status: response.statusCode,
        headers: response.headers,
        text: response.body,
        body: json && response.body !== '' ? response.json() : undefined,
      };
    };
  const admin = await server.client(tenant, 'pg:tenant:admin');
  const backend = as(admin);
  const relate = (from: string, relationshipType: string, to: string, expiresAt?: string) => {
    const [fromType, fromId] = split(from);
    const [type, id] = split(to);
    const body = { relationshipType, to: { type, id }, ...(expiresAt ? { expiresAt } : {}) };
    return backend('POST', `/actors/${fromType}/${encodeURIComponent(fromId)}/relationships`, { body });
  };
  return {
    tenant,
    config,
    backend,
    relate,
    scoped: async (...scopes: Scope[]) => as(await server.client(tenant, ...scopes)),
    user: async (id: string, email?: string) => as(await server.user(tenant, id, email)),
    policy: async (name: string, rego: string) => {
      const { status, body } = await config('PUT', `/policies/${encodeURIComponent(name)}`, { body: { rego } });
      expect([status, body]).toEqual([200, {}]);
    },
    decide: async (subject: object, action: string, resource: object, query = '') => {
      const response = await server.app.inject({
        method: 'POST',
        url: `/authz/${tenant}${query}`,
        headers: { authorization: `Bearer ${admin}` },
        payload: { subject, action, resource },
      });
      expect(response.statusCode).toBe(200);
      return response.json();
    },
  };
}

function split(name: string): [string, string] {
  const at = name.indexOf('/');
  return [name.slice(0, at), name.slice(at + 1)];
}
