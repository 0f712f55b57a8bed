/** A room is added by adding a room: a small one, with all that a room may have, works without a change to any other file. */
import { Type } from 'typebox';
import { beforeAll, expect, test } from 'vitest';
import { definitionOf, type Kind, kinds } from '../../crds/index.ts';
import { LockLeadership, startOperator } from '../../operator/index.ts';
import type { Key, KindName } from '../../operator/source.ts';
import { authorOf } from '../../server/core/author.ts';
import { readConfig } from '../../server/core/config.ts';
import type { Transaction } from '../../server/core/db/database.ts';
import { Json } from '../../server/core/db/rows.ts';
import { sql } from '../../server/core/db/sql.ts';
import { checkOwnership, type Owner } from '../../server/core/ownership.ts';
import { defineProblems } from '../../server/core/problems.ts';
import { eraseActor } from '../../server/erasure/index.ts';
import { answerWritten, writerOf } from '../../server/http/config-api.ts';
import { type RunningServer, startServer } from '../../server/main.ts';
import { ensureLocalMember, mintPortalToken } from '../../server/members/index.ts';
import { policiesRoom } from '../../server/policies/index.ts';
import { eventData, eventType } from '../../server/room/events.ts';
import { claimOf, type ResourceKind } from '../../server/room/resource-kind.ts';
import { defineRoom } from '../../server/room/room.ts';
import { runTasks } from '../../server/room/tasks.ts';
import { loadedByName, snapshotPart } from '../../server/room/tenant-snapshot.ts';
import { rooms } from '../../server/rooms.ts';
import { createServices, type Services } from '../../server/services.ts';
import { snapshotRoom } from '../../server/snapshot/index.ts';
import { eraseTenant, putTenant, tenantsRoom } from '../../server/tenants/index.ts';
import { type ConfigWriteServices, write, writesRoom } from '../../server/writes/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { EmittedEvents } from '../helpers/emitted.ts';
import { manifestWriter, masterKey, tenantSpec } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';
import { MemorySource } from '../operator/memory-source.ts';

declare module '../../server/room/tenant-snapshot.ts' {
  interface SnapshotFields {
    notes?: ReadonlyMap<string, string>;
  }
}

declare module '../../server/core/audit-kinds.ts' {
  interface RoomAuditKinds {
    note: true;
  }
}

declare module '../../server/core/observe.ts' {
  interface RoomObservations {
    note_written: { tenant: string };
  }
}

const noteProblem = defineProblems({
  note_not_found: { status: 404, title: 'Note not found', when: 'There is no note of this name.' },
});
const noteWritten = eventType('NOTE_WRITTEN', {
  ...{ when: 'A note was written.', operations: ['PUT /tenants/{tenant}/notes/{name}'] },
  ...{ data: eventData({ name: Type.String() }), example: { requestor: 'alice', name: 'one' } },
  keyOf: ({ name }) => `note/${name}`,
});
const Params = Type.Object({ tenant: Type.String(), name: Type.String() });
const Body = Type.Object({ text: Type.String(), by: Type.String() });
const NoteRow = Type.Object({ tenant: Type.String(), name: Type.String(), text: Type.String() });
const OwnedRow = Type.Object({ owner: Json<Owner>(), revision: Type.Integer() });

const loadNotes = (tx: Transaction, tenant?: string, names?: readonly string[]) =>
  tx.many(
    NoteRow,
    sql`select tenant, name, text from accord.note where (${tenant ?? null}::text is null or tenant = ${tenant ?? null})
      and (${names ?? null}::text[] is null or name = any(${names ?? null}::text[]))`,
  );

const findNote = (tx: Transaction, tenant: string, name: string) =>
  tx.maybe(OwnedRow, sql`select owner, revision from accord.note where tenant = ${tenant} and name = ${name}`);

