/** A write of configuration that is committed is answered as such, also when this server then cannot read it. */
import { expect, test, vi } from 'vitest';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';

const server = await createTestServer();

test('a committed write is a success although reading it fails, and is served when it can be read', async () => {
  const tenant = await server.tenant();
  const editor = await server.member(tenant, 'config-editor');
  const put = (outcome: string) =>
    server.app.inject({
      method: 'PUT',
      url: `/tenants/${tenant}/policies/own`,
      headers: { authorization: `Bearer ${editor}` },
      payload: { rego: `package p\noutcome := {"is": "${outcome}"}` },
    });
  expect((await put('first')).statusCode).toBe(200);
  const served = () => server.services.snapshots.get(tenant)?.revision;

  // Only snapshots read the changes as accord_system.
  await asAdmin(server.db.adminUrl, 'revoke select on accord.config_change from accord_system');
  const response = await put('second');
  await asAdmin(server.db.adminUrl, 'grant select on accord.config_change to accord_system');
  expect(response.statusCode, response.body).toBe(200);
  const revision = Number((response.headers['accord-revision'] as string).slice(1));
  expect(server.observations).toContainEqual(expect.objectContaining({ kind: 'snapshot_failed', tenant }));
  await vi.waitFor(() => expect(served()).toBe(revision), { timeout: 20_000 });
});
