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