/** Of manifests whose schema stands in crds/, where the type of all manifests names it. */
const noteKind: ResourceKind<ConfigWriteServices> = {
  definition: { ...definitionOf('Policy'), kind: 'Note' as KindName, plural: 'notes' },
  order: 70,
  claims: (manifest) => claimOf(manifest, manifest.metadata.name),
  find: ({ database }, { tenant, name }) => database.read(tenant, (tx) => findNote(tx, tenant, name)),
  put: (services, writer, { tenant, name }, manifest) =>
    write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
      const { text } = manifest.spec as unknown as { text: string };
      checkOwnership((await findNote(unit.tx, tenant, name))?.owner, writer);
      await unit.tx.run(sql`insert into accord.note (tenant, name, text, owner, revision)
        values (${tenant}, ${name}, ${text}, ${JSON.stringify(writer.owner)}, ${unit.revision})
        on conflict (tenant, name) do update set text = excluded.text, owner = excluded.owner, revision = excluded.revision`);
      unit.changed('note', name, 'put');
    }),
  exported: async () => [],
  transfer: async () => {
    throw new Error('nobody lets go of a note here');
  },
  remove: (services, writer, { tenant, name }) =>
    write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
      await unit.tx.run(sql`delete from accord.note where tenant = ${tenant} and name = ${name}`);
      unit.changed('note', name, 'delete');
    }),
};

const notesRoom = defineRoom({
  name: 'notes',
  tables: ['note'],
  create: ({ observe }, use) => ({
    ...use(writesRoom),
    observe,
    ...use(snapshotRoom),
    runs: { count: 0 },
    closed: { count: 0 },
  }),
  resourceKinds: [noteKind],
  routes(app, services) {
    app.route({
      method: 'PUT',
      url: '/tenants/:tenant/notes/:name',
      config: { access: { api: 'config', roles: ['config-editor'] } },
      bodyLimit: 1000,
      schema: { params: Params, body: Body },
      handler: async (request, reply) => {
        const { tenant, name } = request.params;
        const { text, by } = request.body;
        const writer = writerOf(request);
        const { revision } = await write(
          services,
          authorOf(tenant, writer),
          { locks: 'configuration' },
          async (unit) => {
            await unit.tx.run(sql`insert into accord.note (tenant, name, text, author) values (${tenant}, ${name}, ${text}, ${by})
            on conflict (tenant, name) do update set text = excluded.text`);
            unit.changed('note', name, 'put');
            unit.emit(noteWritten, { requestor: by, name });
          },
        );
        services.observe({ kind: 'note_written', tenant });
        return answerWritten(reply, services, tenant, { revision });
      },
    });
    app.route({
      method: 'GET',
      url: '/:tenant/notes/:name',
      config: { access: { api: 'public' } },
      schema: { params: Params },
      handler: async (request) => {
        const text = services.snapshotOf(request.params.tenant).notes?.get(request.params.name);
        if (text === undefined) throw noteProblem('note_not_found');
        return { text };
      },
    });
  },
  openapiTag: 'Notes',
  snapshot: snapshotPart({
    key: 'notes',
    ...loadedByName({
      kinds: ['note'],
      rows: loadNotes,
      entries: (rows) => rows.map(({ name, text }) => [name, text] as const),
    }),
    view: (notes) => ({ notes: [...(notes?.keys() ?? [])] }),
  }),
  tenantRows: {
    removeRest: async (tx, tenant) => void (await tx.run(sql`delete from accord.note where tenant = ${tenant}`)),
  },
  erasing: () => ({
    async eraseSome(tx, { tenant, id }) {
      return {
        removed: { notes: await tx.run(sql`delete from accord.note where tenant = ${tenant} and author = ${id}`) },
      };
    },
    keeps: [{ what: 'notes of others', why: 'They are theirs.', until: 'they remove them' }],
  }),
  tasks: ({ runs }) => [
    {
      name: 'counting notes',
      everyMs: 10,
      async run() {
        runs.count++;
        return undefined;
      },
    },
  ],
  metrics({ runs }, meters) {
    meters.gauge('note_runs', 'Runs of the task.', () => runs.count);
    const written = meters.counter('notes_written_total', 'Notes written.');
    return { note_written: () => written.inc() };
  },
  events: [noteWritten],
  problems: noteProblem,
  async close({ closed }) {
    closed.count++;
  },
});

