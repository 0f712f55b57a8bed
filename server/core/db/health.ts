/**
 * What `accord doctor` asks a database that may be down, of another version, or changed by hand: each question has a connection of
 * its own, and nothing of ours need be right.
 */
import pg from 'pg';
import { Database } from './database.ts';
import { connect } from './hosts.ts';
import { listen } from './listen.ts';
import { urlsOf } from './urls.ts';

const options = { application_name: 'accord-doctor', query_timeout: 5000 };

/** @throws the error of the connection or of the statement */
async function ask<T extends object>(url: string, text: string, values: unknown[] = []): Promise<T[]> {
  const client = await connect(url, options);
  try {
    return (await client.query<T>(text, values)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Whom and what a connection URL names, as the driver reads it. */
export function placeOf(url: string): { place: string; role: string | undefined } {
  const clients = urlsOf(url).urls.map((connectionString) => new pg.Client({ connectionString }));
  const [{ database, user: role }] = clients as [pg.Client];
  return { place: `${database} at ${clients.map(({ host, port }) => `${host}:${port}`).join(', ')}`, role };
}

/** `major`: 18. */
export async function readVersion(url: string): Promise<{ major: number; version: string }> {
  const [row] = await ask<{ major: number; version: string }>(
    url,
    `select current_setting('server_version_num')::int / 10000 as major, current_setting('server_version') as version`,
  );
  return row as { major: number; version: string };
}

/** Whether the role of the URL is a member of the two group roles. */
export async function readMemberships(url: string): Promise<{ app: boolean; system: boolean }> {
  const [row] = await ask<{ app: boolean; system: boolean }>(
    url,
    `select pg_has_role('accord_app', 'usage') as app, pg_has_role('accord_system', 'member') as system`,
  );
  return row as { app: boolean; system: boolean };
}

const TABLES = `
  select c.relname as name, c.relrowsecurity and c.relforcerowsecurity
    and exists (select from pg_policy p where p.polrelid = c.oid and p.polname in ('of_tenant', 'system_only')) as confined
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant' and not a.attisdropped
  where c.relnamespace = 'accord'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1`;

/** Tables with tenants' rows. `confined`: row-level security is on, for the owner too, and shows the rows of a tenant, or only to accord_system. */
export function readTenantTables(url: string): Promise<{ name: string; confined: boolean }[]> {
  return ask(url, TABLES);
}

/** How far the clock of the database is ahead of this one (ms, negative: behind), and how exact that is. */
export async function readClockDifference(url: string, now: () => number): Promise<{ ms: number; exactToMs: number }> {
  const client = await connect(url, options);
  try {
    const before = now();
    const { rows } = await client.query('select extract(epoch from clock_timestamp()) * 1000 as ms');
    const after = now();
    return { ms: Number(rows[0].ms) - (before + after) / 2, exactToMs: (after - before) / 2 };
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * Whether a notification that is sent by one address arrives at the other: not through a pooler that shares connections between transactions,
 * nor where the two lead to different databases; undefined: none could be sent.
 * @param sessionUrl where it is listened for
 * @throws the error of the last server of sessionUrl
 */
export async function notificationsArrive(url: string, sessionUrl: string): Promise<boolean | undefined> {
  const database = new Database({ url, sessionUrl, poolMax: 2, applicationName: 'accord-doctor', observe: () => {} });
  const probed = Promise.withResolvers<boolean | undefined>();
  let left = urlsOf(sessionUrl).urls.length;
  const listener = listen({
    ...{ database, subscriptions: [], probed: probed.resolve },
    observe(observation) {
      if (observation.kind !== 'database_lost') return;
      left -= 1;
      if (left === 0) probed.reject(observation.error);
    },
  });
  try {
    return await probed.promise;
  } finally {
    await listener.close();
    await database.close();
  }
}

const PARTITIONED = `
  select c.relname as name, p.partdefid = 0 as daily,
    array(select right(part.relname, case when p.partdefid = 0 then 10 else 7 end) from pg_inherits i
      join pg_class part on part.oid = i.inhrelid where i.inhparent = c.oid and part.oid <> p.partdefid) as parts,
    array(select to_char((now() at time zone 'UTC') + make_interval(days => n), 'YYYY_MM_DD') from generate_series(0, $1::int) n) as days
  from pg_class c join pg_partitioned_table p on p.partrelid = c.oid
  where c.relnamespace = 'accord'::regnamespace and not c.relispartition order by 1`;
/** `parts`: what its partitions are named after, 2026_11 or 2026_11_23; `days`: today's name and those of the next days. */
export type PartitionedTable = { name: string; daily: boolean; parts: string[]; days: string[] };

export function readPartitions(url: string, daysAhead: number): Promise<PartitionedTable[]> {
  return ask(url, PARTITIONED, [daysAhead]);
}

/** Whether a server has ever run on the database: it made the key of the installation. */
export async function hasInstallationKey(url: string): Promise<boolean> {
  const client = await connect(url, options);
  try {
    await client.query('set role accord_system');
    const { rows } = await client.query('select exists (select from accord.installation_key) as there');
    return rows[0].there;
  } finally {
    await client.end().catch(() => {});
  }
}
