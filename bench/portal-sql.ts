/**
 * The direct SQL that GraphQL's pages are compared with: a bare Fastify route that reads the same rows from the same views, in one
 * read-only transaction of the same role under row-level security, sent in one round trip. It knows no token, no cost and no
 * schema, and is told the statement.
 */
import Fastify from 'fastify';
import pg from 'pg';

type Asked = { text: string; values: string[] };

export async function serveBareSql(host: string, port: number): Promise<{ close(): Promise<void> }> {
  const { ACCORD_DATABASE_URL: connectionString } = process.env;
  const pool = new pg.Pool({ connectionString, max: 1, pipeline: true });
  const begin = `begin isolation level repeatable read read only; set local accord.tenant = 'bench'; set local role accord_reader_admin`;
  const app = Fastify();
  app.post('/', async ({ body }) => {
    const { text, values } = body as Asked;
    const client = await pool.connect();
    try {
      const [, { rows }] = await Promise.all([
        client.query(begin),
        client.query({ text, values }),
        client.query('commit'),
      ]);
      return { data: { nodes: rows.slice(0, 100), pageInfo: { hasNextPage: rows.length > 100 } } };
    } finally {
      client.release();
    }
  });
  await app.listen({ host, port });
  return {
    async close() {
      await app.close();
      await pool.end();
    },
  };
}
