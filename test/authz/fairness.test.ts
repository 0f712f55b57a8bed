/**
 * What a tenant's p99 becomes while another tenant attacks: real HTTP over loopback, 50 connections of attackers as
 * fast as they are answered, the victim at a fixed rate from another process. Quiet and attacked windows alternate, so
 * that whatever else the machine does falls on both.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { createTestServer } from '../helpers/server.ts';
import { conflicting, growing, looping, notQuiteLooping } from './attacks.ts';
import type { Answered, Piece, Target } from './load-client.ts';

const ATTACKERS = 50;
const WINDOWS = 5;
const WINDOW_MS = 1000;
const VICTIM_EVERY_MS = 4;
const RATIO_MAX = 5;

const server = await createTestServer();
const [evil, good] = [await server.tenant(), await server.tenant()];
const url = await server.app.listen({ port: 0, host: '127.0.0.1' });
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill();
});

function client(): (piece: Piece) => Promise<Answered> {
  const child = fork(new URL('./load-client.ts', import.meta.url), { execArgv: [] });
  children.push(child);
  return async (piece) => {
    child.send(piece);
    const [answered] = (await once(child, 'message')) as [Answered];
    return answered;
  };
}

async function put(tenant: string, name: string, rego: string): Promise<void> {
  const response = await server.app.inject({
    method: 'PUT',
    url: `/tenants/${tenant}/policies/${name}`,
    headers: { authorization: `Bearer ${await server.member(tenant, 'config-editor')}` },
    payload: { rego },
  });
  expect(response.json()).toEqual({});
}

async function target(tenant: string, names: string[]): Promise<Target> {
  const token = await server.client(tenant, 'authz:evaluate');
  const bodies = names.map((action) => ({ subject: { id: 'a' }, action, resource: { owner: 'a' } }));
  return { url: `${url}/authz/${tenant}`, token, bodies };
}

const [victim, attackers] = [client(), client()];
await put(good, 'car:read', 'package a\ndefault outcome := "deny"\noutcome := "allow" if input.resource.owner == "a"');
const victimTarget = await target(good, ['car:read']);
const askAsVictim = () => victim({ ...victimTarget, everyMs: VICTIM_EVERY_MS, count: WINDOW_MS / VICTIM_EVERY_MS });

/** Quiet and attacked windows by turns. */
async function measure(attack: Target) {
  const [quiet, attacked]: [number[], number[]] = [[], []];
  const answers: Record<string, number> = {};
  for (let window = 0; window < WINDOWS; window++) {
    quiet.push(...(await askAsVictim()).latencies);
    const attacking = attackers({ ...attack, connections: ATTACKERS, ms: WINDOW_MS + 300 });
    await sleep(200);
    const asked = await askAsVictim();
    expect(asked.answers).toEqual({ '200 allow': WINDOW_MS / VICTIM_EVERY_MS });
    attacked.push(...asked.latencies);
    for (const [answer, count] of Object.entries((await attacking).answers)) {
      answers[answer] = (answers[answer] ?? 0) + count;
    }
  }
  return { quiet: percentiles(quiet), attacked: percentiles(attacked), answers };
}

function percentiles(latencies: number[]): { p50: number; p99: number } {
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] as number;
  return { p50: at(0.5), p99: at(0.99) };
}

async function attackWith(name: string, sources: string[]): Promise<Target> {
  const names = sources.map((_, index) => `attack:${name.replaceAll(' ', '-')}-${index}`);
  for (const [index, source] of sources.entries()) await put(evil, names[index] as string, source);
  await askAsVictim(); // warm
  return target(evil, names);
}

/** Prints the figures. @returns how many times the quiet p99 the attacked one is */
async function ratioOf(name: string, attack: Target): Promise<number> {
  const { quiet, attacked, answers } = await measure(attack);
  const ratio = attacked.p99 / quiet.p99;
  const figures = JSON.stringify({ quiet, attacked, ratio }, round);
  process.stdout.write(`${name}: ${figures} attackers got ${JSON.stringify(answers)}\n`);
  expect(Object.keys(answers).filter((answer) => !answer.startsWith('200 deny '))).toEqual([]);
  return ratio;
}

test.each([
  ['loop and swallow memory', [looping, growing]],
  ['give conflicts', [conflicting]],
])(
  `${ATTACKERS} attackers whose policies %s raise another tenant's p99 at most ${RATIO_MAX} times`,
  async (name, sources) => {
    const attack = await attackWith(name, sources);
    let ratio = Number.POSITIVE_INFINITY;
    // What else runs on the machine is measured too: once again, and again, before it counts.
    for (let attempt = 0; attempt < 3 && ratio > RATIO_MAX; attempt++) ratio = await ratioOf(name, attack);
    expect(ratio).toBeLessThanOrEqual(RATIO_MAX);
  },
  120_000,
);

// Within the budget a tenant may use the whole thread, one evaluation a turn. How long others then wait depends on
// whether the server has a core to itself, so the figures are printed and what everybody is answered is held.
test(`${ATTACKERS} attackers who compute a little less than is counted leave others their answers`, async () => {
  const name = 'compute a little less than is counted';
  await ratioOf(name, await attackWith(name, [notQuiteLooping]));
}, 120_000);

function round(_: string, value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value * 100) / 100 : value;
}
