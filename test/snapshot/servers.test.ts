/** C/servers: which servers live, and what each of them serves of a tenant. */
import { expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';
import { membersOf } from '../members/roles.ts';

const server = await createTestServer();
const tenant = await server.tenant();
const members = await membersOf(server, tenant);
const run = (text: string) => asAdmin(server.db.adminUrl, text, []);

test('lists those that live, with the revision that each serves', async () => {
  const put = await members['config-editor']('PUT', '/actor-types/user', { body: {} });
  const revision = put.headers['accord-revision'];
  const { status, body } = await until('the server to say what it serves', async () => {
    const answer = await members['config-viewer']('GET', '/servers');
    return answer.body.servers[0]?.revision === revision ? answer : undefined;
  });
  expect([status, body.revision]).toEqual([200, revision]);
  expect(body.servers).toEqual([
    { id: expect.any(String), startedAt: expect.any(String), seenAt: expect.any(String), revision, current: true },
  ]);
  await run('insert into accord.server (id) values (gen_random_uuid())');
  await run("insert into accord.server (id, seen_at) values (gen_random_uuid(), now() - interval '2 minutes')");
  const more = (await members.support('GET', '/servers')).body.servers;
  expect(more.map((one: { current: boolean }) => one.current)).toEqual([true, false]);
  await members.refuses('GET', '/servers', ['security-admin', 'config-editor', 'config-viewer', 'support']);
});

test('and no more than there is room for', async () => {
  await run(
    `insert into accord.server (id) select gen_random_uuid() from generate_series(1, ${limits.serversShownMax})`,
  );
  expect((await members['security-admin']('GET', '/servers')).body.servers.length).toBe(limits.serversShownMax);
});
