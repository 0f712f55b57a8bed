/** The SQL of what time brings to definitions. Those that are archived are passed over: nothing of them is active. `now` is RFC 3339. */
import { type Static, Type } from 'typebox';
import type { Transaction } from '../core/db/database.ts';
import { type Due, tenantsWith } from '../core/db/due.ts';
import { Instant, Nullable } from '../core/db/rows.ts';
import { literal, sql } from '../core/db/sql.ts';
import { limits } from '../core/limits.ts';

const unless = sql`coalesce((select archived from accord.consent_definition c
  where c.tenant = d.tenant and c.name = d.definition), true)`;

const effective = (now: string) =>
  ({
    ...{ table: 'consent_document', instant: 'effective_date', unless },
    untold: sql`told_effective is distinct from effective_date`,
    isDue: sql`effective_date <= ${now}`,
  }) satisfies Due;
const starting = (now: string) =>
  ({
    ...{ table: 'consent_version', instant: 'start_date', unless },
    untold: sql`told_start is distinct from start_date`,
    isDue: sql`start_date <= ${now}`,
  }) satisfies Due;
/** A version holds up to its end_date, inclusively. */
const ending = (now: string) =>
  ({
    ...{ table: 'consent_version', instant: 'end_date', unless },
    untold: sql`told_end is distinct from end_date`,
    isDue: sql`end_date < ${now}`,
  }) satisfies Due;
const ofTenant = (tenant: string, { untold, isDue, unless }: ReturnType<typeof effective>) =>
  sql`d.tenant = ${tenant} and ${untold} and ${isDue} and not (${unless})`;

export function tenantsWithEffective(tx: Transaction, now: string): Promise<string[]> {
  return tenantsWith(tx, effective(now));
}

export function tenantsWithStarts(tx: Transaction, now: string): Promise<string[]> {
  return tenantsWith(tx, starting(now));
}

export function tenantsWithEnds(tx: Transaction, now: string): Promise<string[]> {
  return tenantsWith(tx, ending(now));
}

const EffectiveRow = Type.Object({
  definition: Type.String(),
  version: Type.String(),
  language: Type.String(),
  document: Type.String(),
  effective_date: Instant,
});

/** Marks some documents as told, the first to take effect first. One that is being written is left for the next time. */
export async function takeEffective(
  tx: Transaction,
  tenant: string,
  now: string,
): Promise<Static<typeof EffectiveRow>[]> {
  const rows = await tx.many(
    EffectiveRow,
    sql`update accord.consent_document set told_effective = effective_date where ctid = any(array(
        select ctid from accord.consent_document d where ${ofTenant(tenant, effective(now))}
        order by effective_date limit ${literal(limits.timedEventsMax)} for update skip locked))
      returning definition, version, language, document, effective_date`,
  );
  return rows.sort((a, b) => (a.effective_date < b.effective_date ? -1 : 1));
}

const EndingRow = Type.Object({
  definition: Type.String(),
  version: Type.String(),
  start_date: Instant,
  end_date: Instant,
  grace_period: Type.String(),
  ended_until: Nullable(Type.String()),
});
export type EndingVersion = Static<typeof EndingRow>;

const columns = sql`definition, version, start_date, end_date, grace_period, ended_until`;

/** A version whose end of life has started and is not told, locked: from its start on nobody changes it. */
export function lockStarted(tx: Transaction, tenant: string, now: string): Promise<EndingVersion | undefined> {
  return tx.maybe(
    EndingRow,
    sql`select ${columns} from accord.consent_version d where ${ofTenant(tenant, starting(now))}
      order by start_date limit 1 for update skip locked`,
  );
}

export async function markStarted(
  tx: Transaction,
  tenant: string,
  { definition, version }: EndingVersion,
): Promise<void> {
  await tx.run(sql`update accord.consent_version set told_start = start_date
    where tenant = ${tenant} and definition = ${definition} and version = ${version}`);
}

/** A version that has ended and whose users are not all told. */
export function nextEnded(tx: Transaction, tenant: string, now: string): Promise<EndingVersion | undefined> {
  return tx.maybe(
    EndingRow,
    sql`select ${columns} from accord.consent_version d where ${ofTenant(tenant, ending(now))}
      order by end_date limit 1`,
  );
}

/** @param until the consent that was looked at last; undefined: all were */
export async function markEnded(
  tx: Transaction,
  tenant: string,
  { definition, version }: EndingVersion,
  until: string | undefined,
): Promise<void> {
  const marked = until === undefined ? sql`told_end = end_date, ended_until = null` : sql`ended_until = ${until}::uuid`;
  await tx.run(sql`update accord.consent_version set ${marked}
    where tenant = ${tenant} and definition = ${definition} and version = ${version}`);
}
