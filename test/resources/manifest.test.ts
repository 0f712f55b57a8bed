/**
 * An object as a manifest, read from C/resources/manifest and written by the portal's own code: applied again by the real operator it is
 * the same object, and a change of it that the portal shows makes the object that was asked for.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { conditionOf } from '../../operator/conditions.ts';
import { FileSource, LockLeadership, type Operator, type Source, startOperator } from '../../operator/index.ts';
import { changeOf } from '../../portal/src/manifests/change.ts';
import type { Manifest, Spec, Stored } from '../../portal/src/manifests/manifest.ts';
import { parseYaml, yamlOf } from '../../portal/src/manifests/yaml.ts';
import { specOf as typeSpecOf } from '../../portal/src/screens/model/manifest.ts';
import { specOf as brandedSpecOf } from '../../portal/src/screens/settings/tenant/branding.ts';
import { systemClock } from '../../server/core/clock.ts';
import type { Only } from '../../server/room/exporting.ts';
import { kindsOf } from '../../server/room/resource-kind.ts';
import { rooms } from '../../server/rooms.ts';
import { readTenant, type TenantRow } from '../../server/tenants/index.ts';
import { createTestServer } from '../helpers/server.ts';
import { save } from '../operator/harness.ts';
import { MemorySource } from '../operator/memory-source.ts';
import { configClient, type Role } from '../policies/config-client.ts';

const server = await createTestServer({ ACCORD_OUTBOUND_ALLOW: '127.0.0.0/8' });
const folder = await mkdtemp(join(tmpdir(), 'accord-shown-'));
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const rego = 'package p\n\n# "quoted", \\back: #\n\noutcome := "allow" if {\n\tinput.subject.id == "yes"\n}\n';
const html = '<p>on: {{ link }}</p>\n\n  <b>no</b>\n';
const passes = { name: 'yes', input: { subject: { type: 'user', id: 'yes' } }, expect: { outcome: 'allow' } };

type Case = {
  kind: string;
  /** In the API. */
  name: string;
  spec: Record<string, unknown>;
  /** What somebody makes of what is stored. */
  edit: (stored: Spec) => Spec;
};

