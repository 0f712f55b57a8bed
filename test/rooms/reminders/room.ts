/** Stands for a folder of server/: a room with one kind of custom resource, and all that a kind may state. */
import { Type } from 'typebox';
import type { Kind, Manifest } from '../../../crds/index.ts';
import { authorOf } from '../../../server/core/author.ts';
import type { Transaction } from '../../../server/core/db/database.ts';
import { Json } from '../../../server/core/db/rows.ts';
import { sql } from '../../../server/core/db/sql.ts';
import { checkDeletionOwnership, checkOwnership, type Owner } from '../../../server/core/ownership.ts';
import { defineProblems } from '../../../server/core/problems.ts';
import { refusalBy, unknownReference } from '../../../server/room/manifest-checks.ts';
import { claimOf, type ResourceKind } from '../../../server/room/resource-kind.ts';
import { defineRoom } from '../../../server/room/room.ts';
import { readEntityType } from '../../../server/types/index.ts';
import { type ConfigWriteServices, transferRow, write, writesRoom } from '../../../server/writes/index.ts';
import { type ReminderManifest, reminder } from './crd.ts';

declare module '../../../server/core/audit-kinds.ts' {
  interface RoomAuditKinds {
    reminder: true;
  }
}

/** Stands for server/migrations/NNNNNN_reminders.sql. */
export const migration = [
  `create table accord.reminder (tenant text references accord.tenant on delete cascade, name text, audience text not null,
    text text not null, read bigint not null default 0, read_at timestamptz, owner jsonb not null, revision bigint not null,
    primary key (tenant, name))`,
  `select accord.isolate('accord.reminder')`,
];

const reminderProblem = defineProblems({
  reminder_for_nobody: {
    status: 400,
    title: 'Reminder for nobody',
    when: 'The tenant has no actors of this type.',
    refusal: { reason: 'NobodyToRemind', dependsOnOthers: true },
  },
  reminder_too_loud: {
    status: 400,
    title: 'Reminder too loud',
    when: 'A reminder must not be in capitals.',
    refusal: { reason: 'TooLoud' },
  },
});

const Row = Type.Object({
  name: Type.String(),
  audience: Type.String(),
  text: Type.String(),
  read: Type.Integer(),
  owner: Json<Owner>(),
  revision: Type.Integer(),
});
const columns = sql`name, audience, text, read, owner, revision`;
const Claim = Type.Object({ tenant: Type.String(), name: Type.String() });

const readReminder = (tx: Transaction, tenant: string, name: string) =>
  tx.maybe(Row, sql`select ${columns} from accord.reminder where tenant = ${tenant} and name = ${name}`);

function checkText(text: string): void {
  if (text === text.toUpperCase()) throw reminderProblem('reminder_too_loud');
}

const reminderKind: ResourceKind<ConfigWriteServices, ReminderManifest> = {
  definition: reminder as Kind as Kind<Manifest['kind']>,
  order: 100,
  claims: (manifest) => claimOf(manifest, manifest.metadata.name),
  find: ({ database }, { tenant, name }) => database.read(tenant, (tx) => readReminder(tx, tenant, name)),
  put: (services, writer, { tenant, name }, { spec: { for: audience, text } }) =>
    write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
      const row = await readReminder(unit.tx, tenant, name);
      checkOwnership(row?.owner, writer, unit.tenantRow.spec.configAuthority);
      checkText(text);
      const type = await readEntityType(unit.tx, tenant, audience, 'use');
      if (type?.kind !== 'actor') throw reminderProblem('reminder_for_nobody');
      if (row?.audience === audience && row.text === text) return;
      await unit.tx.run(sql`insert into accord.reminder (tenant, name, audience, text, owner, revision)
        values (${tenant}, ${name}, ${audience}, ${text}, ${JSON.stringify(writer.owner)}, ${unit.revision})
        on conflict (tenant, name) do update set audience = excluded.audience, text = excluded.text, owner = excluded.owner,
          revision = excluded.revision`);
      unit.changed('reminder', name, 'put');
    }),
  transfer: (services, writer, { tenant, name }, to) => {
    const row = {
      ...{ kind: 'reminder' as const, name },
      ownerOf: async (tx: Transaction) => (await readReminder(tx, tenant, name))?.owner,
      async setOwner(tx: Transaction, owner: Owner) {
        await tx.run(sql`update accord.reminder set owner = ${JSON.stringify(owner)}
          where tenant = ${tenant} and name = ${name}`);
      },
    };
    return transferRow(services, tenant, writer, row, to);
  },
  remove: (services, writer, { tenant, name }) =>
    write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
      const row = await readReminder(unit.tx, tenant, name);
      if (row === undefined) return;
      checkDeletionOwnership(row.owner, writer, unit.tenantRow.spec.configAuthority);
      await unit.tx.run(sql`delete from accord.reminder where tenant = ${tenant} and name = ${name}`);
      unit.changed('reminder', name, 'delete');
    }),
  async describe({ database }, { tenant, name }) {
    const row = await database.read(tenant, (tx) => readReminder(tx, tenant, name));
    return row && { read: row.read };
  },
  async conditions({ database }, { tenant, name }) {
    const row = await database.read(tenant, (tx) => readReminder(tx, tenant, name));
    if (row === undefined) return [];
    const about = { type: 'Read', isEvent: true } as const;
    return row.read > 0
      ? [{ ...about, status: 'True', reason: 'Read', message: 'Somebody has read it.' }]
      : [{ ...about, status: 'False', reason: 'NotRead', message: 'Nobody has read it yet.' }];
  },
  conditionsChanged: ({ database }, withinMs) =>
    database.systemPipelined((tx) =>
      tx.many(
        Claim,
        sql`select tenant, name from accord.reminder
          where read_at > now() - make_interval(secs => ${withinMs / 1000})`,
      ),
    ),
  async exported(tx, { tenant }) {
    const rows = await tx.many(Row, sql`select ${columns} from accord.reminder where tenant = ${tenant}`);
    return rows.map(({ name, audience, text, owner }) => ({
      ...{ name, isObjectName: true, owner },
      spec: { tenantRef: { name: tenant }, for: audience, text },
    }));
  },
  checks: {
    rules: { 'short-reminder': 'A reminder says little.' },
    unique: ({ spec }) => ({ value: spec.text, message: 'the tenant is already reminded of this by the manifest in' }),
    references: ({ spec }, given) =>
      given.has('ActorType', spec.for) ? [] : [unknownReference('/spec/for', 'ActorType', spec.for)],
    acceptance: ({ spec }) => refusalBy(() => checkText(spec.text)),
    checker: () => ({
      async check({ spec }) {
        if (spec.text.includes(' ')) return [];
        return [{ rule: 'short-reminder', pointer: '/spec/text', message: 'it says little', severity: 'note' }];
      },
      close: async () => {},
    }),
  },
};

export const remindersRoom = defineRoom({
  name: 'reminders',
  tables: ['reminder'],
  create: (_, use): ConfigWriteServices => use(writesRoom),
  resourceKinds: [reminderKind],
  problems: reminderProblem,
});