const db = await createTestDatabase();
const events = new EmittedEvents(db);
let services: Services;
let server: RunningServer;
let member: string;

beforeAll(async () => {
  (kinds as unknown as Kind[]).push(noteKind.definition);
  await asAdmin(
    db.adminUrl,
    `create table accord.note (tenant text, name text, text text, author text, owner jsonb default '{"source": "api"}',
      revision bigint default 1, primary key (tenant, name))`,
  );
  await asAdmin(db.adminUrl, `select accord.isolate('accord.note')`);
  const config = readConfig({
    ...{ ACCORD_DATABASE_URL: db.url, ACCORD_MASTER_KEY: masterKey, ACCORD_LOG_LEVEL: 'silent' },
    ...{ ACCORD_LISTEN: '127.0.0.1:0', ACCORD_ADMIN_LISTEN: '127.0.0.1:0', ACCORD_RATE_LIMIT: '0', ACCORD_DRAIN: '0' },
  });
  services = await createServices(config, { applicationName: 'serve', rooms: [...rooms, notesRoom] });
  server = await startServer(config, services);
  // Loading the code held up the event loop, which is measured: the first requests are told to come back.
  await until(
    'a server that is not overloaded',
    async () => (await fetch(`${server.url}/openapi.json`)).status !== 503,
  );
  await putTenant(services.tenants, manifestWriter, 'demo', tenantSpec());
  await services.snapshots.refresh('demo');
  const of = await ensureLocalMember(services.members, 'demo', 'config-editor');
  member = (await mintPortalToken(services.members, 'demo', of, 'test')).token;
});

