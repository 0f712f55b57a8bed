/** What `accord doctor` looks at before rooms can be created: the database, its schema, roles, clock and partitions. */
import { Database } from '../../server/core/db/database.ts';
import {
  notificationsArrive,
  placeOf,
  readClockDifference,
  readMemberships,
  readPartitions,
  readTenantTables,
  readVersion,
} from '../../server/core/db/health.ts';
import { assertSchema, SchemaBehind } from '../../server/core/db/migrate.ts';
import { type DoctorCheck, type DoctorFinding, unlessFound } from '../../server/room/doctor.ts';

const VERSION = 18;
/** Tokens and expiries are judged by the servers' clocks, and logs have the database's. */
const CLOCK_WARNING_MS = 1000;
const CLOCK_ERROR_MS = 10_000;
const DAYS_AHEAD = 3;

/** A name with several addresses fails with one error for each, and no message of its own. */
const reasonOf = (error: unknown) => {
  const { message, errors } = error as AggregateError;
  return message || (errors ?? []).map((one: Error) => one.message).join('; ');
};

/** In order. Those behind one that fails need it. @param now ms */
export function databaseChecks(
  { url, sessionUrl = url }: { url: string; sessionUrl?: string | undefined },
  now: () => number,
): readonly DoctorCheck[] {
  return [
    { name: 'database', run: () => lookAtConnection(url) },
    { name: 'migrations', run: () => lookAtSchema(url) },
    { name: 'roles and row-level security', run: () => lookAtRoles(url) },
    { name: 'notifications', run: () => lookAtNotifications(url, sessionUrl) },
    { name: 'clock', run: () => lookAtClock(url, now) },
    { name: 'partitions', run: () => lookAtPartitions(url) },
  ];
}

async function lookAtConnection(url: string): Promise<DoctorFinding[]> {
  const { place, role } = placeOf(url);
  try {
    const { major, version } = await readVersion(url);
    if (major >= VERSION) return [{ status: 'ok', found: `Postgres ${version}, ${place}, as ${role}` }];
    const remedy = `Accord needs Postgres ${VERSION}: upgrade it.`;
    return [{ status: 'error', found: `${place} is Postgres ${version}`, remedy }];
  } catch (error) {
    const found = `the database ${place} cannot be used as ${role}: ${reasonOf(error)}`;
    const remedy = 'Check ACCORD_DATABASE_URL, and that Postgres runs and can be reached from here.';
    return [{ status: 'error', found, remedy }];
  }
}

async function lookAtSchema(url: string): Promise<DoctorFinding[]> {
  try {
    await assertSchema(url);
    return [{ status: 'ok', found: 'the schema is that of this version' }];
  } catch (error) {
    const remedy =
      error instanceof SchemaBehind
        ? 'Run accord migrate, with the owner of the schema in ACCORD_MIGRATION_URL.'
        : 'Run the version of accord that made the database, or restore a backup that fits this version.';
    return [{ status: 'error', found: reasonOf(error), remedy }];
  }
}

async function lookAtRoles(url: string): Promise<readonly DoctorFinding[]> {
  const { role } = placeOf(url);
  const found: DoctorFinding[] = [];
  const { app, system } = await readMemberships(url);
  if (!app || !system) {
    const remedy = 'Run accord migrate: it makes the role of ACCORD_DATABASE_URL a member.';
    const group = app ? 'accord_system' : 'accord_app';
    found.push({ status: 'error', found: `the role ${role} is no member of ${group}`, remedy });
  }
  const database = new Database({ url, poolMax: 2, applicationName: 'accord-doctor', observe: () => {} });
  try {
    await database.assertConfined();
  } catch (error) {
    const remedy = 'Make such a login role, and run accord migrate with it: that makes it a member.';
    found.push({ status: 'error', found: reasonOf(error), remedy });
  } finally {
    await database.close();
  }
  const tables = await readTenantTables(url);
  const open = tables.filter(({ confined }) => !confined).map(({ name }) => name);
  if (open.length > 0) {
    const remedy =
      'Somebody changed the schema, and one tenant may see the rows of another. Stop the servers, and make the table as docs/schema.txt says: row-level security enabled and forced, with the policy of_tenant.';
    found.push({ status: 'error', found: `row-level security is not in force for ${open.join(', ')}`, remedy });
  }
  return unlessFound(
    found,
    `${role} is confined, and the tables of tenants (${tables.length}) have row-level security`,
  );
}

const SAME = 'ACCORD_DATABASE_SESSION_URL must lead to the database of ACCORD_DATABASE_URL, with the same role.';

async function lookAtNotifications(url: string, sessionUrl: string): Promise<DoctorFinding[]> {
  try {
    const arrive = await notificationsArrive(url, sessionUrl);
    if (arrive) return [{ status: 'ok', found: 'notifications of Postgres arrive' }];
    if (arrive === undefined)
      return [{ status: 'error', found: `${placeOf(url).place} sends no notification`, remedy: SAME }];
    const remedy =
      'Give ACCORD_DATABASE_SESSION_URL an address of the same database that no pooler in transaction mode is in front of. Until then servers find changes by polling, seconds later.';
    return [{ status: 'warning', found: 'notifications of Postgres do not arrive', remedy }];
  } catch (error) {
    const found = `nothing can be listened for at ${placeOf(sessionUrl).place}: ${reasonOf(error)}`;
    return [{ status: 'error', found, remedy: SAME }];
  }
}

async function lookAtClock(url: string, now: () => number): Promise<DoctorFinding[]> {
  const { ms, exactToMs } = await readClockDifference(url, now);
  // What the way there and back took is not the clock's.
  const off = Math.max(0, Math.abs(ms) - exactToMs);
  if (off < CLOCK_WARNING_MS)
    return [{ status: 'ok', found: 'this clock and that of the database agree within a second' }];
  const direction = ms > 0 ? 'ahead of' : 'behind';
  const found = `the clock of the database is ${(off / 1000).toFixed(1)} seconds ${direction} that of this machine`;
  const remedy =
    'Let both follow the same time (NTP). Until then tokens, invitations and consents begin and end early or late.';
  return [{ status: off < CLOCK_ERROR_MS ? 'warning' : 'error', found, remedy }];
}

async function lookAtPartitions(url: string): Promise<readonly DoctorFinding[]> {
  const tables = await readPartitions(url, DAYS_AHEAD);
  const found = tables.flatMap(({ name, daily, parts, days }): DoctorFinding[] => {
    const wanted = daily ? days : [...new Set(days.map((day) => day.slice(0, 7)))];
    const missing = wanted.filter((part) => !parts.includes(part));
    if (missing.length === 0) return [];
    const effect = daily ? 'its rows are refused then' : 'its rows go to the default partition then';
    const remedy =
      'A running accord serve makes partitions at its start and daily: start one, or look for background_failed with the task "making partitions" in its log. By hand: select accord.ensure_partitions(3).';
    return [
      {
        status: daily && missing[0] === wanted[0] ? 'error' : 'warning',
        found: `${name} has no partition for ${missing.join(', ').replaceAll('_', '-')}: ${effect}`,
        remedy,
      },
    ];
  });
  const names = tables.map(({ name }) => name).join(', ');
  return unlessFound(found, `there are partitions for the next ${DAYS_AHEAD} days: ${names}`);
}
