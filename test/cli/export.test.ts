/** `accord export`: what it writes makes the same tenant on an empty database, and `accord validate` takes it. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { conditionOf as conditionIn } from '../../operator/conditions.ts';
import { exportedText, exportTenant } from '../../server/resources/index.ts';
import { rooms } from '../../server/rooms.ts';
import { accord } from '../e2e/accord.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer, masterKey } from '../helpers/server.ts';
import { WallClock } from '../invitations/inviting.ts';
import { createWorld, until } from '../operator/harness.ts';
import { configClient } from '../policies/config-client.ts';
import { accordHere } from './here.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
const world = await createWorld(clock);
const folder = await mkdtemp(join(tmpdir(), 'accord-export-'));
afterAll(() => rm(folder, { recursive: true }));

const variables = { ACCORD_DATABASE_URL: server.db.url, ACCORD_MASTER_KEY: masterKey };
const run = async (...args: string[]) => {
  try {
    return { code: 0, ...(await accordHere(args, variables)) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
};

const graph = {
  nodes: [
    { id: 'start', type: 'start' },
    { id: 'on', type: 'condition', conditions: [{ type: 'consent', name: 'terms' }] },
    { id: 'yes', type: 'outcome', outcome: 'allow' },
    { id: 'no', type: 'outcome', outcome: 'deny' },
  ],
  edges: [
    { from: 'start', to: 'on' },
    { from: 'on', to: 'yes', on: 'true' },
    { from: 'on', to: 'no', on: 'false' },
  ],
};
const rego = 'package p\n\n# "quoted", \\back: #\noutcome := "allow" if {\n\tinput.subject.id == "yes"\n}\n';

const library = 'package company.roles\n\nknown(subject) if subject.id in data.company.people.on\n';
const regoOfOwners = 'package p\n\noutcome := "allow" if {\n\tevery one in input.dataSubjects { one.id == "yes" }\n}\n';

/** A tenant whose objects are the API's, of every kind and with odd names. */
async function tenantOfTheApi() {
  const tenant = await server.tenant({
    displayName: 'off: "x"',
    consentAttributes: [{ object: 'document', name: 'url', type: 'string', required: false }],
  });
  const at = (days: number) => new Date(clock.now() + days * 86_400_000).toISOString();
  const direct = { optInConfig: { type: 'direct' } };
  const displayNames = [{ language: 'nl', name: 'één auto' }];
  const written: [path: string, body: object][] = [
    ['/actor-types/user', { attributes: { email: { type: 'string', required: true }, n: { type: 'number' } } }],
    ['/actor-types/group', {}],
    ['/policy-data/company%2Fpeople', { value: { on: ['ann'], 'é #': [1.5, null, { y: 'no' }] } }],
    ['/policy-libraries/company.roles', { modules: [{ name: 'm', rego: library }] }],
    [
      '/policies/with-library',
      { rego: 'package q\n\noutcome := "allow" if data.company.roles.known(input.subject)\n' },
    ],
    ['/resource-types/car', { attributes: { color: { type: 'string' } }, displayNames }],
    ['/relationship-types/user:member_of:group', {}],
    ['/relationship-types/group:owns:car', { maxPerTarget: 1 }],
    [
      '/relationship-types/user:drives:car',
      {
        displayNames,
        invitation: { enabled: true, ttl: 'P3D', redirectUris: ['https://app.example/done'] },
        inheritedThrough: [{ relationship: 'user:member_of:group', from: 'group:owns:car' }],
      },
    ],
    [
      '/policies/car:drive',
      { rego: regoOfOwners, dataSubjects: { relationship: 'group:owns:car', path: 'resource.owner' } },
    ],
    ['/policies/car-drive', { rego: rego.replace('yes', 'no') }],
    ['/policies/%C3%9Cmlaut%20und%20mehr', { graph }],
    ['/consent-definitions/terms', { languageFallback: 'lookup' }],
    ['/consent-definitions/terms/versions/1', direct],
    [
      '/consent-definitions/terms/versions/1/documents/de-AT/a',
      { effectiveDate: at(1), url: 'https://x.example/?a=b#c' },
    ],
    [
      '/consent-definitions/terms/versions/1/documents/en/y',
      {
        effectiveDate: at(1),
        content: { title: 'no', mediaType: 'text/html', body: '<p onclick="a()">on: &amp;</p>\n\n <i>#</i> ' },
      },
    ],
    [
      '/consent-definitions/terms/versions/1/documents/nl/y',
      {
        effectiveDate: at(1),
        content: {
          title: 'PDF',
          mediaType: 'application/pdf',
          url: 'https://x.example/terms.pdf',
          digest: `sha256:${'ab'.repeat(32)}`,
        },
      },
    ],
    ['/consent-definitions/terms/versions/2', direct],
    ['/consent-definitions/terms/versions/2/documents/en/1_000', { effectiveDate: at(10) }],
    ['/consent-definitions/terms/versions/1/end-of-life', { startDate: at(12), endDate: at(40), gracePeriod: 'P14D' }],
  ];
  const config = await configClient(server, tenant);
  for (const [path, body] of written) {
    const answer = await config('PUT', path, { body });
    // Of HTML it says what was removed.
    const sanitized = { content: { sanitized: true, removed: ['onclick'], digest: expect.any(String) } };
    const expected = JSON.stringify(body).includes('onclick') ? sanitized : {};
    expect([path, answer.status, answer.body]).toEqual([path, 200, expected]);
  }
  const admin = await configClient(server, tenant, 'security-admin');
  const issuer = { issuer: 'https://id.example/', audiences: ['https://api.test'], actorIdPrefix: 'id|' };
  expect((await admin('PUT', '/trusted-issuers/id.example', { body: issuer })).status).toBe(200);
  return tenant;
}

