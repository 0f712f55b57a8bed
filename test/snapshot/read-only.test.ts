/** A Postgres that refuses writes, as after a failover or with a full disk at some providers: said everywhere, and over when it is over. */
import { expect, test } from 'vitest';
import { createAdmin } from '../../server/admin.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { until, untilPasses } from '../helpers/wait.ts';

const server = await createTestServer({ ACCORD_MAX_STALENESS: '60' });
const { app, services, db } = server;
const { snapshots, metrics } = services;
const admin = createAdmin({ snapshots, metrics, isReady: () => true, host: 'localhost' });

/** Sessions that are open stay as they are. */
const readOnly = (value: 'on' | 'off') =>
  asAdmin(
    db.adminUrl,
    `do $$ begin
      execute format('alter role accord in database %I set default_transaction_read_only = ${value}', current_database());
    end $$`,
  );
const endSessions = () =>
  asAdmin(
    db.adminUrl,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  );
const health = async () => {
  const [ready, told] = await Promise.all(['/ready', '/metrics'].map((url) => admin.inject(url)));
  return { ready: ready?.json(), metric: /^accord_database_read_only (\d)$/m.exec(told?.body ?? '')?.[1] };
};

test('writes answer 503 with Retry-After, decisions go on, and it is over without a new process', async () => {
  const tenant = await server.tenant();
  const [editor, backend] = await Promise.all([
    server.member(tenant, 'config-editor'),
    server.client(tenant, 'authz:evaluate'),
  ]);
  const put = () =>
    app.inject({
      method: 'PUT',
      url: `/tenants/${tenant}/policies/read`,
      headers: { authorization: `Bearer ${editor}` },
      payload: { rego: 'package p\noutcome := "allow"' },
    });
  const decide = () =>
    app.inject({
      method: 'POST',
      url: `/authz/${tenant}`,
      headers: { authorization: `Bearer ${backend}` },
      payload: { action: 'read' },
    });
  expect((await put()).statusCode).toBe(200);
  expect((await decide()).json()).toEqual({ outcome: 'allow' });
  expect(await health()).toEqual({ ready: { status: 'ready' }, metric: '0' });

  await readOnly('on');
  await endSessions();
  await untilPasses('a write that is refused as read-only', async () => {
    const { statusCode, headers, body } = await put();
    expect([statusCode, headers['retry-after'], JSON.parse(body)]).toMatchObject([
      503,
      '5',
      { code: 'not_ready', detail: 'The database is read-only, and nothing was written. Retry the request later.' },
    ]);
  });
  expect((await decide()).json()).toEqual({ outcome: 'allow' });
  await until('a confirmation that fails', () => snapshots.trouble === 'read-only');
  const warnings = ['Postgres is read-only: requests that write are answered with 503.'];
  expect(await health()).toEqual({ ready: { status: 'ready', warnings }, metric: '1' });

  // The sessions that were opened meanwhile are read-only until they end: nobody ends them but the server.
  await readOnly('off');
  await untilPasses('a write', async () => expect((await put()).statusCode).toBe(200));
  await untilPasses('a server without trouble', async () =>
    expect(await health()).toEqual({ ready: { status: 'ready' }, metric: '0' }),
  );
});
