/** `accord validate`: what a tenant would refuse of what its manifests say, and what policies name that none of them makes. */
import { describe, expect, test } from 'vitest';
import { issuerYaml, policyYaml, tenantYaml } from '../operator/manifests.ts';
import { drawnYaml, folderOf, type, validate } from './validating.ts';

const run = async (texts: readonly string[], ...args: string[]) =>
  validate(await folderOf({}), [...args, '-'], texts.join('---\n'));

describe('what the tenant refuses', () => {
  const issuer = issuerYaml('aa', 'idp', 'audiences: [aa-api, other-api]');

  test('an issuer may narrow the audiences of its Tenant, never widen them', async () => {
    const refused = "TrustedIssuer default/idp: /spec/audiences/1: other-api is not one of the tenant's audiences";
    expect(await run([tenantYaml('aa'), issuer])).toMatchObject({
      code: 1,
      lines: [`stdin:14: ${refused}`, '1 error in 2 manifests.'],
    });
    expect((await run([issuerYaml('aa', 'idp', 'audiences: [aa-api]'), tenantYaml('aa')])).code).toBe(0);
    // The Tenant is made elsewhere: nobody knows its audiences.
    expect((await run([issuer], '--partial')).code).toBe(0);
    expect((await run([tenantYaml('aa'), issuer], '--partial')).code).toBe(1);
    expect((await run([tenantYaml('aa'), `${issuer}  managementPolicy: Observe\n`])).code).toBe(0);
  });

  test('a second issuer says whose its actors are', async () => {
    const { code, lines } = await run([tenantYaml('aa'), issuerYaml('aa', 'one'), issuerYaml('aa', 'two')]);
    expect([code, lines[0]]).toEqual([1, expect.stringContaining('default/two: /spec/actorIdPrefix: the issuer one')]);
    const third = issuerYaml('aa', 'two', 'sharesActors: true');
    expect((await run([tenantYaml('aa'), issuerYaml('aa', 'one'), third])).code).toBe(0);
  });

  const terms = (...dates: readonly string[]) =>
    type(
      'ConsentDefinition',
      'aa',
      'terms',
      `name: terms\n  versions: [{version: "1", optInConfig: {type: direct}, documents: [${dates
        .map((date, n) => `{version: "${n}", language: en, effectiveDate: "${date}"}`)
        .join(', ')}]}]`,
    );

  test('a date of the past is a note: a tenant that has it stored takes it; and none where the Tenant may restore', async () => {
    const past = terms('2020-01-01T00:00:00Z', '2021-01-01T00:00:00Z', '2999-01-01T00:00:00Z');
    const { code, lines } = await run([tenantYaml('aa'), past]);
    expect(code).toBe(0);
    expect(lines[0]).toMatch(
      /^stdin:14: ConsentDefinition default\/aa-terms: note: \/spec\/versions\/0\/documents\/0\/effectiveDate \(and 1 more\) lies in the past/,
    );
    const restoring = tenantYaml('aa', 'restore: {allowPastDates: true}');
    expect((await run([restoring, past])).lines).toEqual(['2 manifests are good.']);
    expect((await run([tenantYaml('aa'), terms('2999-01-01T00:00:00Z')])).lines).toEqual(['2 manifests are good.']);
  });

  test('two documents of one instant are refused, where nothing stored can matter', async () => {
    const { code, lines } = await run([tenantYaml('aa'), terms('2999-01-01T00:00:00Z', '2999-01-01T00:00:00Z')]);
    expect([code, lines[0]]).toEqual([1, expect.stringContaining('takes effect in en at 2999-01-01')]);
  });
});

