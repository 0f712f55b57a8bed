/** What the corpus cannot hold: values that no YAML file gives, several refusals at once, and what comes back. */
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { bounds, checkManifest, type Manifest } from '../../crds/index.ts';

const policy = () => ({
  apiVersion: 'accord.dev/v1alpha1',
  kind: 'Policy',
  metadata: { name: 'a', namespace: 'cars' },
  spec: { tenantRef: { name: 'cars' }, name: 'a:read', rego: 'package a' },
});
const tenant = {
  apiVersion: 'accord.dev/v1alpha1',
  kind: 'Tenant',
  metadata: { name: 'cars' },
  spec: { displayName: 'Cars', audiences: ['a'] },
};

function accepted(doc: unknown): Manifest {
  const checked = checkManifest(doc);
  if (!checked.ok) throw new Error(JSON.stringify(checked.errors));
  return checked.manifest;
}

test.each([undefined, null, 'text', 5, [], true])('refuses %j as a document', (doc) => {
  expect(checkManifest(doc)).toEqual({
    ok: false,
    errors: [{ pointer: '', detail: expect.stringMatching(/^must be an object, but is /) }],
  });
});

test('fills in every default and leaves the document as it was', () => {
  const doc = structuredClone(tenant);
  expect(accepted(doc).spec).toEqual({
    displayName: 'Cars',
    audiences: ['a'],
    supportDesk: { enabled: true },
    tokenMapping: { actorIdClaimPath: 'sub', defaultActorType: 'user' },
    tokens: { signingAlgorithm: 'ES256', accessTokenTTL: 'PT1H' },
    decisionLog: { mode: 'off' },
    configAuthority: 'PerObject',
    deletionPolicy: 'Retain',
    managementPolicy: 'Enforce',
    adoptionPolicy: 'Refuse',
  });
  expect(doc).toEqual(tenant);
});

test('what it returns it accepts again, unchanged', () => {
  const once = accepted(tenant);
  expect(accepted(once)).toEqual(once);
  expect(accepted(policy())).toEqual(accepted(accepted(policy())));
});

test('names every place that is wrong, with the pointer escaped', () => {
  const doc = {
    ...policy(),
    extra: 1,
    metadata: { name: 'A', namespace: 'cars' },
    spec: { ...policy().spec, 'a/b~c': 1, rego: 5, tests: {} },
  };
  expect(checkManifest(doc)).toEqual({
    ok: false,
    errors: [
      { pointer: '/extra', detail: expect.stringContaining('apiVersion, kind, metadata, spec, status') },
      { pointer: '/metadata/name', detail: expect.stringContaining('RFC 1123') },
      { pointer: '/spec/a~1b~0c', detail: expect.stringContaining('is an unknown field; the fields here are') },
      { pointer: '/spec/rego', detail: 'must be a string, but is the number 5' },
      { pointer: '/spec/tests', detail: 'must be a list, but is an object' },
    ],
  });
});

test('a field called __proto__ is an unknown field', () => {
  const doc = JSON.parse(
    `{"apiVersion":"accord.dev/v1alpha1","kind":"Tenant","metadata":{"name":"cars"},"spec":{"displayName":"a","audiences":["a"],"limits":{"__proto__":{"maxPolicies":1}}}}`,
  );
  expect(checkManifest(doc)).toMatchObject({ ok: false, errors: [{ pointer: '/spec/limits/__proto__' }] });
});

test('rules about changes hold against the stored manifest only', () => {
  const renamed = { ...policy(), spec: { ...policy().spec, name: 'other' } };
  expect(checkManifest(renamed)).toMatchObject({ ok: true });
  expect(checkManifest(renamed, accepted(policy()))).toMatchObject({ ok: false, errors: [{ pointer: '/spec/name' }] });
  expect(checkManifest(policy(), accepted(policy()))).toMatchObject({ ok: true });
});

