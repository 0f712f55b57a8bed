/** `accord erase`: what it prints, and that it says so when there was nobody. */
import { expect, test } from 'vitest';
import { accord } from '../e2e/accord.ts';
import { livingTenant } from '../erasure/living.ts';
import { createTestServer, masterKey } from '../helpers/server.ts';
import { WallClock } from '../invitations/inviting.ts';
import { accordHere } from './here.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);

test('who was there is counted; nobody, and nobody any more, is said so, with the same report and exit code', async () => {
  const { tenant, live } = await livingTenant(server, clock);
  await live('alice', 'a@example.com', 'bob');
  const variables = { ACCORD_DATABASE_URL: server.db.url, ACCORD_MASTER_KEY: masterKey };
  const erase = async (actor: string, run = accordHere) => {
    const { stdout, stderr } = await run(['erase', '--tenant', tenant, '--actor', actor], variables);
    const { status, removed, kept } = JSON.parse(stdout) as { status: string; removed: object; kept: object[] };
    const count = Object.values(removed).reduce((sum: number, some: number) => sum + some, 0);
    return { status, count, stderr, keeps: kept.length > 0 };
  };
  const there = await erase('user:alice', accord);
  expect(there).toMatchObject({ status: 'erased', stderr: '', keeps: true });
  expect(there.count).toBeGreaterThan(0);
  for (const actor of ['user:alice', 'user:never-heard-of', 'unicorn:x']) {
    const name = actor.replace(':', '/');
    const nothing = { status: 'erased', count: 0, stderr: `accord: nothing was found under ${name}\n`, keeps: true };
    expect(await erase(actor)).toEqual(nothing);
  }
  await expect(erase('car:x')).rejects.toThrow(/car is a resource type/);
});