const casesOf = (tenant: string): Case[] => [
  {
    ...{ kind: 'Tenant', name: tenant },
    spec: {
      displayName: 'off: "x"',
      audiences: ['https://api.test'],
      login: { selfRegistration: 'open', brand: { colours: { primary: '#0b6e4f', background: '#ffffff' } } },
      limits: { maxPolicies: 30 },
    },
    edit: (stored) =>
      brandedSpecOf({ displayName: 'Cars', logo: 'https://x.example/l.svg', languages: ['nl'] }, stored),
  },
  {
    ...{ kind: 'TrustedIssuer', name: 'id.example' },
    spec: {
      ...{ issuer: 'https://id.example/', actorIdPrefix: 'id|' },
      login: { clientId: 'portal', displayName: 'Yes', scopes: ['openid'] },
    },
    edit: ({ actorIdPrefix: _prefix, ...rest }) => ({ ...rest, sharesActors: true }),
  },
  {
    ...{ kind: 'OAuthClient', name: 'backend' },
    spec: { clientId: 'backend', grantTypes: ['client_credentials'], generateSecret: { name: 'backend-client' } },
    edit: (stored) => ({ ...stored, scopes: ['authz:evaluate'], displayName: 'null' }),
  },
  {
    ...{ kind: 'ActorType', name: 'user' },
    spec: {
      name: 'user',
      attributes: [
        { name: 'email', type: 'string', required: true },
        { name: 'n', type: 'number' },
      ],
    },
    edit: (stored) => typeSpecOf({ attributes: { n: { type: 'number' } } }, stored),
  },
  {
    ...{ kind: 'ResourceType', name: 'car' },
    spec: { name: 'car', displayNames: [{ language: 'nl', name: 'één auto' }] },
    edit: (stored) => typeSpecOf({ attributes: { color: { type: 'string' } } }, stored),
  },
  {
    ...{ kind: 'RelationshipType', name: 'user:drives:car' },
    spec: {
      from: 'user',
      name: 'drives',
      to: 'car',
      invitation: { ttl: 'P3D', redirectUris: ['https://a.example/x'] },
    },
    edit: (stored) =>
      typeSpecOf(
        { maxPerTarget: 3, invitation: { enabled: true, ttl: 'P1D', binding: 'contact', maxUses: 1 } },
        stored,
      ),
  },
  {
    ...{ kind: 'ConsentDefinition', name: 'terms' },
    spec: {
      name: 'terms',
      versions: [
        {
          ...{ version: '1', optInConfig: { type: 'direct' } },
          documents: [
            {
              ...{ version: 'y', language: 'en', effectiveDate: '2999-01-01T00:00:00.000Z' },
              content: { title: 'no', mediaType: 'text/plain', body: '  two\nlines: #\n\n' },
            },
          ],
        },
      ],
    },
    edit: (stored) => ({
      ...stored,
      versions: [...(stored.versions as object[]), { version: '2', optInConfig: { type: 'direct' }, documents: [] }],
    }),
  },
  {
    ...{ kind: 'PolicyData', name: 'company/people' },
    spec: { path: 'company/people', value: { on: ['ann'], 'é #': [1.5, null, { y: 'no' }] } },
    edit: (stored) => ({ ...stored, value: { on: ['bob'], gone: null } }),
  },
  {
    ...{ kind: 'PolicyLibrary', name: 'company.roles' },
    spec: { package: 'company.roles', modules: [{ name: 'm', rego: 'package company.roles\n\nknown if true\n' }] },
    edit: (stored) => ({ ...stored, modules: [{ name: 'm', rego: 'package company.roles\n\nknown if 1 > 0\n' }] }),
  },
  {
    ...{ kind: 'Policy', name: 'car:drive' },
    spec: { name: 'car:drive', rego, tests: [passes] },
    edit: (stored) => ({ ...stored, rego: `${rego}\n# PATCH\nPATCH if false\n`, tests: undefined }),
  },
  {
    ...{ kind: 'EventSubscription', name: 'hooks' },
    spec: {
      ...{ endpoint: 'http://127.0.0.1:9/hooks', eventTypes: ['*'], generateSecret: { name: 'hooks-signing' } },
      filters: { resourceTypes: ['car'] },
    },
    edit: ({ filters: _filters, ...stored }) => ({ ...stored, paused: true }),
  },
  {
    ...{ kind: 'MailTemplate', name: 'invitation/en' },
    spec: { name: 'invitation', language: 'en', subject: 'yes: {{ link }}', html, text: '{{ link }}' },
    edit: ({ text: _text, ...rest }) => ({ ...rest, html: `${html}<i>{{ link }}</i>` }),
  },
];

/** What a person wrote first. */
const writtenOf = ({ kind, name, spec }: Case, tenant: string): Manifest => {
  const metadata = kind === 'Tenant' ? { name: tenant } : { name: objectOf(name), namespace: tenant };
  const ofTenant = kind === 'Tenant' ? spec : { tenantRef: { name: tenant }, ...spec };
  return { apiVersion: 'accord.dev/v1alpha1', kind, metadata, spec: ofTenant };
};
const objectOf = (name: string) => name.replaceAll(/[:/]/g, '-');

/** Until all that is there is accepted. */
async function settled(operator: Operator, of: string) {
  const refused = async () => {
    const { resources } = await operator.settled();
    const accepted = resources
      .filter(({ tenant }) => tenant === of)
      .map(({ target, status }) => ({ key: target.key, ...conditionOf(status ?? {}, 'Accepted') }));
    return accepted.length === 0 ? ['nothing is there'] : accepted.filter(({ status }) => status !== 'True');
  };
  await expect.poll(refused).toEqual([]);
}

function operateOn(source: Source, options: { secretFiles?: string } = {}): Operator {
  const { database, clock } = server.services;
  const observe = () => {};
  const operator = startOperator({
    ...{ source, database, clock, observe, maxStalenessMs: 5000, services: server.services },
    lead: new LockLeadership({ database, source: source.name, observe, retryMs: 20 }).lead,
    ...options,
  });
  closers.push(() => operator.close());
  return operator;
}

const filesOf = (directory: string) =>
  new FileSource({
    ...{ directory, statusDirectory: join(directory, '.status'), clock: systemClock, observe: () => {} },
    ...{ debounceMs: 10, rescanMs: 200, vanishMs: 60 },
  });

async function readerOf(tenant: string, role: Role = 'security-admin') {
  await server.services.snapshots.refresh(tenant);
  const config = await configClient(server, tenant, role);
  return async ({ kind, name }: Pick<Case, 'kind' | 'name'>) => {
    const { status, body } = await config('GET', `/resources/manifest?${new URLSearchParams({ kind, name })}`);
    return { status, body: body as Stored };
  };
}