const put = (name: string, body: object) =>
  fetch(`${server.url}/tenants/demo/notes/${name}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${member}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const get = async (path: string) => {
  const reply = await fetch(`${server.url}${path}`);
  return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
};
const stored = () => asAdmin<{ name: string }>(db.adminUrl, 'select name from accord.note order by name');

test('its routes answer from its part of the snapshot, which alone is read again', async () => {
  const before = services.snapshots.get('demo');
  expect((await put('one', { text: 'first', by: 'alice' })).status).toBe(200);
  expect((await put('two', { text: 'second', by: 'bob' })).status).toBe(200);
  expect(await get('/demo/notes/one')).toEqual({ status: 200, body: { text: 'first' } });
  const after = services.snapshots.get('demo');
  expect(after?.notes).toEqual(new Map(Object.entries({ one: 'first', two: 'second' })));
  expect([after?.policies, after?.auth, after?.types]).toEqual([before?.policies, before?.auth, before?.types]);
  expect(after?.auth).toBe(before?.auth);
  await services.snapshots.refresh('demo');
});

test('its problems, its tag, its metrics and its view are shown', async () => {
  expect(await get('/demo/notes/three')).toMatchObject({ status: 404, body: { code: 'note_not_found' } });
  const { body } = await get('/openapi.json');
  expect(body.paths).toMatchObject({ '/{tenant}/notes/{name}': { get: { tags: ['Notes'] } } });
  const metrics = await (await fetch(`${server.adminUrl}/metrics`)).text();
  expect(metrics).toMatch(/^accord_note_runs [1-9]/m);
  expect(metrics).toMatch(/^accord_notes_written_total 2$/m);
  const shown = (await (await fetch(`${server.adminUrl}/snapshot`)).json()) as { tenants: { tenant: string }[] };
  // Beside that of the portal, which each server makes.
  expect(shown.tenants.filter(({ tenant }) => tenant !== 'portal')).toMatchObject([
    { tenant: 'demo', notes: ['one', 'two'], policies: [] },
  ]);
});

test('its events are emitted', async () => {
  const emitted = await events.take();
  expect(emitted.filter(({ type }) => type === 'NOTE_WRITTEN')).toMatchObject([
    { type: 'NOTE_WRITTEN', tenant: 'demo', data: { requestor: 'alice', name: 'one' } },
    { type: 'NOTE_WRITTEN', tenant: 'demo', data: { requestor: 'bob', name: 'two' } },
  ]);
});

test('its task runs again and again', async () => {
  const { runs } = services.use(notesRoom);
  const { count } = runs;
  await until('two more runs', () => runs.count >= count + 2);
});

test('it is created again for a writer that is bound to a term, as the other rooms that the operator writes with', async () => {
  const fenced = await services.fenced({ term: () => ({ source: 'test', epoch: 1 }), refused: () => {} });
  expect(fenced.use(notesRoom).database).toBe(fenced.database);
  expect(fenced.use(tenantsRoom).database).toBe(fenced.database);
  expect(fenced.use(snapshotRoom)).toBe(services.use(snapshotRoom));
  // Nobody decides with what it compiles.
  expect(services.policies.preload).toBeDefined();
  expect(fenced.use(policiesRoom).preload).toBeUndefined();
});

test('its kind of custom resource is reconciled from a manifest', async () => {
  const source = new MemorySource();
  const { database, clock, observe } = services;
  const operator = startOperator({
    ...{ source, services, database, clock, observe, maxStalenessMs: 5000 },
    lead: new LockLeadership({ database, source: source.name, observe }).lead,
  });
  const apply = (text: string) => {
    const document = {
      kind: noteKind.definition.kind,
      metadata: { name: 'memo' },
      spec: { managementPolicy: 'Enforce', tenantRef: { name: 'demo' }, text },
    };
    const object = {
      ...{
        kind: noteKind.definition.kind,
        namespace: 'demo',
        name: 'memo',
        deleting: false,
        annotations: {},
        digest: text,
      },
      ...{ claims: noteKind.claims(document), checked: { ok: true as const, manifest: document as never } },
    };
    return source.applyParsed([object])[0] as Key;
  };
  const key = apply('by a manifest');
  await until('a note that is Ready', () => source.condition(key)?.status === 'True');
  expect(await get('/demo/notes/memo')).toEqual({ status: 200, body: { text: 'by a manifest' } });
  apply('again');
  await until('the second generation', () => {
    const condition = source.condition(key);
    return condition?.observedGeneration === 2 && condition.status === 'True';
  });
  expect(await get('/demo/notes/memo')).toEqual({ status: 200, body: { text: 'again' } });
  expect(operator.state().resources).toContainEqual({ kind: 'Note', ready: true, count: 1 });
  source.delete(key);
  await until('its end', () => source.get(key) === undefined);
  expect((await get('/demo/notes/memo')).status).toBe(404);
  await operator.close();
});

test('a person is erased from it', async () => {
  const by = { actor: { type: 'cli', id: 'test' }, name: 'cli', requestId: 'test' };
  const report = await eraseActor(services.erasure, 'demo', by, { type: 'user', id: 'alice', contacts: [] });
  expect(report).toMatchObject({ status: 'erased', removed: { notes: 1 } });
  expect(report.kept.map(({ what }) => what)).toContain('notes of others');
  expect(await stored()).toEqual([{ name: 'two' }]);
});

test('its rows go with the tenant', async () => {
  await eraseTenant(services.tenants, manifestWriter, 'demo');
  expect(await stored()).toEqual([]);
});

test('it ends with the process', async () => {
  // As often as the one of the room, in the same process: while it still runs, the other one would, too.
  let others = 0;
  const run = async () => {
    others++;
    return undefined;
  };
  const stop = runTasks([{ name: 'comparing', everyMs: 10, run }], () => {});
  await server.close();
  const { runs, closed } = services.use(notesRoom);
  const { count } = runs;
  const before = others;
  await until('ten more runs of the other', () => others >= before + 10);
  await stop();
  expect(runs.count).toBe(count);
  await services.close();
  expect(closed.count).toBe(1);
});
