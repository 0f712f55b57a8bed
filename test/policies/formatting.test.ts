/** POST /tenants/{tenant}/policy-format: Rego is laid out, and nothing is stored. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { createTestServer } from '../helpers/server.ts';
import { configClient, type Role } from './config-client.ts';

const server = await createTestServer();
const tenant = await server.tenant();
const call = await configClient(server, tenant);
const format = (rego: unknown) => call('POST', '/policy-format', { body: { rego } });

const untidy =
  'package t\n# why\ndefault outcome:="deny"\noutcome:="allow" if {input.a==1;\n   nowhere(input) } # here';

test('lays a source out with its comments, also one that does not compile; twice it is the same', async () => {
  const { status, body } = await format(untidy);
  expect([status, body]).toEqual([
    200,
    {
      rego: 'package t\n\n# why\ndefault outcome := "deny"\n\noutcome := "allow" if {\n\tinput.a == 1\n\tnowhere(input) # here\n}\n',
    },
  ]);
  expect((await format(body.rego)).body).toEqual(body);
  expect((await call('GET', '/policies')).body.resources).toEqual([]);
});

test('the older syntax stays', async () => {
  expect((await format('package t\noutcome = "allow" {input.a}')).body).toEqual({
    rego: 'package t\n\noutcome = "allow" {\n\tinput.a\n}\n',
  });
});

describe('what does not parse', () => {
  test.each([
    'package t\noutcome := "allow" if {',
    'package t\n\nx := [1,\n\n  2}',
    'outcome := "allow"',
    'package t\noutcome = "allow" { input.a ; ; }',
    'package t\nx := "a\nb"',
    'no rego at all',
    `package t\nx := ${'['.repeat(5000)}`,
  ])('has the places that a check of the policy has: %#', async (rego) => {
    const formatted = await format(rego);
    const checked = await call('PUT', '/policies/t?dryRun=true', { body: { rego } });
    expect(formatted.status).toBe(400);
    expect(formatted.body).toMatchObject({ code: 'policy_does_not_compile', errors: checked.body.errors });
    expect(formatted.body.errors[0]).toMatchObject({ pointer: '/rego', line: expect.any(Number) });
  });
});

test('a source whose layout would not be valid is refused without lines, which would be those of the layout', async () => {
  const rego = 'package t\n\nq # interrupting\n\n[a] # the head of a rule\n\n{ m = [1,2,\n 3, ];\n a = m[i]\n}\n';
  const { status, body } = await format(rego);
  expect([status, body.code]).toEqual([400, 'policy_does_not_compile']);
  expect(body.detail).toContain('the source cannot be formatted: its layout cannot be read');
});

describe('bounds', () => {
  const { regoSourceBytesMax: max } = limits;
  const long = (bytes: number) => `package t\n\n# ${'a'.repeat(bytes - 'package t\n\n# \n'.length)}\n`;

  test('the size of a source, in characters and in bytes', async () => {
    expect((await format(long(max))).status).toBe(200);
    expect((await format(long(max + 1))).body.code).toBe('invalid_request');
    const { status, body } = await format(`package t\n# ${'é'.repeat(max / 2)}`);
    expect([status, body.code]).toEqual([400, 'policy_does_not_compile']);
    expect(body.errors[0].detail).toContain(`${max} are allowed`);
    expect((await format('x'.repeat(limits.bodyBytesMax))).status).toBe(413);
  });

  test('the size of what is made of it', async () => {
    const rego = `package t\nx := ${'[\n'.repeat(60)}${'1,\n'.repeat(1200)}1${'\n]'.repeat(60)}`;
    expect(Buffer.byteLength(rego)).toBeLessThanOrEqual(max);
    const { status, body } = await format(rego);
    expect([status, body.errors[0].detail]).toEqual([400, expect.stringMatching(/^What is formatted has \d+ bytes/)]);
  });

  test('a source on which the formatter could work for long is refused as too complex', async () => {
    const rego = `package t\nx = 0 { input.a == 0 }\n${'else = 1 { input.a == 1 }\n'.repeat(2300)}`;
    const { status, body } = await format(rego);
    expect([status, body.errors[0].detail]).toEqual([400, expect.stringContaining('too complex')]);
    expect((await format(untidy)).status).toBe(200);
  });

  test.each([{}, { rego: '' }, { rego: '\u0000' }, { rego: 1 }, { rego: 'package t', graph: {} }])(
    'a body %j',
    async (body) => {
      expect((await call('POST', '/policy-format', { body })).status).toBe(400);
    },
  );
});

test('is for those who may write policies, of this tenant', async () => {
  for (const role of ['security-admin', 'config-viewer', 'support'] satisfies Role[]) {
    const as = await configClient(server, tenant, role);
    const { status } = await as('POST', '/policy-format', { body: { rego: untidy } });
    expect([role, status]).toEqual([role, role === 'security-admin' ? 200 : 403]);
  }
  const token = await server.member(await server.tenant(), 'security-admin');
  const elsewhere = await call('POST', '/policy-format', {
    ...{ body: { rego: untidy }, headers: { authorization: `Bearer ${token}` } },
  });
  expect(elsewhere.status).toBe(401);
});