test('long values are cut in messages', () => {
  const checked = checkManifest({ ...policy(), spec: { ...policy().spec, name: `${'🚗'.repeat(200)}/` } });
  expect(!checked.ok && checked.errors[0]?.detail).toMatch(/but is "(?:🚗){59}…$/u);
});

test('annotations are bounded together', () => {
  const annotated = (bytes: number) => ({
    ...policy(),
    metadata: { ...policy().metadata, annotations: { k: 'x'.repeat(bytes - 1) } },
  });
  expect(checkManifest(annotated(256 * 1024))).toMatchObject({ ok: true });
  expect(checkManifest(annotated(256 * 1024 + 1))).toMatchObject({
    ok: false,
    errors: [{ pointer: '/metadata/annotations' }],
  });
});

test('metadata is read as the API server reads it', () => {
  const metadata = {
    ...tenant.metadata,
    namespace: '',
    labels: null,
    annotations: { 'Example.com/a': null },
    creationTimestamp: null,
  };
  expect(accepted({ ...tenant, metadata }).metadata).toEqual({ name: 'cars', annotations: { 'Example.com/a': '' } });
  expect(checkManifest({ ...tenant, metadata: null })).toMatchObject({ ok: false, errors: [{ pointer: '/metadata' }] });
  expect(checkManifest({ ...tenant, spec: null })).toMatchObject({
    ok: false,
    errors: [{ pointer: '/spec', detail: 'is required' }],
  });
});

test.each([
  ['in a field', { rego: 'package a # \0' }, '/spec/rego'],
  [
    'in a free value',
    { tests: [{ name: 'a', input: { a: ['\0'] }, expect: { reason: '' } }] },
    '/spec/tests/0/input/a/0',
  ],
  [
    'in a field name',
    { tests: [{ name: 'a', input: { '\ud83d': 1 }, expect: { reason: '' } }] },
    '/spec/tests/0/input/\ud83d',
  ],
])('refuses what cannot be stored %s', (_, spec, pointer) => {
  const checked = checkManifest({ ...policy(), spec: { ...policy().spec, ...spec } });
  expect(checked).toMatchObject({
    ok: false,
    errors: [{ pointer, detail: expect.stringMatching(/^must not contain /) }],
  });
});

test('a number that JSON lacks is refused', () => {
  const input = parse('a: [.inf, -.inf, .nan, 1e400]');
  const tests = [{ name: 'a', input, expect: { reason: '' } }];
  const checked = checkManifest({ ...policy(), spec: { ...policy().spec, tests } });
  const pointers = [0, 1, 2, 3].map((index) => ({
    pointer: `/spec/tests/0/input/a/${index}`,
    detail: 'must be a finite number',
  }));
  expect(checked).toEqual({ ok: false, errors: pointers });
});

test('nesting is bounded', () => {
  const nested = (levels: number) => {
    // spec, tests, its entry and input are four levels.
    const input = JSON.parse(`${'{"a":'.repeat(levels - 4)}{}${'}'.repeat(levels - 4)}`);
    return { ...policy(), spec: { ...policy().spec, tests: [{ name: 'a', input, expect: { reason: '' } }] } };
  };
  expect(checkManifest(nested(bounds.depthMax))).toMatchObject({ ok: true });
  expect(checkManifest(nested(bounds.depthMax + 1))).toMatchObject({
    ok: false,
    errors: [{ detail: 'must not be nested more than 64 deep' }],
  });
  expect(checkManifest(nested(9_000))).toMatchObject({
    ok: false,
    errors: [{ detail: 'must not be nested more than 64 deep' }],
  });
});

test.each(['https://256.1.1.1', 'https://1.2.3.4.5', 'https://[::g]', 'https://[1:2]', 'https://0x100000000'])(
  '%s is no URL, whatever it looks like',
  (url) => {
    const issuer = (spec: object) => ({
      apiVersion: 'accord.dev/v1alpha1',
      kind: 'TrustedIssuer',
      metadata: { name: 'login', namespace: 'cars' },
      spec: { tenantRef: { name: 'cars' }, issuer: 'https://login.example', ...spec },
    });
    for (const field of ['issuer', 'jwksUri'])
      expect(checkManifest(issuer({ [field]: url })), field).toMatchObject({
        ok: false,
        errors: [{ pointer: `/spec/${field}`, detail: expect.stringContaining('must be an https URL') }],
      });
  },
);
