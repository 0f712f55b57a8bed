/** Holds that the list of rooms is complete: every table, problem, event type and folder belongs to one room, and a room's SQL names its own tables. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { policyUpdated } from '../../server/policies/events.ts';
import { allEventTypes, allProblems } from '../../server/room/catalogue.ts';
import { kindsOf } from '../../server/room/resource-kind.ts';
import type { Room } from '../../server/room/room.ts';
import { rooms } from '../../server/rooms.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestDatabase } from '../helpers/database.ts';

const root = join(import.meta.dirname, '../../server');
const db = await createTestDatabase();
const owners = new Map<string, string>(rooms.flatMap((room) => room.tables.map((table) => [table, room.name])));
const folders = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** What a room's SQL names of other rooms, by room and why. */
const exceptions: Record<string, { tables: readonly string[]; why: string }> = {
  events: { tables: ['tenant'], why: 'events of a tenant that is gone get no number, asked in the same statement' },
  snapshot: { tables: ['tenant'], why: 'what was said of a tenant goes only while there is no successor' },
  ledger: { tables: ['tenant'], why: 'the tenants to seal are those whose row is there, asked in one statement' },
  subscriptions: {
    tables: ['event_counter'],
    why: 'lanes with something to do are those behind the newest event, asked in one statement',
  },
  issuers: {
    tables: ['tenant', 'server'],
    why: 'the token mapping is a part of the spec that issuers have; findings of servers that live, in one statement',
  },
  types: {
    tables: ['relationship', 'entity'],
    why: 'a type that is in use stays: the records are looked at under the lock of the type',
  },
  relationships: { tables: ['tenant'], why: 'rows are written only while the tenant is there, in the same statement' },
  overview: {
    tables: [
      'resource',
      'event_lane',
      'consent_invitation',
      'invitation',
      'signing_key',
      'decision',
      'delivery_attempt',
    ],
    why: 'what needs somebody is asked of many rooms, each question bounded by an index of its own',
  },
  people: {
    tables: [
      ...[
        'relationship',
        'entity',
        'invitation',
        'invitation_use',
        'ledger_entry',
        'ledger_inbox',
        'user_consent',
        'decision',
      ],
      ...['audit_entry', 'mail_message', 'account', 'event'],
    ],
    why: 'all that is recorded about an actor is read in one order, by one statement',
  },
  consents: { tables: ['tenant'], why: 'users are held only while the tenant is there, in the same statement' },
};

test('every folder of server/ is a room, or holds no room', () => {
  const names: string[] = rooms.map(({ name }) => name);
  expect(folders.filter((name) => !names.includes(name)).sort()).toEqual([
    'core',
    'embedded',
    'http',
    'migrations',
    'pages',
    'room',
  ]);
  expect(names.filter((name) => !folders.includes(name))).toEqual([]);
});

describe('tables', () => {
  test('every table of the database belongs to one room', async () => {
    const rows = await asAdmin<{ name: string }>(
      db.adminUrl,
      `select relname as name from pg_class where relnamespace = 'accord'::regnamespace and relkind in ('r', 'p')
        and not relispartition and relname <> 'migration' order by relname`,
    );
    const listed = rooms.flatMap(({ tables }) => tables as readonly string[]);
    expect(rows.map(({ name }) => name)).toEqual([...listed].sort());
  });

  test.each(rooms.map(({ name }) => name))('the SQL of %s names its own', (room) => {
    const stores = readdirSync(join(root, room)).filter((file) => /^(\w+-)*store\.ts$/.test(file));
    const text = stores.map((file) => readFileSync(join(root, room, file), 'utf8')).join('\n');
    const named = [...text.matchAll(/\baccord\.([a-z_]+)/g)].map(([, name]) => name as string);
    const foreign = new Set(named.filter((name) => owners.has(name) && owners.get(name) !== room));
    expect([...foreign].sort()).toEqual([...(exceptions[room]?.tables ?? [])].sort());
  });

  test('rows of a tenant go with it: by a foreign key, or by the hand of their room', async () => {
    const rows = await asAdmin<{ name: string }>(
      db.adminUrl,
      `with recursive going as (
          select 'accord.tenant'::regclass::oid as relation
          union
          select conrelid from pg_constraint join going on confrelid = relation where contype = 'f' and confdeltype = 'c')
        select relname as name from pg_class c join pg_attribute a on attrelid = c.oid and attname = 'tenant'
        where relnamespace = 'accord'::regnamespace and relkind in ('r', 'p') and not relispartition
          and c.oid not in (select relation from going) order by 1`,
    );
    const byHand = rooms.filter((room) => 'tenantRows' in room && removes(room.tenantRows));
    const theirs: string[] = byHand.flatMap(({ tables }) => tables);
    // A manifest is there as long as its object is, whatever became of the tenant that it names.
    expect(rows.map(({ name }) => name).filter((name) => !theirs.includes(name))).toEqual(['resource']);
  });
});

