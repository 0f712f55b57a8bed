/** What searches cost their caller: no more decisions than it may ask for are made, however many searches it sends at once. */
import { expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { createTestServer } from '../helpers/server.ts';
import { sharingTenant } from '../relationships/sharing.ts';

const RATE = 2 * limits.searchCandidatesMax;
/** Stopped, nobody's bucket fills up. */
let stoppedAt: number | undefined;
const clock = { now: () => Date.now(), monotonic: () => stoppedAt ?? performance.now() };
const server = await createTestServer({ ACCORD_RATE_LIMIT: String(RATE) }, undefined, clock);

test('searches at one time are paid for before their candidates are checked', async () => {
  const own = await sharingTenant(server);
  const lines = Array.from({ length: limits.searchCandidatesMax }, (_, i) => ({
    from: { type: 'user', id: `u${i}` },
    relationshipType: 'drives',
    to: { type: 'car', id: String(i).padStart(3, '0') },
  }));
  const raw = lines.map((line) => JSON.stringify(line)).join('\n');
  await own.backend('POST', '/relationships/import', { raw, type: 'application/x-ndjson' });
  await own.policy('car:none', 'package p\ndefault outcome := "deny"\noutcome := "allow" if input.resource.id == "-"');
  const searcher = await own.scoped('authz:evaluate');
  const body = { subject: { type: 'user', id: 'u1' }, action: { name: 'none' }, resource: { type: 'car' } };
  stoppedAt = performance.now();
  server.observations.length = 0;
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => searcher('POST', '/access/v1/search/resource', { body })),
  );
  const checked = server.observations.reduce((sum, one) => sum + (one.kind === 'searched' ? one.candidates : 0), 0);
  expect(checked).toBeGreaterThan(0);
  expect(checked).toBeLessThanOrEqual(RATE + 100); // the last part goes into debt
  const statuses = answers.map(({ status }) => status);
  expect(statuses.every((status) => status === 200 || status === 429)).toBe(true);
  // What was begun and could not be paid to its end is a page with a token.
  for (const { status, body: answer } of answers)
    if (status === 200) expect(answer.page.count === 0 && typeof answer.page.next_token === 'string').toBe(true);
  stoppedAt += 2000;
  expect((await searcher('POST', '/access/v1/search/resource', { body })).body.page).toEqual({
    next_token: '',
    count: 0,
  });
});