describe('texts of consent definitions', () => {
  const terms = (content: string) =>
    type(
      'ConsentDefinition',
      'aa',
      'terms',
      `name: terms\n  versions:\n    - version: "1"\n      optInConfig: {type: direct}\n      documents:\n        - version: a\n          language: en\n          content: ${content}`,
    );

  test('are refused as the server refuses them, also when their tenant is elsewhere', async () => {
    const wrong = terms('{title: Terms, mediaType: text/plain, body: "<!doctype html><p>x"}');
    const { code, lines } = await run([wrong], '--partial');
    const place = '/spec/versions/0/documents/0/content/body';
    expect([code, lines[0]]).toEqual([
      1,
      `stdin:7: ConsentDefinition default/aa-terms: ${place}: Begins as HTML, but mediaType is text/plain.`,
    ]);
    expect((await run([tenantYaml('aa'), wrong])).lines).toHaveLength(2);
  });

  test('of which less is shown than they say are noted', async () => {
    const { code, lines } = await run(
      [terms('{title: Terms, mediaType: text/html, body: "<p onclick=a()>x<script>"}')],
      '--partial',
    );
    expect([code, lines[0]]).toEqual([
      0,
      expect.stringMatching(
        /^stdin:7: ConsentDefinition default\/aa-terms: note: \/spec\/versions\/0\/documents\/0\/content\/body is stored and shown without .*onclick.*<script>/,
      ),
    ]);
  });
});

describe('what policies name', () => {
  const condition = (...conditions: object[]) =>
    drawnYaml(
      [
        { id: 's', type: 'start' },
        { id: 'c', type: 'condition', match: 'any', conditions },
        { id: 'yes', type: 'outcome', outcome: 'allow' },
      ],
      [
        { from: 's', to: 'c' },
        { from: 'c', to: 'yes', on: 'true' },
      ],
      'car:read',
    );
  const all = condition(
    { type: 'relationship', relationshipType: 'drives', target: 'anyOfType', targetType: 'car' },
    { type: 'invitation', relationshipType: 'drives' },
    { type: 'consent', name: 'terms' },
  );
  const consent = type(
    'ConsentDefinition',
    'aa',
    'terms',
    'name: terms\n  versions: [{version: "1", optInConfig: {type: direct}, documents: []}]',
  );
  const types = [
    type('ActorType', 'aa', 'user'),
    type('ResourceType', 'aa', 'car'),
    type('RelationshipType', 'aa', 'd', 'from: user\n  name: drives\n  to: car'),
  ];

  test('conditions of a graph on what no manifest makes are notes, once each; a tenant takes such a policy', async () => {
    const reads =
      'stdin:14: Policy default/p: note: each decision reads all relationships of the subject that have the types the policy compares with (node c); compare the id, too, to read only those that match';
    const consents =
      'stdin:14: Policy default/p: note: the policy reads relationships, and input.consents, which are the consents of the subject that asks; for the consents of those whom the data is about state dataSubjects and read input.dataSubjects';
    const missing = ['the RelationshipType drives', 'the ActorType or ResourceType car', 'the ConsentDefinition terms'];
    const { code, lines } = await run([tenantYaml('aa'), all]);
    expect([code, lines]).toEqual([
      0,
      [
        ...missing.map(
          (what) =>
            `stdin:14: Policy default/p: note: the node c tests ${what}, which is not in the files given: it is false until that is made`,
        ),
        reads,
        consents,
        '2 manifests are good.',
      ],
    ]);
    expect((await run([tenantYaml('aa'), all, consent, ...types])).lines).toEqual([
      reads,
      consents,
      '6 manifests are good.',
    ]);
    expect((await run([tenantYaml('aa'), all], '--partial')).lines).toEqual([reads, consents, '2 manifests are good.']);
  });

  test('a name for a resource type that no manifest makes is a note, where manifests make resource types', async () => {
    const policy = policyYaml('aa', 'p', { object: 'cra:read' });
    expect(await run([tenantYaml('aa'), policy, ...types])).toMatchObject({
      code: 0,
      lines: [
        'stdin:13: Policy default/p: note: the name cra:read is for a ResourceType cra, which is not in the files given',
        '5 manifests are good.',
      ],
    });
    const quiet = [
      [tenantYaml('aa'), policy],
      [tenantYaml('aa'), policyYaml('aa', 'p', { object: 'car:read' }), ...types],
      [tenantYaml('aa'), policyYaml('aa', 'p', { object: 'user:relationships:list' }), ...types],
      [tenantYaml('aa'), policyYaml('aa', 'p', { object: 'sign-in' }), ...types],
    ];
    for (const texts of quiet) expect((await run(texts)).lines[0]).toMatch(/manifests are good/);
    expect((await run([tenantYaml('aa'), policy, ...types], '--partial')).lines).toEqual(['5 manifests are good.']);
  });
});
