/**
 * Random lives of a few users on a real server: giving, revoking, asking, being invited, and time going on, compared after
 * each step with a model that knows only the pure evaluation. A first invitation never moves; what was revoked never counts.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { evaluateConsent, type GivenConsent, isSufficient } from '../../server/definitions/index.ts';
import { drawn } from '../helpers/long.ts';
import { createTestServer } from '../helpers/server.ts';
import { WallClock } from '../invitations/inviting.ts';
import { configClient } from '../policies/config-client.ts';
import { consenting, item } from './consenting.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);

type Step =
  | { do: 'wait'; ms: number }
  | { do: 'ask' | 'invite'; user: number; language: string }
  | { do: 'give'; user: number; document: string }
  | { do: 'revoke'; user: number; which: number };
const documents = { '1 a en': 0, '1 a nl': 0, '1 b en': 3000, '2 a en': 5000, '2 a nl': 9000, '3 a en': 14_000 };
const user = fc.constantFrom(0, 1);
const language = fc.constantFrom('en', 'nl');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 999, 1000, 2500) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('ask' as const), user, language }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('invite' as const), user, language }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('give' as const),
      user,
      document: fc.constantFrom(...Object.keys(documents)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('revoke' as const), user, which: fc.nat(5) }) },
);

type Given = GivenConsent & { id: string; at: number };
type Person = { consents: Given[]; invitations: Map<string, number> };

async function live(steps: readonly Step[]): Promise<void> {
  const it = await consenting(server, clock);
  await it.define('news', documents);
  await it.end('news', '1', { startDate: 6000, endDate: 16_000, gracePeriod: 'PT4S' });
  await it.end('news', '2', { startDate: 15_000, endDate: 20_000, gracePeriod: 'PT2S' });
  const config = await configClient(server, it.tenant);
  const rego = 'package p\noutcome := {"consents": input.consents}';
  expect((await config('PUT', '/policies/echo', { body: { rego } })).status).toBe(200);
  const definition = server.services.snapshots.get(it.tenant)?.definitions.get('news');
  if (definition === undefined) throw new Error('not served');
  const people: Person[] = [0, 1].map(() => ({ consents: [], invitations: new Map() }));
  const admin = await server.client(it.tenant, 'pg:tenant:admin');
  const decided = async (id: string) => {
    const response = await server.app.inject({
      method: 'POST',
      url: `/authz/${it.tenant}`,
      headers: { authorization: `Bearer ${admin}` },
      payload: { subject: { type: 'user', id }, action: 'echo' },
    });
    return response.json().outcome.consents;
  };
  for (const one of steps) {
    if (one.do === 'wait') {
      clock.advance(one.ms);
      continue;
    }
    const [id, person] = [`u${one.user}`, people[one.user] as Person];
    const call = it.user(id);
    const evaluated = (language: string) => evaluateConsent(definition, language, person, clock.now());
    if (one.do === 'give') {
      const { status, body } = await call('POST', '', item('news', one.document));
      const [version = '', document = '', language = ''] = one.document.split(' ');
      const given = { version, document: { version: document, language }, id: body.id, at: clock.now() };
      if (status === 201) person.consents.push(given);
      else if (status === 200) expect(person.consents.map((consent) => consent.id)).toContain(body.id);
      else expect(status).toBe(409);
    } else if (one.do === 'revoke') {
      const target = person.consents[one.which % Math.max(1, person.consents.length)];
      if (target === undefined) continue;
      expect((await call('DELETE', `/${target.id}`)).status).toBe(204);
      const { consents } = (await call('GET', '/me')).body;
      const left = new Set(consents.map((consent: { id: string }) => consent.id));
      const gone = person.consents.filter((consent) => !left.has(consent.id));
      const older = person.consents.filter((consent) => consent.at <= target.at || consent.version < target.version);
      expect(new Set(gone)).toEqual(new Set([...older, target]));
      person.consents = person.consents.filter((consent) => left.has(consent.id));
    } else if (one.do === 'invite') {
      const last = person.consents.at(-1);
      const expected = last && evaluated(last.document.language);
      const { status, body } = await it.admin('POST', '/invitations', { userId: id, name: 'news' });
      if (expected?.invites !== undefined) {
        expect(status).toBe(201);
        person.invitations.set(expected.invites, clock.now());
      } else if (status === 200) expect(Date.parse(body.invitedAt)).toBe(person.invitations.get(body.version));
      else expect(status).toBe(409);
    } else {
      const due = evaluated(one.language)?.invites;
      const { status, body } = await call('GET', `/active?name=news&language=${one.language}`);
      if (due !== undefined) person.invitations.set(due, clock.now());
      const expected = evaluated(one.language);
      const { gracePeriodEnds, ...rest } = { name: 'news', ...expected };
      const ends = gracePeriodEnds === undefined ? {} : { gracePeriodEnds: new Date(gracePeriodEnds).toISOString() };
      if (expected === undefined) expect(status).toBe(404);
      else expect(body).toEqual({ ...rest, ...ends });
    }
    const last = person.consents.at(-1);
    const now = last && evaluated(last.document.language);
    const [entry] = await decided(id);
    expect(entry?.sufficient ?? false).toBe(now === undefined ? false : isSufficient(now.status));
  }
}

test('whatever happens, the server says what the evaluation says', async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), live), {
    numRuns: drawn(10, 100),
    endOnFailure: true,
  });
});
