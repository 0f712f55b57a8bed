/** Finding records by an id: their own, or that of the request that made them. */
import { patterns } from '../../crds/index.ts';
import type { Transaction } from '../core/db/database.ts';
import { type Sql, sql } from '../core/db/sql.ts';
import { limits } from '../core/limits.ts';
import { auditData, consentData, decisionData, invitationData, mailData } from './record-store.ts';
import { type RecordKind, RecordRow } from './schema.ts';
import { atText } from './store.ts';

const UUID = new RegExp(patterns.uuid.source, 'u');
/** The number of an event, which is the id of its deliveries too. */
const NUMBER = /^[1-9]\d{0,14}$/;

type Part = [RecordKind, Sql];

/**
 * Newest first. Logs have no index by request: a decision is written for each request, and nobody should wait for what is asked for once
 * a week. The newest limits.logEntriesLookedAtMax of each log are looked through.
 */
export function readRecordsById(
  tx: Transaction,
  tenant: string,
  { id, kinds, limit }: { id: string; kinds: ReadonlySet<RecordKind>; limit: number },
): Promise<RecordRow[]> {
  const parts = [
    ...(UUID.test(id) ? ofRecord(tenant, id) : []),
    ...(NUMBER.test(id) ? numbered(tenant, Number(id)) : []),
    ...ofRequest(tenant, id),
  ].filter(([kind]) => kinds.has(kind));
  const all = parts.map(
    ([kind, rows]) => sql`(select at, id, ${kind}::text as kind, data from (${rows}) as part
      order by at desc, id desc limit ${limit})`,
  );
  const joined = all.reduce((one, other) => sql`${one} union all ${other}`);
  return tx.many(
    RecordRow,
    sql`select ${atText} as at, id, kind, data from
      (select * from (${joined}) as parts order by at desc, id desc limit ${limit}) as found order by found.at desc, found.id desc`,
  );
}

const event = sql`jsonb_build_object('what', type, 'sequence', sequence) as data`;

/** Ids have the instant at which they were made: logs are in the order of time. */
function ofRecord(tenant: string, id: string): Part[] {
  const uuid = sql`${id}::uuid`;
  const made = sql`uuid_extract_timestamp(${uuid})`;
  const near = (time: Sql) =>
    sql`${time} >= ${made} - interval '10 minutes' and ${time} <= ${made} + interval '10 minutes' and id = ${uuid}`;
  const ofLedger = (table: Sql) =>
    sql`select time as at, id, ${consentData} from ${table} where tenant = ${tenant} and ${near(sql`time`)}`;
  return [
    ['decision', sql`select at, id, ${decisionData} from accord.decision where tenant = ${tenant} and id = ${uuid}`],
    ['audit', sql`select at, id, ${auditData} from accord.audit_entry where tenant = ${tenant} and ${near(sql`at`)}`],
    ['consent', ofLedger(sql`accord.ledger_inbox`)],
    ['consent', ofLedger(sql`accord.ledger_entry`)],
    ['event', sql`select time as at, id, ${event} from accord.event where tenant = ${tenant} and ${near(sql`at`)}`],
    [
      'invitation',
      sql`select i.created_at as at, i.id, ${invitationData('invited')}
        from accord.invitation i where i.tenant = ${tenant} and i.id = ${uuid}`,
    ],
    [
      'mail',
      sql`select created_at as at, id, ${mailData}
        from accord.mail_message where tenant = ${tenant} and id = ${uuid}`,
    ],
  ];
}

const numbered = (tenant: string, sequence: number): Part[] => [
  ['event', sql`select time as at, id, ${event} from accord.event where tenant = ${tenant} and sequence = ${sequence}`],
];

function ofRequest(tenant: string, id: string): Part[] {
  const newest = (table: Sql, time: Sql) =>
    sql`(select * from ${table} where tenant = ${tenant} order by ${time} desc, id desc limit ${limits.logEntriesLookedAtMax}) as newest
      where request_id = ${id}`;
  return [
    ['decision', sql`select at, id, ${decisionData} from ${newest(sql`accord.decision`, sql`at`)}`],
    ['audit', sql`select at, id, ${auditData} from ${newest(sql`accord.audit_entry`, sql`at`)}`],
    ['consent', sql`select time as at, id, ${consentData} from ${newest(sql`accord.ledger_inbox`, sql`time`)}`],
    ['consent', sql`select time as at, id, ${consentData} from ${newest(sql`accord.ledger_entry`, sql`time`)}`],
  ];
}
