/** The keys that anybody may read come from memory, and follow what Postgres says of them. */
import pg from 'pg';
import { expect, test } from 'vitest';
import { sql } from '../../server/core/db/sql.ts';
import { limits } from '../../server/core/limits.ts';
import { invitationKey, nonRotatingKey, PublishedKeys } from '../../server/keys/index.ts';
import { createTestServer } from '../helpers/server.ts';

const server = await createTestServer({ ACCORD_RATE_LIMIT: '100000' });
const { invitations: sharing, database } = server.services;
const paths = ['.well-known/jwks.json', 'oidc/jwks'];
const get = (tenant: string, path: string) => server.app.inject({ url: `/${tenant}/${path}` });
const kids = async (tenant: string) =>
  (await get(tenant, '.well-known/jwks.json')).json().keys.map((key: { kid: string }) => key.kid);

test('reading them needs no database, and is not scarce', async () => {
  const tenant = await server.tenant();
  const made = await database.tenant(tenant, (tx) => invitationKey(sharing, tx, tenant));
  // Notifications come in order: when the key of another tenant is known, this one's has been told of.
  const other = await server.tenant();
  expect(await kids(other)).toEqual([]);
  await database.tenant(other, (tx) => invitationKey(sharing, tx, other));
  await expect.poll(() => kids(other)).toHaveLength(1);
  expect(await kids(tenant)).toEqual([made.kid]);
  const admin = new pg.Client({ connectionString: server.db.adminUrl });
  await admin.connect();
  try {
    await admin.query('begin; lock table accord.signing_key in access exclusive mode');
    for (const path of paths) {
      const asked = Array.from({ length: limits.scarcePerSecondMax * 5 }, () => get(tenant, path));
      expect(new Set((await Promise.all(asked)).map((answer) => answer.statusCode)), path).toEqual(new Set([200]));
    }
  } finally {
    await admin.end();
  }
});

test('a key that was made since is among them, and one of an erased tenant is not', async () => {
  const tenant = await server.tenant();
  expect(await kids(tenant)).toEqual([]);
  const receipts = await database.tenant(tenant, (tx) => nonRotatingKey(sharing.encrypter, tx, tenant, 'receipt'));
  await expect.poll(() => kids(tenant)).toEqual([receipts.kid]);
  const invitations = await database.tenant(tenant, (tx) => invitationKey(sharing, tx, tenant));
  await expect.poll(() => kids(tenant)).toEqual([invitations.kid, receipts.kid]);
  await database.system((tx) => tx.run(sql`delete from accord.signing_key where tenant = ${tenant}`));
  await expect.poll(() => kids(tenant)).toEqual([]);
});

test('so many tenants are remembered, and not one more', async () => {
  let readings = 0;
  const published = new PublishedKeys({
    read: async () => {
      readings++;
      return [] as never;
    },
  });
  const ask = async (from: number, to: number) => {
    for (let n = from; n < to; n++) await published.of(`t${n}`);
  };
  await ask(0, limits.publishedKeysTenantsMax);
  await ask(0, limits.publishedKeysTenantsMax);
  expect(readings).toBe(limits.publishedKeysTenantsMax);
  await ask(limits.publishedKeysTenantsMax, limits.publishedKeysTenantsMax + 1);
  await ask(0, 1);
  expect(readings).toBe(limits.publishedKeysTenantsMax + 2);
});