const revisionOf = async (tenant: string) =>
  (await server.services.database.read(tenant, (tx) => readTenant(tx, tenant)))?.revision;

/** Without members that are undefined, and in one order. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

describe('what the portal shows is what the operator takes', () => {
  test('from files: applied as it is shown, it is the same; with a change, it is that', async () => {
    const tenant = 'shown-files';
    const cases = casesOf(tenant);
    const directory = await mkdtemp(join(folder, 'files-'));
    const secretFiles = await mkdtemp(join(folder, 'secrets-'));
    const put = (one: Case, text: string) => save(join(directory, `${one.kind}.yaml`), text);
    for (const one of cases) await put(one, yamlOf(writtenOf(one, tenant)));
    const first = operateOn(filesOf(directory), { secretFiles });
    await settled(first, tenant);
    await first.close();
    const read = await readerOf(tenant);
    const before = await Promise.all(cases.map(async (one) => (await read(one)).body));
    for (const [n, one] of cases.entries()) {
      const { manifest, comments, managedBy } = before[n] as Stored;
      expect(managedBy).toBe(`files ${one.kind === 'Tenant' ? '' : `${tenant}/`}${manifest.metadata.name}`);
      await put(one, yamlOf(manifest, comments));
    }
    const revision = await revisionOf(tenant);
    await settled(operateOn(filesOf(directory), { secretFiles }), tenant);
    expect(await revisionOf(tenant)).toBe(revision);
    for (const [n, one] of cases.entries()) {
      const stored = before[n] as Stored;
      const spec = one.edit(stored.manifest.spec);
      const change = changeOf(stored, spec);
      if (change.of !== 'file') throw new Error(`${one.kind} is of a file`);
      await put(one, change.text);
      const now = async () => (await read(one)).body.manifest?.spec;
      await expect.poll(now, { message: one.kind }).toEqual(plain(spec));
    }
  });

  test('from Kubernetes: the patch has what changed and no more, and makes what was asked for', async () => {
    const tenant = 'shown-kubernetes';
    const cases = casesOf(tenant);
    const source = new MemorySource();
    const written = new Map(cases.map((one) => [one.kind, writtenOf(one, tenant)]));
    for (const one of written.values()) source.apply(yamlOf(one));
    const operator = operateOn(source);
    await settled(operator, tenant);
    const read = await readerOf(tenant);
    const fields: Record<string, string[]> = {};
    for (const one of cases) {
      const stored = (await read(one)).body;
      const spec = one.edit(stored.manifest.spec);
      const change = changeOf(stored, spec);
      if (change.of !== 'kubernetes') throw new Error(`${one.kind} is of Kubernetes`);
      const [command = '', ...lines] = change.text.trimEnd().split('\n');
      const [, where, type, end = ''] =
        /^kubectl patch (\S+ \S+(?: -n \S+)?) --type (merge|json) --patch-file \/dev\/stdin <<'(PATCH_*)'$/.exec(
          command,
        ) ?? [];
      expect(where).toBe(
        `${stored.plural}.accord.dev ${stored.manifest.metadata.name}${one.kind === 'Tenant' ? '' : ` -n ${tenant}`}`,
      );
      // The text ends where the shell says, and not before.
      expect(lines.indexOf(end)).toBe(lines.length - 1);
      // As kubectl reads it.
      const patch = parse(lines.slice(0, -1).join('\n'), { version: '1.1' });
      const object = plain(written.get(one.kind)) as Manifest;
      const patched = type === 'merge' ? merged(object, patch) : replaced(object, patch);
      fields[one.kind] = (type === 'merge' ? Object.keys(patch.spec) : patch.map(({ path }: Operation) => path)).sort();
      source.apply(yamlOf(patched));
      const now = async () => (await read(one)).body.manifest?.spec;
      await expect.poll(now, { message: one.kind }).toEqual(plain(spec));
    }
    expect(fields).toEqual({
      ...{ Tenant: ['displayName', 'login'], TrustedIssuer: ['actorIdPrefix', 'sharesActors'] },
      ...{
        OAuthClient: ['displayName', 'scopes'],
        ActorType: ['attributes'],
        ResourceType: ['attributes', 'displayNames'],
      },
      ...{
        RelationshipType: ['invitation', 'maxPerTarget'],
        ConsentDefinition: ['versions'],
        PolicyData: ['/spec/value'],
      },
      ...{ PolicyLibrary: ['modules'], Policy: ['rego', 'tests'], EventSubscription: ['filters', 'paused'] },
      MailTemplate: ['html', 'text'],
    });
  });
});

type JsonObject = Record<string, unknown>;
type Operation = { op: 'add' | 'remove'; path: string; value?: unknown };
const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** RFC 7396, as it says it. */
function merged<T>(target: T, patch: unknown): T {
  if (!isObject(patch)) return patch as T;
  const result: JsonObject = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch))
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  return result as T;
}

