/** What a manifest may ask of a definition that is stored: past parts stay, new ones lie ahead, to the millisecond. */
import { expect, test } from 'vitest';
import type { ConsentContent, ConsentDefinitionManifest, ConsentDefinitionSpec } from '../../crds/index.ts';
import { digestOf } from '../../server/definitions/content.ts';
import { applyDefinition, archiveManifestDefinition, findDefinition } from '../../server/definitions/index.ts';
import { definitionChecks } from '../../server/definitions/manifest-checks.ts';
import { putTenant } from '../../server/tenants/index.ts';
import { createTestServer, manifestWriter, tenantSpec } from '../helpers/server.ts';
import { WallClock } from '../invitations/inviting.ts';
import { defining } from './defining.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
const services = { database: server.db.database, clock };
const day = 86_400_000;

type Document = [document: string, effectiveInMs?: number, attributes?: Record<string, string>];
type Version = {
  documents: Document[];
  endOfLife?: [start: number, end: number, grace?: string];
  attributes?: Record<string, string>;
};

/** A tenant and a definition whose instants are ms from when it was made. */
async function world(consentAttributes: Parameters<typeof defining>[2] = []) {
  const { tenant, get, put } = await defining(server, clock, consentAttributes);
  const zero = clock.now();
  const at = (ms: number) => new Date(zero + ms).toISOString();
  const spec = (versions: Record<string, Version>, attributes?: Record<string, string>): ConsentDefinitionSpec => ({
    tenantRef: { name: tenant },
    name: 'news',
    ...(attributes && { attributes }),
    versions: Object.entries(versions).map(([version, { documents, endOfLife, attributes: own }]) => ({
      version,
      optInConfig: { type: 'direct' },
      ...(own && { attributes: own }),
      ...(endOfLife && {
        endOfLife: { startDate: at(endOfLife[0]), endDate: at(endOfLife[1]), gracePeriod: endOfLife[2] ?? 'P1D' },
      }),
      documents: documents.map(([document, inMs, its]) => {
        const [name = '', language = ''] = document.split(' ');
        return {
          version: name,
          language,
          ...(inMs === undefined ? {} : { effectiveDate: at(inMs) }),
          ...(its && { attributes: its }),
        };
      }),
    })),
    managementPolicy: 'Enforce',
    adoptionPolicy: 'Refuse',
  });
  const apply = (versions: Record<string, Version>, attributes?: Record<string, string>) =>
    applyDefinition(services, manifestWriter, tenant, spec(versions, attributes));
  /** What becomes of it: `changed`, `same`, or the problem and its place. */
  const outcome = (versions: Record<string, Version>, attributes?: Record<string, string>) =>
    apply(versions, attributes).then(
      ({ changed }) => (changed ? 'changed' : 'same'),
      (error) => `${error.code} ${error.errors?.[0]?.pointer}`,
    );
  const state = async () => (await findDefinition(services, tenant, 'news'))?.state;
  return { tenant, get, put, apply, outcome, state, at };
}

test('unchanged, it is applied again without complaint, also when all of it is past', async () => {
  const { outcome, state } = await world();
  const versions = {
    '1': {
      documents: [
        ['a en', 1000],
        ['a nl', 1000],
      ] as Document[],
      endOfLife: [2000, 3000] as [number, number],
    },
    '2': { documents: [['a en', 1500]] as Document[] },
  };
  expect(await outcome(versions)).toBe('changed');
  expect(await outcome(versions)).toBe('same');
  expect(await state()).toEqual({ active: [], locked: [] });
  clock.advance(day);
  expect(await outcome(versions)).toBe('same');
  expect(await state()).toEqual({
    active: [{ language: 'en', version: '2', document: 'a' }],
    locked: [
      { version: '1', endOfLife: true, documents: 2 },
      { version: '2', endOfLife: false, documents: 1 },
    ],
  });
});

test('a new document of the past is refused, one of now is accepted', async () => {
  const { outcome } = await world();
  expect(await outcome({ '1': { documents: [['a en', -1]] } })).toBe(
    'date_in_past /versions/0/documents/0/effectiveDate',
  );
  expect(await outcome({ '1': { documents: [['a en', 0]] } })).toBe('changed');
  clock.advance(1000);
  expect(
    await outcome({
      '1': {
        documents: [
          ['a en', 0],
          ['b en', 999],
        ],
      },
    }),
  ).toBe('date_in_past /versions/0/documents/1/effectiveDate');
  expect(
    await outcome({
      '1': {
        documents: [
          ['a en', 0],
          ['b en', 1000],
        ],
      },
    }),
  ).toBe('changed');
});