function removes(rows: object): boolean {
  return 'removeRest' in rows || 'removeAfter' in rows;
}

test('every problem that is defined anywhere is in the list, once', () => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const tables = files.flatMap((file) => readFileSync(join(root, file), 'utf8').split('defineProblems({').slice(1));
  const codes = tables.flatMap((text) => {
    const table = text.slice(0, text.indexOf('\n});'));
    return [...table.matchAll(/^ {2}([a-z_]+): \{/gm)].map(([, code]) => code as string);
  });
  expect([...allProblems(rooms).keys()].sort()).toEqual(codes.sort());
});

describe('kinds of custom resources', () => {
  const product = execFileSync('git', ['ls-files', 'operator', 'cli', 'server', 'charts/accord/templates', 'bin'], {
    cwd: join(root, '..'),
    encoding: 'utf8',
  });
  // A room may name the kinds of others: what a manifest refers to, for one.
  const shared = product
    .trim()
    .split('\n')
    .filter((file) => !file.endsWith('.md') && !rooms.some(({ name }) => file.startsWith(`server/${name}/`)));
  // Folders of rooms have names like those of kinds, and comments may give one as an example.
  const codeOf = (file: string) =>
    readFileSync(join(root, '..', file), 'utf8')
      .replace(/from '[^']*'/g, '')
      .replace(/^\s*(\/\/|\*|\/\*).*$/gm, '');
  const exempt: Record<string, { files: RegExp; why: string }> = {
    Tenant: { files: /^(operator|cli\/validate)\//, why: 'all others are children of one' },
    Policy: { files: /^cli\/first-request\.ts$/, why: 'the first request of a new installation asks for one' },
  };

  test.each(kindsOf(rooms).map(({ kind }) => kind.definition))(
    '$kind is named by rooms and crds/ only',
    (definition) => {
      const { kind, plural } = definition;
      const named = new RegExp(`['"\`/](${kind}|${plural})['"\`/]|\\b${kind}Manifest\\b`);
      const naming = shared.filter((file) => named.test(codeOf(file)));
      expect(naming.filter((file) => !exempt[kind]?.files.test(file))).toEqual([]);
      expect(naming.length > 0, exempt[kind]?.why).toBe(exempt[kind] !== undefined);
    },
  );
});

describe('event types', () => {
  const definition = /eventType\('([A-Z_]+)'/g;
  const stated = (room: Room) => (room.events ?? []).map(({ name }) => name);

  test.each(rooms)('$name states those that its files define', (room) => {
    const files = readdirSync(join(root, room.name), { recursive: true, encoding: 'utf8' });
    const text = files.filter((file) => file.endsWith('.ts')).map((file) => readFileSync(join(root, room.name, file)));
    const defined = [...text.join('\n').matchAll(definition)].map(([, name]) => name as string);
    expect(stated(room).toSorted()).toEqual(defined.toSorted());
  });

  test('have one name each', () => {
    expect(allEventTypes(rooms).size).toBe(rooms.flatMap(stated).length);
    const again = { events: [policyUpdated] };
    expect(() => allEventTypes([...rooms, again])).toThrow('event type POLICY_UPDATED is defined twice');
  });

  test('are named by no other room', () => {
    for (const room of rooms) {
      for (const file of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
        if (!file.endsWith('.ts') || file.startsWith(`${room.name}/`)) continue;
        const text = readFileSync(join(root, file), 'utf8');
        for (const name of stated(room)) expect(text.includes(`'${name}'`), `${file} names ${name}`).toBe(false);
      }
    }
  });
});