let tenant: string;
beforeAll(async () => {
  tenant = await tenantOfTheApi();
});

const documentsIn = (text: string) => parseAllDocuments(text).map((one) => one.toJS());
type Read = Parameters<Parameters<typeof server.db.database.tenant>[1]>[0];
const exportOf = async (
  of: string,
  more: { all?: boolean; allowPastDates?: boolean } = {},
  { database } = server.db,
) => {
  const options = { all: true, allowPastDates: false, now: clock.now(), ...more };
  const exported = await database.tenant(of, (tx: Read) => exportTenant(tx, rooms, of, options));
  if (exported === undefined) throw new Error('there is no tenant');
  return exported;
};
const exportedFrom = async (database: typeof server.db.database) =>
  (await exportOf(tenant, {}, { database } as typeof server.db)).manifests;

describe('accord export', () => {
  test('writes what belongs to the API; the Tenant, which a manifest owns, with --all', async () => {
    const own = await run('export', '--tenant', tenant);
    expect(own.code, own.stderr).toBe(0);
    const named = documentsIn(own.stdout).filter(({ spec }) => 'displayNames' in spec);
    expect(named.map(({ kind, spec }) => [kind, spec.displayNames])).toEqual(
      ['ResourceType', 'RelationshipType'].map((kind) => [kind, [{ language: 'nl', name: 'één auto' }]]),
    );
    const kinds = documentsIn(own.stdout).map((one) => `${one.kind} ${one.metadata.name}`);
    expect(kinds).toEqual([
      'TrustedIssuer id.example',
      'ActorType group',
      'ActorType user',
      'ResourceType car',
      'RelationshipType group-owns-car',
      'RelationshipType user-drives-car',
      'RelationshipType user-member-of-group',
      'ConsentDefinition terms',
      'PolicyData company-people',
      'PolicyLibrary company-roles',
      expect.stringMatching(/^Policy car-drive-[0-9a-f]{8}$/),
      expect.stringMatching(/^Policy car-drive-[0-9a-f]{8}$/),
      'Policy with-library',
      'Policy mlaut-und-mehr',
    ]);
    expect(own.stderr).toBe(`accord: 14 manifests of ${tenant}\n`);
    expect((await accord(['export', '--tenant', tenant], variables)).stdout).toBe(own.stdout);
    const all = await run('export', '--tenant', tenant, '--all');
    expect(documentsIn(all.stdout)).toEqual([expect.objectContaining({ kind: 'Tenant' }), ...documentsIn(own.stdout)]);
    expect(`${all.stdout}${all.stderr}`).not.toContain(masterKey);
  });

  test('writes a file for each object, which accord validate takes, and overwrites nothing', async () => {
    const output = join(folder, 'files');
    const made = await run('export', '--tenant', tenant, '--all', '--output', output);
    expect(made).toMatchObject({ code: 0, stdout: '' });
    expect((await readdir(output)).sort()).toEqual([
      ...[
        'actortypes',
        'consentdefinitions',
        'policies',
        'policydata',
        'policylibraries',
        'relationshiptypes',
        'resourcetypes',
        'tenants',
        'trustedissuers',
      ],
    ]);
    const valid = await run('validate', output);
    expect([valid.code, valid.stdout]).toEqual([
      0,
      expect.stringMatching(/^(.*: note: .* lies in the past.*\n)15 manifests are good\.\n$/),
    ]);
    const again = await run('export', '--tenant', tenant, '--output', output);
    expect(again).toMatchObject({ code: 2, stdout: '' });
    expect(again.stderr).toContain('is not empty');
  });

  test('makes the same tenant on an empty database', async () => {
    const before = await exportedFrom(server.db.database);
    const directory = await world.directory();
    await writeFile(join(directory, 'all.yaml'), before.map(exportedText).join('---\n'));
    await world.serve();
    const { operator } = world.operate(directory);
    // What others name may come after them: then they are tried again.
    await until(async () => {
      const { resources } = await operator.settled();
      return resources.every(({ status }) => conditionIn(status ?? {}, 'Accepted')?.status === 'True');
    });
    const after = await until(async () => {
      const found = await exportedFrom(world.database).catch(() => []);
      return found.length === before.length ? found : undefined;
    });
    expect(after.map((one) => one.manifest)).toEqual(before.map((one) => one.manifest));
  });

  test('says what dates of the past need, and writes it when asked', async () => {
    clock.advance(2 * 86_400_000);
    const of = async (allowPastDates: boolean) => {
      const { manifests } = await exportOf(tenant, { allowPastDates });
      return manifests.map(exportedText).join('---\n');
    };
    expect(await of(false)).toContain('# spec.restore.allowPastDates: true (accord export');
    const restored = await of(true);
    expect(restored).not.toContain('# spec.restore');
    expect(documentsIn(restored)[0].spec.restore).toEqual({ allowPastDates: true });
  });

  test('writes objects of one name in two namespaces into two files', async () => {
    const other = await server.tenant({});
    const config = await configClient(server, other);
    for (const [name, namespace] of ['one', 'two'].map((called) => [called, `team-${called}`])) {
      expect((await config('PUT', `/policies/${name}`, { body: { rego } })).status).toBe(200);
      const owner = { source: 'kubernetes', namespace, name: 'p', uid: 'u' };
      const text = 'update accord.policy set owner = $3 where tenant = $1 and name = $2';
      await asAdmin(server.db.adminUrl, text, [other, name, JSON.stringify(owner)]);
    }
    const output = join(folder, 'namespaces');
    expect((await run('export', '--tenant', other, '--all', '--output', output)).code).toBe(0);
    expect((await readdir(join(output, 'policies'), { recursive: true })).sort()).toEqual([
      ...['team-one', 'team-one/p.yaml', 'team-two', 'team-two/p.yaml'],
    ]);
  });

  test('reads one state of the database', async () => {
    const other = await server.tenant({});
    const config = await configClient(server, other);
    const options = { all: false, allowPastDates: false, now: clock.now() };
    const exported = await server.db.database.tenantSnapshot(other, async (tx: Read) => {
      await exportTenant(tx, rooms, other, options);
      expect((await config('PUT', '/actor-types/late', { body: {} })).status).toBe(200);
      return exportTenant(tx, rooms, other, options);
    });
    expect(exported?.manifests).toEqual([]);
    expect((await exportOf(other, { all: false })).manifests).toHaveLength(1);
  });

  test('leaves out what is archived or retired, and says so', async () => {
    const other = await tenantOfTheApi();
    const archive = 'update accord.consent_definition set archived = true where tenant = $1';
    await asAdmin(server.db.adminUrl, archive, [other]);
    const retire = "update accord.relationship_type set retired = true where tenant = $1 and name = 'drives'";
    await asAdmin(server.db.adminUrl, retire, [other]);
    const { manifests, notes } = await exportOf(other, { all: false });
    expect(notes).toEqual([
      'the relationship type user:drives:car is retired and left out',
      'the consent definition terms is archived and left out',
    ]);
    expect(manifests.map(({ manifest }) => manifest.metadata.name)).not.toContain('terms');
  });

  test.each([
    [['export'], 2, /--tenant is missing/],
    [['export', '--tenant', 'nobody'], 1, /tenant/],
    [['erase', '--tenant', 'x'], 2, /--actor is a type and an id/],
    [['erase', '--tenant', 'x', '--actor', 'alice'], 2, /--actor is a type and an id/],
    [['erase', '--tenant', 'nobody', '--actor', 'user:alice'], 1, /tenant/],
  ])('accord %j is refused', async (args, code, why) => {
    const refused = await run(...args);
    expect(refused).toMatchObject({ code, stdout: '' });
    expect(refused.stderr).toMatch(why);
  });
});

test('accord erase prints the report, and erases what the addresses lead to', async () => {
  const client = await server.client(tenant, 'pg:tenant:admin');
  const send = (method: 'PUT' | 'GET', url: string, payload?: object) =>
    server.app.inject({ method, url, headers: { authorization: `Bearer ${client}` }, ...(payload ? { payload } : {}) });
  const actor = `/${tenant}/actors/user/${encodeURIComponent('a:b|c')}`;
  expect((await send('PUT', actor, { email: 'a@b.c' })).statusCode).toBe(200);
  const erased = await run(
    'erase',
    '--tenant',
    tenant,
    '--actor',
    'user:a:b|c',
    '--contact',
    'a@b.c',
    '--contact',
    'd@e.f',
  );
  expect(erased).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(erased.stdout)).toMatchObject({
    status: 'erased',
    removed: { actors: 1 },
    kept: expect.any(Array),
  });
  expect((await send('GET', actor)).statusCode).toBe(404);
  expect(await readFile(join(folder, 'files', 'actortypes', tenant, 'user.yaml'), 'utf8')).toContain('kind: ActorType');
});
