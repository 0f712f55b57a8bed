/** The members of a tenant, one of each role, for tests of who may call what; and what the audit has of them. */
import { Type } from 'typebox';
import { expect } from 'vitest';
import { Json } from '../../server/core/db/rows.ts';
import { sql } from '../../server/core/db/sql.ts';
import type { TestServer } from '../helpers/server.ts';
import { configClient, type Role } from '../policies/config-client.ts';

const all: readonly Role[] = ['security-admin', 'config-editor', 'config-viewer', 'support'];

export async function membersOf(server: TestServer, tenant: string) {
  const [admin, editor, viewer, support] = await Promise.all(all.map((role) => configClient(server, tenant, role)));
  const clients = { 'security-admin': admin, 'config-editor': editor, 'config-viewer': viewer, support } as Record<
    Role,
    Awaited<ReturnType<typeof configClient>>
  >;
  return {
    ...clients,
    /** Every other role is refused, and a member of another tenant does not get in. */
    async refuses(method: 'GET' | 'PUT' | 'POST' | 'DELETE', path: string, but: readonly Role[], body?: unknown) {
      for (const role of all.filter((one) => !but.includes(one))) {
        const { status, body: answer } = await clients[role](method, path, { body });
        expect([role, status, answer.code]).toEqual([role, 403, 'forbidden']);
      }
      const elsewhere = await server.member(await server.tenant(), 'security-admin');
      const url = `/tenants/${tenant}${path}`;
      const payload = body === undefined ? {} : { payload: body as object };
      const stranger = await server.app.inject({
        method,
        url,
        headers: { authorization: `Bearer ${elsewhere}` },
        ...payload,
      });
      expect(stranger.statusCode).toBe(401);
      expect((await server.app.inject({ method, url, ...payload })).statusCode).toBe(401);
    },
    /** What members did, oldest first: "action kind name", with its detail. */
    async audit(action: string, kind: string) {
      const Row = Type.Object({ actor: Type.String(), name: Type.String(), detail: Json<unknown>() });
      return server.db.database.tenant(tenant, (tx) =>
        tx.many(
          Row,
          sql`select actor #>> '{}' as actor, object_name as name, coalesce(detail, 'null') as detail from accord.audit_entry
            where tenant = ${tenant} and action = ${action} and object_kind = ${kind} order by at, id`,
        ),
      );
    },
  };
}
