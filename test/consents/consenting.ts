/** Users and back ends of a tenant with consent definitions, for tests: short calls to /{tenant}/consents. */

import { Type } from 'typebox';
import type { Scope } from '../../server/core/auth/schema.ts';
import { sql } from '../../server/core/db/sql.ts';
import { defining } from '../definitions/defining.ts';
import type { TestServer } from '../helpers/server.ts';
import type { WallClock } from '../invitations/inviting.ts';

type Method = 'GET' | 'HEAD' | 'POST' | 'DELETE';
export const day = 86_400_000;

const Entry = Type.Object({
  type: Type.String(),
  actor_id: Type.Union([Type.String(), Type.Null()]),
  user_id: Type.Union([Type.String(), Type.Null()]),
  name: Type.Union([Type.String(), Type.Null()]),
  version: Type.Union([Type.String(), Type.Null()]),
  document_version: Type.Union([Type.String(), Type.Null()]),
  outcome: Type.String(),
});

/** Each call signs in anew, because months may lie between two of them. */
export async function consenting(server: TestServer, clock: WallClock) {
  const config = await defining(server, clock);
  const { tenant } = config;
  const call = async (token: string, method: Method, path: string, body?: unknown) => {
    const response = await server.app.inject({
      method,
      url: `/${tenant}/consents${path}`,
      headers: { authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { payload: body as object }),
    });
    const { statusCode: status, headers, payload } = response;
    return { status, headers, body: payload === '' ? undefined : response.json() };
  };
  const user = (id: string) => async (method: Method, path: string, body?: unknown) =>
    call(await server.user(tenant, id), method, path, body);
  const backend =
    (...scopes: Scope[]) =>
    async (method: Method, path: string, body?: unknown) =>
      call(await server.client(tenant, ...scopes), method, path, body);
  return {
    ...config,
    user,
    backend,
    admin: backend('pg:tenant:admin'),
    /** What the ledger has, oldest first: "type outcome", with the user and the document where they are there. */
    async ledger() {
      const rows = await server.db.database.tenant(tenant, (tx) =>
        tx.many(
          Entry,
          sql`select type, actor_id, user_id, name, version, document_version, outcome from accord.ledger_inbox
            where tenant = ${tenant} order by id`,
        ),
      );
      return rows.map(
        (row) =>
          `${row.type} ${row.outcome}${row.user_id ? ` of ${row.user_id}` : ''}${row.version ? `: ${row.name} ${row.version}${row.document_version ? ` ${row.document_version}` : ''}` : ''}`,
      );
    },
    end: (name: string, version: string, ending: { startDate: number; endDate: number; gracePeriod: string }) =>
      config.put(`/${name}/versions/${version}/end-of-life`, {
        startDate: config.from(ending.startDate),
        endDate: config.from(ending.endDate),
        gracePeriod: ending.gracePeriod,
      }),
  };
}

/** "version document language" as a request names it. */
export function item(name: string, document: string, more: object = {}) {
  const [version, doc, language] = document.split(' ');
  return { name, version, document: { version: doc, language }, ...more };
}