test('a language tag is spelled in one way in a definition, and the spelling may change as long as nothing has it', async () => {
  const { outcome, put, get, at } = await world();
  const spelled = (...documents: [version: string, document: string][]) =>
    outcome({
      '1': { documents: documents.filter(([one]) => one === '1').map(([, document]) => [document, 1000]) },
      '2': { documents: documents.filter(([one]) => one === '2').map(([, document]) => [document, 2000]) },
    });
  expect(await spelled(['1', 'a en'], ['1', 'b EN'])).toBe(
    'consent_language_ambiguous /versions/0/documents/1/language',
  );
  expect(await spelled(['1', 'a en'], ['2', 'a EN'])).toBe(
    'consent_language_ambiguous /versions/1/documents/0/language',
  );
  expect(await spelled(['1', 'a en'], ['1', 'a en_GB'], ['1', 'a en_gb'])).toBe('changed');
  expect(await spelled(['1', 'a EN'])).toBe('changed');
  expect((await get('/news/versions/1/documents')).body.resources).toEqual(['EN']);
  expect((await put('/news/versions/1/documents/en/a', { effectiveDate: at(5000) })).body.code).toBe(
    'owned_by_manifest',
  );
  clock.advance(1000);
  expect(await spelled(['1', 'a EN'], ['2', 'a en'])).toBe(
    'consent_language_ambiguous /versions/1/documents/0/language',
  );
  expect(await spelled(['1', 'a EN'], ['2', 'a EN'])).toBe('changed');
});

test('the status says which texts are not served as they were written', async () => {
  const { tenant, state } = await world();
  const content = {
    title: 'News',
    mediaType: 'text/html',
    body: '<p onclick="a()">x</p><script>b()</script>',
  } as const;
  const plain = { title: 'News', mediaType: 'text/plain', body: 'x' } as const;
  const document = (version: string, language: string, text: ConsentContent) => ({ version, language, content: text });
  await applyDefinition(services, manifestWriter, tenant, {
    tenantRef: { name: tenant },
    name: 'news',
    versions: [
      {
        version: '1',
        optInConfig: { type: 'direct' },
        documents: [document('a', 'en', content), document('a', 'de', plain)],
      },
    ],
    managementPolicy: 'Enforce',
    adoptionPolicy: 'Refuse',
  });
  const sanitized = {
    ...{ version: '1', document: 'a', language: 'en' },
    ...{ digest: digestOf('<p>x</p>'), removed: ['onclick', '<script>'] },
  };
  expect((await state())?.sanitized).toEqual([sanitized]);
});

test('accord validate says which language is spelled in two ways, which looks like a tag, and what of a text is removed', () => {
  const manifest = (documents: object[]) =>
    ({
      ...{ apiVersion: 'accord.dev/v1alpha1', kind: 'ConsentDefinition', metadata: { name: 'a', namespace: 'a' } },
      spec: {
        ...{ tenantRef: { name: 'a' }, name: 'news' },
        versions: [{ version: '1', optInConfig: { type: 'direct' }, documents }],
      },
    }) as unknown as ConsentDefinitionManifest;
  const faults = (...documents: object[]) =>
    definitionChecks.acceptance?.(manifest(documents), { tenant: undefined, before: [], now: 0 });
  const of = (language: string) => ({ version: 'a', language });
  expect(faults(of('en'), of('de-AT'), of('doctors'), of('everybody in Austria'))).toEqual([]);
  expect(faults(of('en'), of('EN'))).toEqual([
    { rule: 'refused', refusal: expect.objectContaining({ code: 'consent_language_ambiguous' }) },
  ]);
  expect(faults(of('de_AT'), of('en_US.UTF-8'))).toEqual([
    {
      ...{ rule: 'language-tag', severity: 'note', pointer: '/spec/versions/0/documents/0/language' },
      message: '/spec/versions/0/documents/0/language: de_AT is no BCP 47 language tag; did you mean de-AT?',
    },
    expect.objectContaining({ message: expect.stringContaining('did you mean en-US?') }),
  ]);
  const content = { title: 'T', mediaType: 'text/html', body: '<p onclick=a()>x</p>' };
  expect(faults({ ...of('en'), content })).toMatchObject([
    {
      ...{ rule: 'sanitized', severity: 'note' },
      message: expect.stringMatching(/is stored and shown without onclick; its digest is sha256:[0-9a-f]{64}$/),
    },
  ]);
});

