/** A tenant in which people live: relationships, consents, invitations and decisions of whoever is asked for. */
import pg from 'pg';
import { expect } from 'vitest';
import type { TestServer } from '../helpers/server.ts';
import type { WallClock } from '../invitations/inviting.ts';
import { configClient } from '../policies/config-client.ts';

export type Living = Awaited<ReturnType<typeof livingTenant>>;
type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';

const drives = `package p
default outcome := "deny"
outcome := "allow" if {
  some link in input.graph.subject
  link.to.id == input.resource.id
}
reason := input.subject.id
`;
const direct = { optInConfig: { type: 'direct' } };

/** @param clock the server's */
export async function livingTenant(server: TestServer, clock: WallClock) {
  const tenant = await server.tenant({ decisionLog: { mode: 'all' }, restore: { allowPastDates: true } });
  const config = await configClient(server, tenant);
  const soon = new Date(clock.now() + 1000).toISOString();
  const written: [path: string, body: object][] = [
    ['/actor-types/user', { attributes: { email: { type: 'string' } } }],
    ['/resource-types/car', {}],
    ['/relationship-types/user:drives:car', { invitation: { enabled: true } }],
    ['/relationship-types/user:rides:car', { invitation: { enabled: true, maxUses: 5 } }],
    ['/relationship-types/car:has_guest:user', {}],
    ['/policies/car:drive', { rego: drives }],
    ['/consent-definitions/terms', {}],
    ['/consent-definitions/terms/versions/1', direct],
    ['/consent-definitions/terms/versions/1/documents/en/a', { effectiveDate: soon }],
  ];
  for (const [path, body] of written) {
    const answer = await config('PUT', path, { body });
    expect([path, answer.status, answer.body]).toEqual([path, 200, {}]);
  }
  clock.advance(1000);
  const as =
    (token: string) =>
    async (method: Method, path: string, payload?: unknown, headers: Record<string, string> = {}) => {
      const response = await server.app.inject({
        method,
        url: path,
        headers: { authorization: `Bearer ${token}`, ...headers },
        ...(payload === undefined ? {} : { payload: payload as object }),
      });
      const isJson = /json/.test(String(response.headers['content-type'])) && response.body.startsWith('{');
      return {
        status: response.statusCode,
        headers: response.headers,
        text: response.body,
        body: isJson ? response.json() : undefined,
      };
    };
  const backend = as(await server.client(tenant, 'pg:tenant:admin'));
  const user = async (id: string) => as(await server.user(tenant, id));
  const ok = async (answer: ReturnType<typeof backend>, status = 200) => {
    const { status: got, text } = await answer;
    expect([got, text]).toEqual([status, text]);
    return answer;
  };
  return {
    tenant,
    backend,
    user,
    config,
    /** Leaves traces of a person in every room, with `other` on the other side of some of them. */
    async live(id: string, email: string, other: string) {
      const actor = `/${tenant}/actors/user/${encodeURIComponent(id)}`;
      const car = { type: 'car', id: `car-of-${other}` };
      const own = await user(id);
      await ok(backend('PUT', actor, { email }));
      await ok(backend('POST', `${actor}/relationships`, { relationshipType: 'drives', to: car }), 201);
      const guest = { relationshipType: 'has_guest', to: { type: 'user', id } };
      await ok(backend('POST', `/${tenant}/actors/car/1/relationships`, guest), 201);
      await ok(
        backend('DELETE', `/${tenant}/relationships?fromType=car&fromId=1&toType=user&toId=${encodeURIComponent(id)}`),
      );
      await ok(backend('POST', `/${tenant}/actors/car/2/relationships`, guest), 201);
      const line = { from: { type: 'user', id }, relationshipType: 'drives', to: { type: 'car', id: '3' } };
      const lines = `${JSON.stringify(line)}\n${id}\n`;
      await ok(backend('POST', `/${tenant}/relationships/import`, lines, { 'content-type': 'application/x-ndjson' }));
      const item = { name: 'terms', version: '1', document: { version: 'a', language: 'en' } };
      await ok(own('POST', `/${tenant}/consents`, { ...item, proof: { email } }), 201);
      await ok(own('GET', `/${tenant}/consents/me`));
      await ok(backend('GET', `/${tenant}/consents?userId=${encodeURIComponent(id)}`));
      await ok(
        (await user(other))(
          'GET',
          `/${tenant}/consents/active?name=terms&language=en&userId=${encodeURIComponent(id)}`,
        ),
        403,
      );
      const invite = async (from: string, to: string, relationshipType = 'drives') => {
        const invitee = { contact: { type: 'email', value: to } };
        const body = { relationshipType, to: car, invitor: { type: 'user', id: from }, invitee };
        return (await ok(backend('POST', `/${tenant}/sharing/invitations`, body))).body;
      };
      const accept = async (who: string, requestToken: string) =>
        ok(
          (await user(who))('POST', `/${tenant}/sharing/invitations/accept`, {
            acceptor: { type: 'user', id: who },
            requestToken,
          }),
        );
      await invite(id, `friend-of-${other}@example.com`);
      await invite(other, email.toUpperCase().replace('EXAMPLE.COM', 'example.com'));
      await accept(id, (await invite(other, email)).requestToken);
      await accept(id, (await invite(other, `many-of-${other}@example.com`, 'rides')).requestToken);
      const { requestToken } = await invite(other, email);
      await ok(own('POST', `/${tenant}/sharing/invitations/decline`, { requestToken }));
      const ask = (subject: string, more: object, by = backend, path = '') =>
        ok(
          by('POST', `/authz/${tenant}${path}`, {
            subject: { type: 'user', id: subject },
            action: 'car:drive',
            resource: car,
            ...more,
          }),
        );
      await ask(id, { context: { email } });
      await ask(id, {}, own);
      await ask(other, { context: { onBehalfOf: id, seen: { [id]: [email, { type: 'user', id }] } } });
      await ask(other, { resource: { type: 'user', id } }, backend, '?explain=true');
      const requests = [{ subject: { type: 'user', id }, action: 'car:drive' }];
      await ok(backend('POST', `/authz/${tenant}/batch`, { requests }));
      const evaluation = { subject: { type: 'user', id }, action: { name: 'drive' }, resource: car };
      await ok(backend('POST', `/${tenant}/access/v1/evaluation`, evaluation));
    },
    /** Asks about a person by every route that records what is asked, as a back end and as the person. Decisions name the address. */
    async look(id: string, email: string) {
      const encoded = encodeURIComponent(id);
      clock.advance(1000); // tokens of the second of the erasure are refused
      const own = await user(id);
      const { status } = await backend('GET', `/${tenant}/actors/user/${encoded}`);
      for (const path of [`?userId=${encoded}`, `/events?userId=${encoded}`, `/export?userId=${encoded}`])
        await ok(backend('GET', `/${tenant}/consents${path}`));
      for (const path of ['active', 'outstanding'])
        await ok(
          backend(
            'GET',
            `/${tenant}/consents/${path}?language=en&${path === 'active' ? 'name=terms&' : ''}userId=${encoded}`,
          ),
        );
      for (const path of ['/me', '/events/me', '/active?name=terms&language=en'])
        await ok(own('GET', `/${tenant}/consents${path}`));
      await ok(
        backend('POST', `/${tenant}/consents`, {
          name: 'none',
          version: '1',
          document: { version: 'a', language: 'en' },
          userId: id,
        }),
        404,
      );
      const question = {
        subject: { type: 'user', id },
        action: 'car:drive',
        resource: { type: 'car', id: '1' },
        context: { id, list: [id], email, [email.toLowerCase()]: { emails: [email] } },
      };
      await ok(own('POST', `/authz/${tenant}`, { ...question, subject: undefined }));
      await ok(backend('POST', `/authz/${tenant}?explain=true`, question));
      await ok(backend('POST', `/authz/${tenant}/batch`, { requests: [question] }));
      await ok(backend('GET', `/${tenant}/actors/user/${encoded}/relationships`), 404);
      await ok(backend('DELETE', `/${tenant}/relationships?fromType=user&fromId=${encoded}`));
      await ok(backend('DELETE', `/${tenant}/actors/user/${encoded}`), 404);
      return status;
    },
  };
}

