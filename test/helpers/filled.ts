/**
 * Fills tables with rows, each column by its type: of many tenants, nothing of them due. A table that is made later is filled too;
 * one whose checks refuse such rows needs values of its own here.
 */
import type pg from 'pg';

type Column = { name: string; type: string; generated: boolean };
/** SQL of a value by its column, where `n` is the number of the row. */
export type Values = Record<string, string>;

const FUTURE = `timestamptz '2100-01-01' + make_interval(secs => n)`;

const byType: Record<string, string> = {
  text: `'x' || n`,
  uuid: 'uuidv7()',
  json: `'{}'`,
  jsonb: `'{}'`,
  bytea: `sha256(n::text::bytea)`,
  boolean: 'false',
  'timestamp with time zone': FUTURE,
  smallint: '1',
  integer: 'n',
  bigint: 'n',
};

/** Those that their types do not say: what checks ask for, and what is waited for rather than done. */
const special: Record<string, Values> = {
  consent_definition: { language_fallback: 'null' },
  consent_document: { told_effective: 'null' },
  consent_version: {
    end_date: `${FUTURE} + interval '1 day'`,
    grace_period: `'P1D'`,
    told_start: 'null',
    told_end: 'null',
  },
  delivery_attempt: { at: 'now()' },
  event: { at: 'now()' },
  event_counter: { removed: '0' },
  event_lane: { owner: 'null', cursor: '1000000000', blocked_until: 'null', disabled_at: 'null' },
  event_subscription: { spec: `'{"paused": false}'` },
  invitation: { ended_at: 'null', uses: '0' },
  mail_lane: { owner: 'null' },
  mail_message: {
    status: `case when n % 2 = 0 then 'sent' else 'waiting' end`,
    content_encrypted: `case when n % 2 = 1 then 'x'::bytea end`,
    settled_at: `case when n % 2 = 0 then now() end`,
  },
  relationship: { told_expiry: 'null' },
  signing_key: { retires_at: FUTURE },
  tenant: { revision: '0' },
};

async function columnsOf(client: pg.Client, table: string): Promise<Column[]> {
  const { rows } = await client.query<Column>(
    `select attname as name, regexp_replace(format_type(atttypid, null), '\\(.*\\)', '') as type,
        attgenerated <> '' or attidentity <> '' as generated
      from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
    [`accord.${table}`],
  );
  return rows;
}

/** Of columns that have one of a list, or so many characters or bytes. */
async function checkedValues(client: pg.Client, table: string): Promise<Values> {
  const { rows } = await client.query<{ def: string }>(
    `select pg_get_constraintdef(oid) as def from pg_constraint where conrelid = $1::regclass and contype = 'c'`,
    [`accord.${table}`],
  );
  const values: Values = {};
  for (const { def } of rows) {
    const [, listed = '', first = ''] = /^CHECK \(\((\w+) = ANY \(ARRAY\[('[^']+')/.exec(def) ?? [];
    if (listed !== '') values[listed] = first;
    const [, sized = '', size = ''] = /^CHECK \(\(length\((\w+)\) = (\d+)\)\)/.exec(def) ?? [];
    if (sized !== '')
      values[sized] = /digest|hash|salt|^id$/.test(sized)
        ? `substr(sha256(n::text::bytea), 1, ${size})`
        : `lpad(n::text, ${size}, 'x')`;
  }
  return values;
}

/** Tables of the schema, partitioned ones as a whole. */
export async function tablesOf(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'accord'::regnamespace and relkind in ('r', 'p')
      and not relispartition order by relname`,
  );
  return rows.map(({ name }) => name);
}

/** As the superuser, without foreign keys and triggers. */
export async function fill(client: pg.Client, table: string, count: number, values: Values = {}): Promise<void> {
  const columns = (await columnsOf(client, table)).filter(({ generated }) => !generated);
  const given: Values = { ...(await checkedValues(client, table)), ...special[table], ...values };
  const list = columns.map(({ name, type }) => given[name] ?? byType[type] ?? 'null');
  await client.query('set session_replication_role = replica');
  await client.query(
    `insert into accord.${table} (${columns.map(({ name }) => `"${name}"`).join()})
      select ${list.join()} from generate_series(1, ${count}) n`,
  );
  await client.query('set session_replication_role = origin');
}
