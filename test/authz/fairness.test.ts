/**
 * A tenant's decisions while 50 callers of another tenant ask for what is dear: tenants take turns, so the 50 get about as much done
 * as the one, and not 50 times as much. It is counted here; bench/fairness.ts measures how long the one waits.
 */
import { expect, test } from 'vitest';
import { createTestServer } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';
import { conflicting, growing, looping, notQuiteLooping } from './attacks.ts';

const ATTACKERS = 50;
const ASKED = 40;
/** Where whoever comes first is answered first, each decision of the one waits for one of each attacker. */
const ANSWERS_MAX = (ASKED * ATTACKERS) / 2;

const server = await createTestServer();

async function put(tenant: string, policies: Record<string, string>): Promise<void> {
  const headers = { authorization: `Bearer ${await server.member(tenant, 'config-editor')}` };
  for (const [name, rego] of Object.entries(policies)) {
    const url = `/tenants/${tenant}/policies/${name}`;
    expect((await server.app.inject({ method: 'PUT', url, headers, payload: { rego } })).json()).toEqual({});
  }
}

/** What asks for a decision, and says how it was answered. */
async function asking(tenant: string): Promise<(action: string) => Promise<string>> {
  const headers = { authorization: `Bearer ${await server.client(tenant, 'authz:evaluate')}` };
  return async (action) => {
    const payload = { subject: { id: 'a' }, action, resource: { owner: 'a' } };
    const response = await server.app.inject({ method: 'POST', url: `/authz/${tenant}`, headers, payload });
    const { outcome, reason, code } = response.json();
    return [response.statusCode, outcome ?? code, reason].filter(Boolean).join(' ');
  };
}

test.each([
  ['loop and swallow memory', [looping, growing]],
  ['give conflicts', [conflicting]],
  ['compute a little less than is counted', [notQuiteLooping]],
])(`${ATTACKERS} callers whose policies %s take turns with another tenant`, async (_what, sources) => {
  const [evil, good] = [await server.tenant(), await server.tenant()];
  await put(evil, Object.fromEntries(sources.map((rego, n) => [`attack:${n}`, rego])));
  await put(good, {
    'car:read': 'package a\ndefault outcome := "deny"\noutcome := "allow" if input.resource.owner == "a"',
  });
  const [attack, ask] = [await asking(evil), await asking(good)];
  const answers: string[] = [];
  let isOver = false;
  const attacking = Array.from({ length: ATTACKERS }, async (_, n) => {
    while (!isOver) answers.push(await attack(`attack:${n % sources.length}`));
  });
  await until('each attacker to be answered', () => answers.length >= ATTACKERS);
  const before = answers.length;
  for (let n = 0; n < ASKED; n++) expect(await ask('car:read')).toBe('200 allow');
  const meanwhile = answers.length - before;
  isOver = true;
  await Promise.all(attacking);
  process.stdout.write(`${meanwhile} answers to the attackers meanwhile\n`);
  expect(meanwhile).toBeLessThan(ANSWERS_MAX);
  expect(answers.filter((answer) => !answer.startsWith('200 deny '))).toEqual([]);
});