/** A digest of 43 characters has a name of four once in 25,000 times, in either case. */
const CHARS_MIN = 5;

/** Rows of all tables and partitions that hold one of the texts in any column, as a superuser sees them: "table: row". */
export async function search(adminUrl: string, texts: readonly string[]): Promise<string[]> {
  if (texts.some((text) => text.length < CHARS_MIN)) throw new Error(`${texts}: digests have such a text by chance`);
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'accord' and c.relkind = 'r' order by 1`,
    );
    // A column as text has bytes in hexadecimal digits. A signed token has a short name in its base64 by chance.
    const of = ({ name }: { name: string }) => `select ${pg.escapeLiteral(name)} || ': ' || t::text as row
      from accord.${pg.escapeIdentifier(name)} t where exists (
        select from jsonb_each_text(to_jsonb(t)) as c (name, value), unnest($1::text[]) as s (text)
        where position(lower(s.text) in lower(regexp_replace(c.value, '\\meyJ[A-Za-z0-9_.-]+', '', 'g'))) > 0
          or position(encode(convert_to(s.text, 'UTF8'), 'hex') in c.value) > 0)`;
    const { rows } = await client.query<{ row: string }>(tables.map(of).join(' union all '), [texts]);
    return rows.map(({ row }) => row);
  } finally {
    await client.end();
  }
}
