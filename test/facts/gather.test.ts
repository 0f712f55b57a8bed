/** What is read for a decision: what its policy needs, and nothing else. */
import { expect, test } from 'vitest';
import {
  type ConsentFact,
  FactGatherer,
  type InvitationFact,
  inputFor,
  needsOf,
  needsOfExplained,
  noFacts,
} from '../../server/facts/index.ts';
import type { Reads } from '../../server/rego/schema.ts';
import { typesFor } from './graphs.ts';

const NOW = Date.UTC(2026, 0, 1);
const consent: ConsentFact = {
  name: 'news',
  version: '1',
  document: { version: 'a', language: 'en' },
  status: 'given',
  sufficient: true,
};
const invitation: InvitationFact = {
  id: 'i',
  relationshipType: 'drives',
  to: { type: 'car', id: 'c' },
  status: 'pending',
  invitor: { type: 'user', id: 'b' },
  expiresAt: '2026-01-22T12:00:00.000Z',
  contactMatches: false,
};
const other = { ...invitation, id: 'other' };
const snapshot = {
  tenant: 't',
  types: typesFor([], []),
  definitions: new Map([['news', {} as never]]),
  spec: { tokenMapping: { defaultActorType: 'user' } },
};
const reading = (...paths: string[][]) => needsOf({ reads: { all: false, paths } });
const subject = { type: 'user', id: 'a' };
const withToken = { subject, context: { requestToken: 'token', other: 1 } };

/** A gatherer, and what it had read. @param held who has the relationship that is asked about */
function gatherer(held: string[] = []) {
  const read: unknown[] = [];
  const made = new FactGatherer({
    records: ({ subject: whose, needed }) => {
      read.push(['records', whose, needed]);
      return { ...noFacts, subject: { role: 'chief' } };
    },
    consents: async ({ userId }) => {
      read.push(['consents', userId]);
      return [consent];
    },
    dataSubjects: async (about) => {
      read.push(['dataSubjects', about.holding, about.persons]);
      return { holders: about.holding ? held : [], consents: new Map([['a', [consent]]]) };
    },
    invitation: async (_tenant, token, _now, email) => {
      read.push(['invitation', token, email]);
      return token === 'token' ? invitation : undefined;
    },
  });
  const ask = (request: object, needs = reading(), about?: InvitationFact) =>
    made.gather(snapshot, { tenant: 't', request, now: NOW, invitation: about, email: 'a@example.org' }, needs);
  return { read, ask };
}

test('nothing, and without a promise, for a policy that needs nothing of records', () => {
  const { read, ask } = gatherer();
  expect(ask(withToken, reading(['subject', 'id'], ['context'], ['time']))).toBe(noFacts);
  expect(read).toEqual([]);
});

test('relationships and attributes alone need no promise of their own', () => {
  const { read, ask } = gatherer();
  expect(ask({ subject: { id: 'a' } }, reading(['subject', 'role']))).toMatchObject({ subject: { role: 'chief' } });
  // A subject without a type has the default one.
  const needed = { subject: false, resource: false, subjectAttributes: true, resourceAttributes: false };
  expect(read).toEqual([['records', { type: 'user', id: 'a' }, needed]]);
});

test('consents of a user, beside the records', async () => {
  const { read, ask } = gatherer();
  const needs = reading(['consents'], ['graph']);
  expect(await ask({ subject }, needs)).toEqual({ ...noFacts, subject: { role: 'chief' }, consents: [consent] });
  expect(read.map((one) => (one as unknown[])[0])).toEqual(['records', 'consents']);
});

test.each([[{ type: 'car', id: 'a' }], [{ type: 'user' }], [undefined]])('no consents of the subject %j', (whose) => {
  const { read, ask } = gatherer();
  expect(ask(whose === undefined ? {} : { subject: whose }, reading(['consents']))).toBe(noFacts);
  expect(read).toEqual([]);
});

test('the invitation of the requestToken, or the one that the question is about', async () => {
  const { read, ask } = gatherer();
  const needs = reading(['invitation'], ['context']);
  expect((await ask(withToken, needs)).invitation).toEqual(invitation);
  expect((await ask({ context: { requestToken: 'forged' } }, needs)).invitation).toBeUndefined();
  expect((await ask(withToken, needs, other)).invitation).toEqual(other);
  expect((await ask({ context: { requestToken: 1 } }, needs)).invitation).toBeUndefined();
  expect(read).toEqual([
    ['invitation', 'token', 'a@example.org'],
    ['invitation', 'forged', 'a@example.org'],
  ]);
});

test('the input has what is read, and no requestToken that became an invitation', () => {
  const needs = reading(['invitation'], ['context'], ['subject', 'role']);
  const evaluation = { tenant: 't', request: withToken, now: NOW };
  const facts = { ...noFacts, invitation, subject: { role: 'chief' } };
  expect(inputFor(needs, evaluation, facts)).toEqual({
    subject: { ...subject, role: 'chief' },
    context: { other: 1 },
    invitation,
  });
  expect(inputFor(needs, evaluation, noFacts)).toEqual({ subject, context: withToken.context });
});

test('data subjects beside the records, only where the policy reads and states them', async () => {
  const { read, ask } = gatherer(['b', 'a']);
  const stated = { relationship: 'user:owns:car' };
  const needs = (paths: string[][]) => needsOf({ reads: { all: false, paths }, dataSubjects: stated });
  const resource = { type: 'car', id: 'c' };
  expect(ask({ subject, resource }, needs([['subject', 'id']]))).toBe(noFacts);
  expect(ask({ subject, resource }, reading(['dataSubjects']))).toBe(noFacts);
  expect(read).toEqual([]);
  const facts = await ask({ subject, resource }, needs([['dataSubjects', '0'], ['graph']]));
  expect(facts.dataSubjects).toEqual([
    { type: 'user', id: 'a', consents: [consent] },
    { type: 'user', id: 'b', consents: [] },
  ]);
  expect(read.map((one) => (one as unknown[])[0])).toEqual(['records', 'dataSubjects']);
  const evaluation = { tenant: 't', request: { subject, resource }, now: NOW };
  expect(inputFor(needs([['dataSubjects']]), evaluation, facts)).toEqual({ dataSubjects: facts.dataSubjects });
});

test('an explained decision is given everything, and of relationships what the policy reads of them', () => {
  const reads: Reads = { all: false, paths: [['graph', 'subject'], ['time']] };
  const { input, records, explain } = needsOfExplained({ reads });
  const { dataSubjects, ...others } = input;
  expect([Object.values(others).every(Boolean), dataSubjects]).toEqual([true, false]);
  expect(records).toEqual({ subject: true, resource: false, subjectAttributes: true, resourceAttributes: true });
  expect(explain).toBe(true);
});