test('a document changes until the millisecond before it takes effect', async () => {
  const { outcome } = await world();
  await outcome({ '1': { documents: [['a en', 1000]] } });
  clock.advance(999);
  expect(await outcome({ '1': { documents: [['a en', 2000]] } })).toBe('changed');
  expect(await outcome({ '1': { documents: [['a en', 999]] } })).toBe('changed');
  expect(await outcome({ '1': { documents: [['a en', 2000]] } })).toBe('document_locked /versions/0/documents/0');
});

test('what is in effect cannot be left out, what is not can', async () => {
  const { outcome } = await world();
  await outcome({
    '1': {
      documents: [
        ['a en', 0],
        ['b en', 5000],
      ],
    },
    '2': { documents: [['a en', 6000]] },
  });
  expect(await outcome({ '1': { documents: [['b en', 5000]] }, '2': { documents: [] } })).toBe(
    'document_locked /versions/0/documents',
  );
  expect(await outcome({ '2': { documents: [] } })).toBe('document_locked /versions');
  expect(await outcome({ '1': { documents: [['a en', 0]] } })).toBe('changed');
  expect(await outcome({ '1': { documents: [['a en', 0]] } })).toBe('same');
});

test('without an effectiveDate a document takes effect when it is first accepted, and keeps that', async () => {
  const { outcome, get, at } = await world();
  await outcome({ '1': { documents: [['a en']] } });
  clock.advance(500);
  expect(await outcome({ '1': { documents: [['a en']] } })).toBe('same');
  expect((await get('/news/versions/1/documents/en/a')).body.config.effectiveDate).toBe(at(0));
  // Said out loud it is the same; another date is a change.
  expect(await outcome({ '1': { documents: [['a en', 0]] } })).toBe('same');
  expect(await outcome({ '1': { documents: [['a en', 1]] } })).toBe('document_locked /versions/0/documents/0');
});

test('an end of life changes and goes until its startDate', async () => {
  const { outcome } = await world();
  const version = (endOfLife?: [number, number]) => ({
    '1': { documents: [['a en', 0]] as Document[], ...(endOfLife && { endOfLife }) },
  });
  expect(await outcome(version([0, 1000]))).toBe('date_in_past /versions/0/endOfLife/startDate');
  expect(await outcome(version([1, 1000]))).toBe('changed');
  expect(await outcome(version())).toBe('changed');
  expect(await outcome(version([1000, 2000]))).toBe('changed');
  clock.advance(999);
  expect(await outcome(version([1000, 3000]))).toBe('changed');
  clock.advance(1);
  expect(await outcome(version([1000, 3000]))).toBe('same');
  expect(await outcome(version([1000, 4000]))).toBe('end_of_life_locked /versions/0/endOfLife');
  expect(await outcome(version())).toBe('end_of_life_locked /versions/0/endOfLife');
});

test('restoring brings the past in once; what is in effect then stays as it is', async () => {
  const { outcome, tenant, state } = await world();
  await putTenant(server.services.tenants, manifestWriter, tenant, tenantSpec({ restore: { allowPastDates: true } }));
  const past = {
    '1': { documents: [['a en', -5000]] as Document[], endOfLife: [-3000, 9000] as [number, number] },
    '2': { documents: [['a en', -4000]] as Document[] },
  };
  expect(await outcome(past)).toBe('changed');
  expect(await state()).toMatchObject({ active: [{ language: 'en', version: '2' }] });
  expect(await outcome({ ...past, '2': { documents: [['a en', -3999]] } })).toBe(
    'document_locked /versions/1/documents/0',
  );
  expect(await outcome({ ...past, '1': { ...past['1'], endOfLife: [-3000, 9001] } })).toBe(
    'end_of_life_locked /versions/0/endOfLife',
  );
  await putTenant(server.services.tenants, manifestWriter, tenant, tenantSpec());
  expect(await outcome(past)).toBe('same');
});

test('two documents of a language that take effect together are refused, an exchange of dates is not', async () => {
  const { outcome } = await world();
  expect(await outcome({ '1': { documents: [['a en']] }, '2': { documents: [['a en']] } })).toBe(
    'effective_date_taken /versions/1/documents/0/effectiveDate',
  );
  expect(
    await outcome({
      '1': {
        documents: [
          ['a en', 1000],
          ['b en', 2000],
        ],
      },
    }),
  ).toBe('changed');
  expect(
    await outcome({
      '1': {
        documents: [
          ['a en', 2000],
          ['b en', 1000],
        ],
      },
    }),
  ).toBe('changed');
});

