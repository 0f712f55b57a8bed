/** Erasing a tenant takes along what servers said of it: a successor must not look as if they served it already. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { eraseTenant, putTenant } from '../../server/tenants/index.ts';
import { putEntityType } from '../../server/types/index.ts';
import { createTestServer, manifestWriter, tenantSpec } from '../helpers/server.ts';

const server = await createTestServer();
const admin = new pg.Client({ connectionString: server.db.adminUrl });
await admin.connect();
afterAll(() => admin.end());

test('a tenant is not erased while manifests name it, and the error says how many', async () => {
  const tenant = await server.tenant();
  const put = (name: string) =>
    putEntityType(server.services.types, manifestWriter, tenant, { kind: 'actor', name, spec: {} });
  for (const [name, count] of [
    ['user', '1 manifest must'],
    ['robot', '2 manifests must'],
  ] as const) {
    await put(name);
    const erasing = eraseTenant(server.services.tenants, manifestWriter, tenant);
    await expect(erasing).rejects.toMatchObject({
      code: 'tenant_has_children',
      message: `${count} be deleted before this tenant.`,
    });
  }
});

test('of a server that has not noticed, too, and of no other tenant', async () => {
  const [tenant, other] = [await server.tenant(), await server.tenant()];
  const slow = randomUUID(); // lives, and looks at nothing
  await admin.query('insert into accord.server (id) values ($1)', [slow]);
  for (const code of [tenant, other])
    await admin.query('insert into accord.server_revision values ($1, $2, 1000000)', [slow, code]);
  await eraseTenant(server.services.tenants, manifestWriter, tenant);
  const said = async (code: string) =>
    (
      await admin.query('select revision::int from accord.server_revision where server = $1 and tenant = $2', [
        slow,
        code,
      ])
    ).rows;
  expect(await said(tenant)).toEqual([]);
  expect(await said(other)).toEqual([{ revision: 1_000_000 }]);
  await putTenant(server.services.tenants, manifestWriter, tenant, tenantSpec());
  expect(await said(tenant)).toEqual([]);
});