/** RFC 6902, of members of the spec. */
function replaced(object: Manifest, patch: Operation[]): Manifest {
  const spec: JsonObject = { ...object.spec };
  for (const { op, path, value } of patch) {
    const name = path.replace('/spec/', '').replaceAll('~1', '/').replaceAll('~0', '~');
    if (op === 'remove') delete spec[name];
    else spec[name] = value;
  }
  return { ...object, spec };
}

describe('C/resources/manifest', () => {
  test('a role reads what it may read elsewhere, and no secret', async () => {
    const tenant = 'shown-roles';
    const source = new MemorySource();
    const cases = casesOf(tenant);
    source.putSecret(tenant, 'id-secret', { client_secret: 'upstream-secret-of-the-issuer' });
    const issuer = cases.find(({ kind }) => kind === 'TrustedIssuer') as Case;
    issuer.spec.login = { clientId: 'portal', displayName: 'Yes', secretRef: { name: 'id-secret' } };
    for (const one of cases) source.apply(yamlOf(writtenOf(one, tenant)));
    await settled(operateOn(source), tenant);
    const refused: Record<string, string[]> = {};
    for (const role of ['security-admin', 'config-editor', 'config-viewer', 'support'] as const) {
      const read = await readerOf(tenant, role);
      const answers = await Promise.all(cases.map(async (one) => ({ kind: one.kind, ...(await read(one)) })));
      refused[role] = answers.filter(({ status }) => status === 403).map(({ kind }) => kind);
      expect(answers.filter(({ status }) => ![200, 403].includes(status))).toEqual([]);
      const said = JSON.stringify(answers);
      for (const [name, key] of [
        ['id-secret', 'client_secret'],
        ['backend-client', 'client_secret'],
        ['hooks-signing', 'signing_secret'],
      ]) {
        const value = source.secret(tenant, name as string)?.data[key as string]?.toString();
        expect(value).toBeTruthy();
        expect(said).not.toContain(value);
      }
    }
    expect(refused).toEqual({
      ...{ 'security-admin': [], 'config-editor': ['Tenant'], 'config-viewer': ['Tenant'] },
      support: ['Tenant', 'PolicyData'],
    });
    for (const { kind } of kindsOf(rooms)) {
      const { name } = cases.find((one) => one.kind === kind.definition.kind) as Case;
      const namesOf = (only: Only) =>
        server.services.database.tenantSnapshot(tenant, async (tx) => {
          const { spec: tenantSpec } = (await readTenant(tx, tenant)) as TenantRow;
          const context = { tenant, tenantSpec, allowPastDates: false, now: 0, only };
          return (await kind.exported(tx, context)).map((one) => one.name);
        });
      const isTenant = name === tenant;
      const manifest = isTenant ? tenant : `${tenant}/${objectOf(name)}`;
      expect([await namesOf({ name }), await namesOf({ manifest })], name).toEqual([[name], [name]]);
      // The content of others is not read.
      if (!isTenant) expect([await namesOf({ name: 'x' }), await namesOf({ manifest: 'x/y' })], name).toEqual([[], []]);
    }
  });

  test('two names of the API that Kubernetes would have as one get two', async () => {
    const tenant = await server.tenant({});
    const config = await configClient(server, tenant, 'security-admin');
    const named = async (name: string) => {
      expect((await config('PUT', `/clients/${name}`, { body: { grantTypes: ['client_credentials'] } })).status).toBe(
        200,
      );
      return async () =>
        (await config('GET', `/resources/manifest?kind=OAuthClient&name=${name}`)).body.manifest.metadata.name;
    };
    const first = await named('back.end');
    expect(await first()).toBe('back-end');
    const second = await named('back_end');
    expect([await first(), await second()]).toEqual([
      expect.stringMatching(/^back-end-[0-9a-f]{8}$/),
      expect.stringMatching(/^back-end-[0-9a-f]{8}$/),
    ]);
  });

  test('an object is found by its manifest; what is wrong with the question is said', async () => {
    const tenant = await server.tenant({});
    const config = await configClient(server, tenant);
    expect((await config('PUT', '/actor-types/user', { body: {} })).status).toBe(200);
    const ask = async (query: string) => {
      const { status, body } = await config('GET', `/resources/manifest?${query}`);
      return [status, body.detail ?? body.manifest.metadata.name];
    };
    expect(await ask('kind=ActorType&name=user')).toEqual([200, 'user']);
    expect(await ask('kind=ActorType&manifest=user')).toEqual([404, 'The tenant has no such ActorType.']);
    expect(await ask('kind=ActorType')).toEqual([400, 'Exactly one of name and manifest is required.']);
    expect(await ask('kind=ActorType&name=user&manifest=user')).toEqual([400, expect.stringContaining('Exactly one')]);
    expect((await ask('kind=Nothing&name=user'))[0]).toBe(400);
    const admin = await configClient(server, tenant, 'security-admin');
    const { body } = await admin('GET', '/resources/manifest?kind=Tenant&manifest=test');
    expect(body.managedBy).toBe('files test');
  });

  test('a draft is checked against the schema and against what is stored', async () => {
    const tenant = await server.tenant({});
    const config = await configClient(server, tenant);
    expect((await config('PUT', '/actor-types/user', { body: {} })).status).toBe(200);
    const errorsOf = async (spec: object) => {
      const metadata = { name: 'user', namespace: tenant };
      const manifest = { apiVersion: 'accord.dev/v1alpha1', kind: 'ActorType', metadata, spec };
      const { status, body } = await config('POST', '/resources/manifest/check', { body: { manifest } });
      expect(status).toBe(200);
      return body.errors;
    };
    const tenantRef = { name: tenant };
    expect(await errorsOf({ tenantRef, name: 'user', attributes: [{ name: 'a', type: 'date' }] })).toEqual([]);
    expect(await errorsOf({ tenantRef, name: 'user', attributes: [{ name: 'a', type: 'day' }] })).toEqual([
      { pointer: '/spec/attributes/0/type', detail: expect.stringContaining('must be one of') },
    ]);
    expect(await errorsOf({ tenantRef: { name: 'other' }, name: 'user' })).toEqual([
      { pointer: '/spec/tenantRef/name', detail: `must be ${tenant}` },
    ]);
    const admin = await configClient(server, tenant, 'security-admin');
    const other = {
      apiVersion: 'accord.dev/v1alpha1',
      kind: 'Tenant',
      metadata: { name: 'other' },
      spec: { displayName: 'Other', audiences: ['https://a.test'] },
    };
    expect((await admin('POST', '/resources/manifest/check', { body: { manifest: other } })).body.errors).toEqual([
      { pointer: '/metadata/name', detail: `must be ${tenant}` },
    ]);
    const viewer = await configClient(server, tenant, 'config-viewer');
    const asked = await viewer('POST', '/resources/manifest/check', { body: { manifest: { kind: 'ActorType' } } });
    expect(asked.status).toBe(403);
  });

  test('the lines of what is refused are those of what was typed', () => {
    const parsed = parseYaml('name: user\nattributes:\n  - name: a\n    type: day\n');
    const told = parsed.placed([{ pointer: '/attributes/0/type', detail: 'is wrong' }]);
    expect(told).toEqual([{ line: 4, detail: '/attributes/0/type is wrong' }]);
    expect(parsed.placed([{ pointer: '/attributes/0/required', detail: 'x' }])).toMatchObject([{ line: 3 }]);
    expect(parseYaml('a: [1\nb: 2').problems[0]).toMatchObject({ line: 2 });
  });
});

test('YAML says all of a value, whatever stands in names and texts, also as YAML 1.1 reads it', () => {
  const nasty = [
    'plain',
    'a: b',
    '- x',
    "it's",
    'yes',
    'y',
    'null',
    '1_000',
    '12:30',
    '#no',
    'é\u2028',
    'two\nlines\n',
    ' lead\nend',
    'tab\there\nnext',
    '\n\n',
    '',
  ];
  const text = fc.oneof(fc.constantFrom(...nasty), fc.string());
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 3 },
      text,
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('any')),
      fc.dictionary(text, tie('any'), { noNullPrototype: true }),
    ),
  })).any;
  fc.assert(
    fc.property(value, (one) => {
      for (const version of ['1.1', '1.2'] as const)
        expect(plain(parse(yamlOf({ one }), { version }))).toEqual(plain({ one }));
    }),
  );
});
