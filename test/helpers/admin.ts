/** One statement as the database's superuser, whom neither grants nor row-level security bind: to look behind the servers. */
import pg from 'pg';

export async function asAdmin<Row extends object>(adminUrl: string, text: string, values: unknown[] = []) {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    return (await client.query(text, values)).rows as Row[];
  } finally {
    await client.end();
  }
}

/** How many sessions of a database wait for a lock. @param query what their statements begin with */
export async function waitingForLock(adminUrl: string, query = ''): Promise<number> {
  const rows = await asAdmin(
    adminUrl,
    `select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and starts_with(query, $1)`,
    [query],
  );
  return rows.length;
}

/** An outage of one database: connections end, and are refused to all but the superuser. */
export function outageOf(adminUrl: string) {
  const name = /\/(t_\w+)\?/.exec(adminUrl)?.[1] as string;
  return {
    async begin() {
      await asAdmin(adminUrl, `alter database ${name} connection limit 0`);
      await asAdmin(
        adminUrl,
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()',
        [name],
      );
    },
    end: () => asAdmin(adminUrl, `alter database ${name} connection limit -1`),
  };
}

/** Holds a table, so that whoever reads or writes it waits. Let go by `await using`, or before. */
export async function holdTable(adminUrl: string, table: 'accord.ledger_inbox' | 'accord.relationship') {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  await client.query(`begin; lock table ${table} in access exclusive mode`);
  let ended: Promise<void> | undefined;
  const letGo = () => (ended ??= client.end());
  const waiting = `from pg_locks where relation = '${table}'::regclass and not granted`;
  return {
    letGo,
    [Symbol.asyncDispose]: letGo,
    waiting: async () => (await client.query(`select pid ${waiting}`)).rowCount,
    /** Ends the connections of those who wait. @returns how many */
    endWaiting: async () => (await client.query(`select pg_terminate_backend(pid) ${waiting}`)).rowCount,
  };
}
