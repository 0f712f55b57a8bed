/**
 * Each file here is a model (types, entities, relationships, policies) and questions. Every question is put four ways over
 * the same facts: POST /authz, AuthZEN evaluation, search from both sides, and explain; all must say the same.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { createTestServer } from '../helpers/server.ts';
import { WallClock } from '../invitations/inviting.ts';
import { type Client, sharingTenant } from '../relationships/sharing.ts';

type Entity = { type: string; id: string };
type Model = {
  types: Record<string, object>;
  entities?: Record<string, object>;
  /** `type/id name type/id`; one that ends after some seconds has them beside it. */
  relationships?: (string | { is: string; seconds: number })[];
  /** # counts. */
  many?: { count: number; is: string }[];
  /** Rego, or a drawn graph. */
  policies: Record<string, string | object>;
};
type Question = {
  /** `type/id action type/id` */
  ask: string;
  answer: unknown;
  reason?: string;
  /** Seconds after the facts were made. */
  after?: number;
  /** The stored relationships that the answer follows from; none when it is stored itself. */
  through?: string[];
  /** Which of the two nobody knows of, so that no search can find it. */
  unknown?: 'subject' | 'resource';
};
type Case = Model & { questions: Question[]; elsewhere?: Model };

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);

const entity = (text: string): Entity => {
  const [type = '', ...id] = text.split('/');
  return { type, id: id.join('/') };
};
const parts = (text: string) => {
  const [from = '', name = '', to = ''] = text.split(' ');
  return { from: entity(from), name, to: entity(to) };
};

async function tenantOf(model: Model): Promise<Client> {
  const client = await sharingTenant(
    server,
    Object.entries(model.types).map(([path, body]) => [`/${path}`, body]),
  );
  for (const [name, policy] of Object.entries(model.policies)) {
    const body = typeof policy === 'string' ? { rego: policy } : { graph: policy };
    expect(await client.config('PUT', `/policies/${name}`, { body })).toMatchObject({ status: 200 });
  }
  for (const [name, body] of Object.entries(model.entities ?? {})) {
    const { type, id } = entity(name);
    const kind = `actor-types/${type}` in model.types ? 'actors' : 'resources';
    expect(await client.backend('PUT', `/${kind}/${type}/${id}`, { body })).toMatchObject({ status: 200 });
  }
  const line = (is: string, seconds?: number) => {
    const { from, name, to } = parts(is);
    const expiry = seconds === undefined ? {} : { expiresAt: new Date(clock.now() + seconds * 1000).toISOString() };
    return JSON.stringify({ from, relationshipType: name, to, ...expiry });
  };
  const lines = [
    ...(model.relationships ?? []).map((one) => (typeof one === 'string' ? line(one) : line(one.is, one.seconds))),
    ...(model.many ?? []).flatMap(({ count, is }) =>
      Array.from({ length: count }, (_, i) => line(is.replaceAll('#', `${i}`))),
    ),
  ];
  const { body } = await client.backend('POST', '/relationships/import', {
    raw: lines.join('\n'),
    type: 'application/x-ndjson',
  });
  expect(body).toMatchObject({ created: lines.length, refused: 0 });
  return client;
}

/** All pages of a search. */
async function listed(client: Client, kind: 'subject' | 'resource', request: object): Promise<string[]> {
  const found: string[] = [];
  for (let page: object = { limit: 200 }; ; ) {
    const { status, body } = await client.backend('POST', `/access/v1/search/${kind}`, { body: { ...request, page } });
    expect(status).toBe(200);
    found.push(...body.results.map((one: Entity) => one.id));
    if (body.page.next_token === '') return found;
    page = { limit: 200, token: body.page.next_token };
  }
}

const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.yaml'));

describe.each(files)('%s', (file) => {
  const model = parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as Case;
  let made: Promise<{ client: Client; at: number }> | undefined;
  const facts = () => {
    made ??= (async () => {
      const client = await tenantOf(model);
      if (model.elsewhere !== undefined) await tenantOf(model.elsewhere);
      return { client, at: clock.now() };
    })();
    return made;
  };

  test.each(model.questions)('$ask: $answer', async ({ ask, answer, reason, after = 0, through, unknown }) => {
    const { client, at } = await facts();
    clock.advance(at + after * 1000 - clock.now());
    const { from: subject, name, to: resource } = parts(ask);
    const policy = `${resource.type}:${name}`;
    const checked = await client.decide(subject, policy, resource);
    expect(checked).toMatchObject({ outcome: answer, ...(reason === undefined ? {} : { reason }) });

    const request = { subject, action: { name }, resource };
    const { body: evaluation } = await client.backend('POST', '/access/v1/evaluation', { body: request });
    const isAllowed = answer === 'allow';
    expect(evaluation.decision).toBe(isAllowed);
    if (reason !== undefined) expect(evaluation.context.reason).toBe(reason);

    if (reason === 'policy_not_found') {
      const { status, body } = await client.backend('POST', '/access/v1/search/resource', {
        body: { ...request, resource: { type: resource.type } },
      });
      expect([status, body.errors?.[0]?.pointer]).toEqual([400, '/action/name']);
      return;
    }
    const whats = await listed(client, 'resource', { ...request, resource: { type: resource.type } });
    expect(whats.includes(resource.id)).toBe(isAllowed && unknown !== 'resource');
    const whos = await listed(client, 'subject', { ...request, subject: { type: subject.type } });
    expect(whos.includes(subject.id)).toBe(isAllowed && unknown !== 'subject');

    const { explain, ...explained } = await client.decide(subject, policy, resource, '?explain=true');
    expect(explained).toEqual(checked);
    if (through === undefined) return;
    const way = through.map((one) => {
      const { from, name: relationshipType, to } = parts(one);
      return { from, relationshipType, to };
    });
    const ways = explain.facts.inherited.map((one: { through: object[] }) => one.through);
    if (way.length === 0) expect(ways).toEqual([]);
    else expect(ways).toContainEqual(way);
  });
});
