/** Bounds that the manifests and the server both have are equal, and each holds at the limit and refuses one past it. */
import { expect, test } from 'vitest';
import { bounds, checkManifest } from '../../crds/index.ts';
import { limits } from '../../server/core/limits.ts';

test('shared bounds are equal', () => {
  const shared = Object.keys(bounds).filter((name) => name in limits) as (keyof typeof bounds & keyof typeof limits)[];
  expect(shared).toContain('regoSourceBytesMax');
  expect(shared.filter((name) => bounds[name] !== limits[name])).toEqual([]);
});

const policy = (spec: object) => ({
  apiVersion: 'accord.dev/v1alpha1',
  kind: 'Policy',
  metadata: { name: 'a', namespace: 'cars' },
  spec: { tenantRef: { name: 'cars' }, name: 'a', rego: 'package a', ...spec },
});
const tenant = (spec: object) => ({
  apiVersion: 'accord.dev/v1alpha1',
  kind: 'Tenant',
  metadata: { name: 'cars' },
  spec: { displayName: 'Cars', audiences: ['a'], ...spec },
});
const issuer = (spec: object) => ({
  apiVersion: 'accord.dev/v1alpha1',
  kind: 'TrustedIssuer',
  metadata: { name: 'a', namespace: 'cars' },
  spec: { tenantRef: { name: 'cars' }, issuer: 'https://a.example.com', ...spec },
});
const client = (spec: object) => ({
  apiVersion: 'accord.dev/v1alpha1',
  kind: 'OAuthClient',
  metadata: { name: 'a', namespace: 'cars' },
  spec: {
    ...{ tenantRef: { name: 'cars' }, clientId: 'a', grantTypes: ['client_credentials'] },
    ...('jwks' in spec ? {} : { generateSecret: { name: 'a' } }),
    ...spec,
  },
});
const subscription = (spec: object) => ({
  apiVersion: 'accord.dev/v1alpha1',
  kind: 'EventSubscription',
  metadata: { name: 'a', namespace: 'cars' },
  spec: {
    ...{ tenantRef: { name: 'cars' }, endpoint: 'https://a', eventTypes: ['*'], generateSecret: { name: 'a' } },
    ...spec,
  },
});
const mailTemplate = (spec: object) => ({
  apiVersion: 'accord.dev/v1alpha1',
  kind: 'MailTemplate',
  metadata: { name: 'a', namespace: 'cars' },
  spec: { ...{ tenantRef: { name: 'cars' }, name: 'a', language: 'en', subject: 'a', text: 'a' }, ...spec },
});
const secretRef = { name: 'a' };
const keyed = (jwks: object) => client({ tokenEndpointAuthMethod: 'private_key_jwt', jwks });
const rsa = (more: object) => ({ kty: 'RSA', n: 'AQ', e: 'AQAB', ...more });
const actorType = (spec: object) => ({
  apiVersion: 'accord.dev/v1alpha1',
  kind: 'ActorType',
  metadata: { name: 'a', namespace: 'cars' },
  spec: { tenantRef: { name: 'cars' }, name: 'a', ...spec },
});
const relationshipType = (spec: object) => ({
  apiVersion: 'accord.dev/v1alpha1',
  kind: 'RelationshipType',
  metadata: { name: 'a', namespace: 'cars' },
  spec: { tenantRef: { name: 'cars' }, from: 'a', name: 'b', to: 'c', ...spec },
});
const consents = (spec: object) => ({
  apiVersion: 'accord.dev/v1alpha1',
  kind: 'ConsentDefinition',
  metadata: { name: 'a', namespace: 'cars' },
  spec: { tenantRef: { name: 'cars' }, name: 'a', versions: [consentVersion({})], ...spec },
});
const consentVersion = (more: object) => ({ version: '1', optInConfig: { type: 'direct' }, documents: [], ...more });
const contentAt = '/spec/versions/0/documents/0/content';
const content = (more: object) => {
  const document = {
    version: 'a',
    language: 'en',
    content: { title: 'a', mediaType: 'text/plain', body: 'a', ...more },
  };
  return { versions: [consentVersion({ documents: [JSON.parse(JSON.stringify(document))] })] };
};
const list = <T>(length: number, entry: (index: number) => T) => Array.from({ length }, (_, index) => entry(index));
const text = (length: number) => 'a'.repeat(length);
const nodes = (length: number) => list(length, (index) => ({ id: `n${index}`, type: 'outcome' }));
const condition = { type: 'consent', name: 'a' };
const check = (expect: object) => ({ tests: [{ name: 'a', input: {}, expect }] });
const expressions = (length: number) => ({
  allowedNamespaces: { selector: { matchExpressions: list(length, () => ({ key: 'a', operator: 'Exists' })) } },
});