test('attributes are those that the tenant declares, and stay once something is in effect', async () => {
  const { outcome } = await world([
    { object: 'definition', name: 'purpose', type: 'string', required: true },
    { object: 'version', name: 'owner', type: 'string', required: false },
    { object: 'document', name: 'url', type: 'string', required: true },
  ]);
  const version = (owner?: string, url: string | undefined = 'u') => ({
    '1': { documents: [['a en', 0, url === '' ? {} : { url }]] as Document[], ...(owner && { attributes: { owner } }) },
  });
  expect(await outcome(version())).toBe('consent_attributes_invalid /attributes/purpose');
  expect(await outcome(version(undefined, ''), { purpose: 'p' })).toBe(
    'consent_attributes_invalid /versions/0/documents/0/attributes/url',
  );
  expect(await outcome(version('legal'), { purpose: 'p', more: 'x' })).toBe(
    'consent_attributes_invalid /attributes/more',
  );
  expect(await outcome(version('legal'), { purpose: 'p' })).toBe('changed');
  expect(await outcome(version('legal'), { purpose: 'q' })).toBe('definition_locked /attributes');
  expect(await outcome(version('sales'), { purpose: 'p' })).toBe('version_locked /versions/0/attributes');
  expect(await outcome(version('legal', 'v'), { purpose: 'p' })).toBe('document_locked /versions/0/documents/0');
});

test('an attribute that is required from now on is asked of new objects only', async () => {
  const { outcome, tenant } = await world();
  const versions = { '1': { documents: [['a en', 0]] as Document[] } };
  await outcome(versions);
  const consentAttributes = (['definition', 'version', 'document'] as const).map((object) => {
    return { object, name: 'owner', type: 'string' as const, required: true };
  });
  await putTenant(server.services.tenants, manifestWriter, tenant, tenantSpec({ consentAttributes }));
  expect(await outcome(versions)).toBe('same');
  expect(
    await outcome({
      '1': {
        documents: [
          ['a en', 0],
          ['b en', 1],
        ],
      },
    }),
  ).toBe('consent_attributes_invalid /versions/0/documents/1/attributes/owner');
  expect(await outcome({ ...versions, '2': { documents: [] } })).toBe(
    'consent_attributes_invalid /versions/1/attributes/owner',
  );
});

test('the API leaves a manifest’s definition alone; archived, it takes nothing new, and comes back as it was', async () => {
  const { outcome, tenant, put, get, state } = await world();
  const versions = { '1': { documents: [['a en', 0]] as Document[] } };
  await outcome(versions);
  for (const path of ['/news', '/news/versions/2', '/news/versions/1/documents/en/b']) {
    const body =
      path === '/news'
        ? {}
        : path.endsWith('b')
          ? { effectiveDate: '2999-01-01T00:00:00Z' }
          : { optInConfig: { type: 'direct' } };
    expect((await put(path, body)).body.code).toBe('owned_by_manifest');
  }
  const other = { ...manifestWriter, owner: { ...manifestWriter.owner, name: 'other' } };
  await expect(archiveManifestDefinition(services, other, tenant, 'news')).rejects.toMatchObject({
    code: 'duplicate_name',
  });
  expect((await archiveManifestDefinition(services, manifestWriter, tenant, 'news')).changed).toBe(true);
  expect((await archiveManifestDefinition(services, manifestWriter, tenant, 'news')).changed).toBe(false);
  await server.services.snapshots.refresh(tenant);
  expect(server.services.snapshots.get(tenant)?.definitions.size).toBe(0);
  expect(await state()).toBeUndefined();
  expect((await get('/news')).body.config).toEqual({ name: 'news', archived: true });
  expect((await put('/news/versions/2', { optInConfig: { type: 'direct' } })).status).toBe(404);
  expect(await outcome(versions)).toBe('changed');
  expect(await state()).toMatchObject({ active: [{ language: 'en', version: '1', document: 'a' }] });
  await archiveManifestDefinition(services, manifestWriter, tenant, 'news');
  // The API may take it up too, though it is locked: nothing of it changes.
  expect((await put('/news', {})).status).toBe(200);
  expect((await get('/news')).body.config).toEqual({ name: 'news' });
  await expect(
    applyDefinition(services, manifestWriter, tenant, {
      tenantRef: { name: tenant },
      name: 'news',
      versions: [],
      managementPolicy: 'Enforce',
      adoptionPolicy: 'Refuse',
    }),
  ).rejects.toMatchObject({ code: 'owned_by_api' });
});
