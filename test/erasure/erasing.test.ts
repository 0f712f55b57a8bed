/** Erasing a person: what is left of it anywhere in the database, and what others keep. */
import { beforeAll, describe, expect, test } from 'vitest';
import { sealWaiting, verifyLedger } from '../../server/ledger/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { numbered } from '../helpers/emitted.ts';
import { createTestServer } from '../helpers/server.ts';
import { WallClock } from '../invitations/inviting.ts';
import { type Living, livingTenant, search } from './living.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
const { adminUrl } = server.db;
const alice = { id: 'auth0|al"ice\\7f3a', email: 'Alice.Person@example.com' };
const bob = { id: 'auth0|bob-91', email: 'bob.person@example.com' };

/** What is queued is written. */
const written = async () => {
  await server.services.authz.log.close();
  await server.services.ledger.ledger.close();
  await numbered(server);
};
/** As it stands in a row, where texts of JSON have their escapes. */
const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
const traces = async (text: string) => {
  await written();
  return search(adminUrl, [text, inJson(text), inJson(inJson(text))]);
};
const tablesOf = (rows: readonly string[]) =>
  [...new Set(rows.map((row) => row.split(':')[0]?.replace(/_(rest|\d.*)$/, '')))].sort();

describe('a person in every room', () => {
  let living: Living;
  let before: string[];
  let withAlice: string[];
  beforeAll(async () => {
    living = await livingTenant(server, clock);
    await living.live(alice.id, alice.email, bob.id);
    await living.live(bob.id, bob.email, alice.id.slice(0, 8));
    await sealWaiting(server.services.ledger);
    await living.backend('GET', `/${living.tenant}/consents/events?userId=${encodeURIComponent(alice.id)}`); // not sealed
    before = await traces(bob.id);
    withAlice = await traces(alice.id);
  });

  test('is there before', async () => {
    expect(tablesOf(withAlice)).toEqual([
      ...['audit_entry', 'decision', 'entity', 'event', 'invitation', 'invitation_use', 'ledger_entry', 'ledger_inbox'],
      ...['relationship', 'relationship_import', 'user_consent'],
    ]);
    expect(tablesOf(await traces(alice.email))).toEqual(['decision', 'entity', 'event', 'user_consent']);
  });

  test('is gone afterwards, and the report says what went and what stays', async () => {
    const contacts = [{ type: 'email', value: alice.email }];
    const url = `/${living.tenant}/actors/user/${encodeURIComponent(alice.id)}/erase`;
    const { status, body, headers } = await living.backend('POST', url, { contacts });
    expect([status, body.status, headers['accord-revision']]).toEqual([200, 'erased', expect.stringMatching(/^r\d+$/)]);
    expect(body.removed).toEqual({
      ...{ relationships: 4, actors: 1, importErrors: 1, consents: 1, consentInvitations: 0 },
      ...{ accounts: 0, mails: 0, oidcRecords: 0 },
      ...{ invitationsSent: 1, invitationsReceived: 4, invitationsRewritten: 0, idempotencyKeys: 0 },
      ...{
        decisions: 4,
        decisionsRewritten: 2,
        deliveryAnswers: 0,
        ledgerEntries: expect.any(Number),
        auditEntries: expect.any(Number),
      },
      events: expect.any(Number),
    });
    expect(body.kept.length).toBeGreaterThan(5);
    for (const one of body.kept) expect(Object.keys(one)).toEqual(['what', 'why', 'until']);
    expect(await traces(alice.id)).toEqual([]);
    expect(await traces(alice.email)).toEqual([]);
    expect(await traces('A***@example.com')).toEqual([]);
  });

  test("leaves another person's rows as they are, but for the other's name in them", async () => {
    const after = await traces(bob.id);
    const isToldOf = (row: string) => row.startsWith('event') && row.toLowerCase().includes(alice.email.toLowerCase());
    const kept = before.filter(
      (row) => !withAlice.includes(row) && !/invitation(_use)?: .*a\*{3}@/i.test(row) && !isToldOf(row),
    );
    expect(kept.length).toBeGreaterThan(20);
    for (const row of kept) expect(after).toContain(row);
  });

  test('leaves a ledger that verifies, with what was sealed and what was not', async () => {
    await written();
    await sealWaiting(server.services.ledger);
    const verified = await verifyLedger(server.services, living.tenant);
    expect(verified).toMatchObject({ valid: true });
    expect(verified.entries).toBeGreaterThan(10);
    expect(await traces(alice.id)).toEqual([]);
  });

  test('is not written back by looking, and a digest stands for the id', async () => {
    expect(await living.look(alice.id, alice.email)).toBe(404);
    expect(await traces(alice.id)).toEqual([]);
    expect(await traces(alice.email)).toEqual([]);
    const [row] = await asAdmin<{ pseudonym: string }>(adminUrl, 'select pseudonym from accord.erased_actor');
    const stand = await traces(`erased:${row?.pseudonym}`);
    expect(tablesOf(stand)).toEqual([
      'audit_entry',
      'config_change',
      'decision',
      'event',
      'ledger_entry',
      'ledger_inbox',
    ]);
    await sealWaiting(server.services.ledger);
    expect(await verifyLedger(server.services, living.tenant)).toMatchObject({ valid: true });
    expect(await traces(alice.id)).toEqual([]);
  });

  test('is replaced in a decision that was made before the erasure and is recorded after it', async () => {
    const { tenant } = living;
    const context = { onBehalfOf: alice.id, seen: { [alice.email]: [alice.email.toLowerCase(), bob.email] } };
    const request = { subject: { type: 'user', id: bob.id }, action: 'car:late', context };
    const resource = { type: 'car', id: alice.email };
    server.services.authz.log.add(
      { mode: 'all' },
      {
        ...{ tenant, at: clock.now() - 60_000, caller: `user:user:${alice.email}`, request: { ...request, resource } },
        ...{ answer: { outcome: 'deny', reason: alice.email }, policyNumber: undefined, revision: 1, durationUs: 1 },
        requestId: 'late',
      },
    );
    expect(await traces(alice.id)).toEqual([]);
    expect(await traces(alice.email)).toEqual([]);
    const [pseudonym] = await asAdmin<{ pseudonym: string }>(adminUrl, 'select pseudonym from accord.erased_actor');
    const rows = await asAdmin<object>(
      adminUrl,
      "select caller, request, answer from accord.decision where action = 'car:late'",
    );
    const seen = { 'erased:': ['erased:', bob.email] };
    expect(rows).toEqual([
      {
        caller: 'user:user:erased:',
        request: {
          ...request,
          resource: { type: 'car', id: 'erased:' },
          context: { onBehalfOf: `erased:${pseudonym?.pseudonym}`, seen },
        },
        answer: { outcome: 'deny', reason: 'erased:' },
      },
    ]);
  });

  test('erased again, there is nothing to erase, and the id is not written back', async () => {
    const url = `/${living.tenant}/actors/user/${encodeURIComponent(alice.id)}/erase`;
    const { status, body } = await living.backend('POST', url);
    expect([status, body.status]).toEqual([200, 'erased']);
    const { ledgerEntries, ...others } = body.removed;
    expect(ledgerEntries).toBe(0);
    expect(new Set(Object.values(others))).toEqual(new Set([0]));
    expect(await traces(alice.id)).toEqual([]);
  });
});