/** A bound, where it refuses, and a manifest with so many. */
const cases: [keyof typeof bounds, string, (many: number) => object][] = [
  ['objectNameCharsMax', '/metadata/name', (n) => ({ ...policy({}), metadata: { name: text(n), namespace: 'a' } })],
  ['labelCharsMax', '/metadata/namespace', (n) => ({ ...policy({}), metadata: { name: 'a', namespace: text(n) } })],
  ['tenantCodeCharsMax', '/metadata/name', (n) => ({ ...tenant({}), metadata: { name: text(n) } })],
  ['displayNameCharsMax', '/spec/displayName', (n) => tenant({ displayName: text(n) })],
  ['audiencesMax', '/spec/audiences', (n) => tenant({ audiences: list(n, (i) => `a${i}`) })],
  ['audienceCharsMax', '/spec/audiences/0', (n) => tenant({ audiences: [text(n)] })],
  ['emailCharsMax', '/spec/supportDesk/email', (n) => tenant({ supportDesk: { email: `${text(n - 2)}@a` } })],
  [
    'mailFromCharsMax',
    '/spec/mail/from',
    (n) => tenant({ mail: { from: `${text(n - 6)} <a@a>`, smtp: { host: 'a' } } }),
  ],
  ['hostCharsMax', '/spec/mail/smtp/host', (n) => tenant({ mail: { from: 'a@a', smtp: { host: text(n) } } })],
  [
    'claimPathCharsMax',
    '/spec/tokenMapping/actorIdClaimPath',
    (n) => tenant({ tokenMapping: { actorIdClaimPath: text(n) } }),
  ],
  [
    'typeNameCharsMax',
    '/spec/tokenMapping/defaultActorType',
    (n) => tenant({ tokenMapping: { defaultActorType: text(n) } }),
  ],
  [
    'namespacesMax',
    '/spec/allowedNamespaces/names',
    (n) => tenant({ allowedNamespaces: { names: list(n, (i) => `a${i}`) } }),
  ],
  ['selectorExpressionsMax', '/spec/allowedNamespaces/selector/matchExpressions', (n) => tenant(expressions(n))],
  ['securityAdminsMax', '/spec/securityAdmins', (n) => tenant({ securityAdmins: list(n, (i) => `a${i}@a`) })],
  [
    'consentAttributesMax',
    '/spec/consentAttributes',
    (n) => tenant({ consentAttributes: list(n, (i) => ({ object: 'version', name: `a${i}`, type: 'string' })) }),
  ],
  ['tenantPoliciesMax', '/spec/limits/maxPolicies', (n) => tenant({ limits: { maxPolicies: n } })],
  ['tenantRelationshipsMax', '/spec/limits/maxRelationships', (n) => tenant({ limits: { maxRelationships: n } })],
  [
    'tenantRequestsPerSecondMax',
    '/spec/limits/maxRequestsPerSecond',
    (n) => tenant({ limits: { maxRequestsPerSecond: n } }),
  ],
  [
    'dataSubjectPathCharsMax',
    '/spec/dataSubjects/path',
    (n) => policy({ dataSubjects: { path: `context.${text(n - 8)}` } }),
  ],
  ['policyNameCharsMax', '/spec/name', (n) => policy({ name: text(n) })],
  ['regoSourceBytesMax', '/spec/rego', (n) => policy({ rego: text(n) })],
  [
    'policyTestsMax',
    '/spec/tests',
    (n) => policy({ tests: list(n, (i) => ({ name: `t${i}`, input: {}, expect: { reason: '' } })) }),
  ],
  [
    'testNameCharsMax',
    '/spec/tests/0/name',
    (n) => policy({ tests: [{ name: text(n), input: {}, expect: { reason: '' } }] }),
  ],
  [
    'testInputFieldsMax',
    '/spec/tests/0/input',
    (n) =>
      policy({ tests: [{ name: 'a', input: Object.fromEntries(list(n, (i) => [i, i])), expect: { reason: '' } }] }),
  ],
  ['reasonCharsMax', '/spec/tests/0/expect/reason', (n) => policy(check({ reason: text(n) }))],
  ['obligationsMax', '/spec/tests/0/expect/obligations', (n) => policy(check({ obligations: list(n, () => 'a') }))],
  ['obligationCharsMax', '/spec/tests/0/expect/obligations/0', (n) => policy(check({ obligations: [text(n)] }))],
  ['graphNodesMax', '/spec/graph/nodes', (n) => policy({ graph: { nodes: nodes(n), edges: [] } })],
  [
    'graphEdgesMax',
    '/spec/graph/edges',
    (n) => policy({ graph: { nodes: nodes(1), edges: list(n, () => ({ from: 'a', to: 'b' })) } }),
  ],
  [
    'graphConditionsPerNodeMax',
    '/spec/graph/nodes/0/conditions',
    (n) =>
      policy({ graph: { nodes: [{ id: 'a', type: 'condition', conditions: list(n, () => condition) }], edges: [] } }),
  ],
  [
    'graphNodeIdCharsMax',
    '/spec/graph/nodes/0/id',
    (n) => policy({ graph: { nodes: [{ id: text(n), type: 'start' }], edges: [] } }),
  ],
  [
    'typeAttributesMax',
    '/spec/attributes',
    (n) => actorType({ attributes: list(n, (i) => ({ name: `a${i}`, type: 'date' })) }),
  ],
  [
    'attributeNameCharsMax',
    '/spec/attributes/0/name',
    (n) => actorType({ attributes: [{ name: text(n), type: 'date' }] }),
  ],
  ['maxPerTargetMax', '/spec/maxPerTarget', (n) => relationshipType({ maxPerTarget: n })],
  ['invitationUsesMax', '/spec/invitation/maxUses', (n) => relationshipType({ invitation: { maxUses: n } })],
  [
    'redirectUrisMax',
    '/spec/invitation/redirectUris',
    (n) => relationshipType({ invitation: { redirectUris: list(n, (i) => `https://a.example/${i}`) } }),
  ],
  [
    'inheritancesMax',
    '/spec/inheritedThrough',
    (n) => relationshipType({ inheritedThrough: list(n, (i) => ({ relationship: `a:r${i}:m`, from: 'm:o:c' })) }),
  ],
  ['consentNameCharsMax', '/spec/name', (n) => consents({ name: text(n) })],
  [
    'consentVersionCharsMax',
    '/spec/versions/0/version',
    (n) => consents({ versions: [consentVersion({ version: text(n) })] }),
  ],
  [
    'consentLanguageCharsMax',
    '/spec/versions/0/documents/0/language',
    (n) => consents({ versions: [consentVersion({ documents: [{ version: 'a', language: text(n) }] })] }),
  ],
  [
    'consentVersionsMax',
    '/spec/versions',
    (n) => consents({ versions: list(n, (i) => consentVersion({ version: `v${i}` })) }),
  ],
  [
    'consentDocumentsMax',
    '/spec/versions/0/documents',
    (n) =>
      consents({
        versions: [consentVersion({ documents: list(n, (i) => ({ version: `d${i}`, language: 'en' })) })],
      }),
  ],
  ['consentTitleCharsMax', `${contentAt}/title`, (n) => consents(content({ title: text(n) }))],
  // In bytes, which the server counts; here it is as many characters.
  ['consentBodyBytesMax', `${contentAt}/body`, (n) => consents(content({ body: text(n) }))],
  ['urlCharsMax', `${contentAt}/url`, (n) => consents(content({ body: undefined, url: `https://a/${text(n - 10)}` }))],
  [
    'consentAttributesMax',
    '/spec/attributes',
    (n) => consents({ attributes: Object.fromEntries(list(n, (i) => [`a${i}`, i])) }),
  ],
  ['urlCharsMax', '/spec/issuer', (n) => issuer({ issuer: `https://a/${text(n - 10)}` })],
  ['clientIdCharsMax', '/spec/clientId', (n) => client({ clientId: text(n) })],
  ['clientKeysMax', '/spec/jwks/keys', (n) => keyed({ keys: list(n, () => rsa({})) })],
  ['jwkIdCharsMax', '/spec/jwks/keys/0/kid', (n) => keyed({ keys: [rsa({ kid: text(n) })] })],
  ['jwkMemberCharsMax', '/spec/jwks/keys/0/n', (n) => keyed({ keys: [rsa({ n: text(n) })] })],
  [
    'upstreamClientIdCharsMax',
    '/spec/login/clientId',
    (n) => issuer({ login: { displayName: 'a', clientId: text(n) } }),
  ],
  [
    'upstreamScopeCharsMax',
    '/spec/login/scopes/1',
    (n) => issuer({ login: { displayName: 'a', clientId: 'a', scopes: ['openid', text(n)] } }),
  ],
  [
    'upstreamScopesMax',
    '/spec/login/scopes',
    (n) => issuer({ login: { displayName: 'a', clientId: 'a', scopes: ['openid', ...list(n - 1, (i) => `s${i}`)] } }),
  ],
  ['urlCharsMax', '/spec/endpoint', (n) => subscription({ endpoint: `https://a/${text(n - 10)}` })],
  ['eventTypesMax', '/spec/eventTypes', (n) => subscription({ eventTypes: list(n, (i) => `A${i}`) })],
  ['eventTypeCharsMax', '/spec/eventTypes/0', (n) => subscription({ eventTypes: ['A'.repeat(n)] })],
  [
    'eventFilterTypesMax',
    '/spec/filters/actorTypes',
    (n) => subscription({ filters: { actorTypes: list(n, (i) => `a${i}`) } }),
  ],
  ['endpointRequestsPerSecondMax', '/spec/maxPerSecond', (n) => subscription({ maxPerSecond: n })],
  ['endpointRetriesMax', '/spec/numberOfRetries', (n) => subscription({ numberOfRetries: n })],
  [
    'endpointUserCharsMax',
    '/spec/auth/username',
    (n) => subscription({ auth: { type: 'basic', username: text(n), secretRef } }),
  ],
  [
    'endpointScopeCharsMax',
    '/spec/auth/scope',
    (n) => subscription({ auth: { type: 'oauth2', tokenUrl: 'https://a', clientId: 'a', scope: text(n), secretRef } }),
  ],
  ['mailSubjectCharsMax', '/spec/subject', (n) => mailTemplate({ subject: text(n) })],
  ['mailTemplateCharsMax', '/spec/html', (n) => mailTemplate({ html: text(n) })],
  ['mailTemplateCharsMax', '/spec/text', (n) => mailTemplate({ text: text(n) })],
  [
    'mailLanguageCharsMax',
    '/spec/language',
    (n) => mailTemplate({ language: `en${'-abcdefgh'.repeat(3)}-${text(n - 30)}` }),
  ],
  ['actorIdPrefixCharsMax', '/spec/actorIdPrefix', (n) => issuer({ actorIdPrefix: text(n) })],
  [
    'claimValueCharsMax',
    '/spec/clientMatch/value',
    (n) => issuer({ clients: 'claim', clientMatch: { claim: 'a', value: text(n) } }),
  ],
];

test.each(cases)('%s', (name, pointer, make) => {
  expect(checkManifest(make(bounds[name]))).toMatchObject({ ok: true });
  const past = checkManifest(make(bounds[name] + 1));
  expect(past).toMatchObject({ ok: false, errors: [{ pointer }] });
});

test('shows at most so many refusals', () => {
  const unknown = Object.fromEntries(list(bounds.errorsShownMax + 1, (index) => [`f${index}`, 1]));
  const checked = checkManifest(policy(unknown));
  expect(!checked.ok && checked.errors.length).toBe(bounds.errorsShownMax);
});
