// Writes the GraphQL schema of a migrated database as code: node generate.mjs URL FILE. Run by docs/generate.ts, which says when.

import { exportSchema } from 'graphile-export';
import pg from 'pg';
import { makeSchema } from 'postgraphile';
import { preset } from './preset.mjs';

const [url, file] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 2 });
const { schema } = await makeSchema(preset(pool));
await exportSchema(schema, file, { mode: 'typeDefs' });
await pool.end();
