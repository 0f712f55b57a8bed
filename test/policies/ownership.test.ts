/** Who may write policies: roles of members, manifests beside the API, the tenant's configuration authority, its quota. */
import { describe, expect, test } from 'vitest';
import type { Writer } from '../../server/core/ownership.ts';
import { deletePolicy, putPolicy } from '../../server/policies/index.ts';
import { putPart } from '../../server/policies/part-actions.ts';
import { createTestServer, manifestWriter } from '../helpers/server.ts';
import { configClient, says } from './config-client.ts';

const server = await createTestServer();
const manifest = (name: string, adopt = false): Writer => ({
  owner: { source: 'files', namespace: 'fleet', name, uid: `uid-${name}` },
  actor: `operator:files/fleet/${name}`,
  adopt,
});

describe('roles', async () => {
  const tenant = await server.tenant();
  const editor = await configClient(server, tenant);
  await editor('PUT', '/policies/r', { body: { rego: says('allow') } });

  test.each(['security-admin', 'config-editor'] as const)('%s reads and writes', async (role) => {
    const call = await configClient(server, tenant, role);
    expect((await call('PUT', `/policies/${role}`, { body: { rego: says('allow') } })).status).toBe(200);
    expect((await call('POST', `/policies/${role}/test`, { body: { input: {} } })).status).toBe(200);
    expect((await call('POST', `/policies/${role}/revisions/1/restore`)).status).toBe(200);
    expect((await call('GET', `/policies/${role}`)).status).toBe(200);
    expect((await call('DELETE', `/policies/${role}`)).status).toBe(200);
  });

  test.each(['config-viewer', 'support'] as const)('%s only reads', async (role) => {
    const call = await configClient(server, tenant, role);
    for (const path of ['/policies', '/policies/r', '/policies/r/revisions', '/policies/r/revisions/1']) {
      expect((await call('GET', path)).status, path).toBe(200);
    }
    const writes = [
      await call('PUT', '/policies/r', { body: { rego: says('deny') } }),
      await call('PUT', '/policies/r?dryRun=true', { body: { rego: says('deny') } }),
      await call('DELETE', '/policies/r'),
      await call('POST', '/policies/r/revisions/1/restore'),
      await call('POST', '/policies/r/test', { body: { input: {} } }),
    ];
    expect(writes.map(({ status, body }) => `${status} ${body.code}`)).toEqual(writes.map(() => '403 forbidden'));
    expect((await editor('GET', '/policies/r')).body.revision).toBe(1);
  });

  test('a back end and an end user are no members, and nobody is nobody', async () => {
    const ask = async (headers: Record<string, string>) =>
      (await server.app.inject({ method: 'GET', url: `/tenants/${tenant}/policies`, headers })).statusCode;
    expect(await ask({ authorization: `Bearer ${await server.client(tenant, 'pg:tenant:admin')}` })).toBe(401);
    expect(await ask({ authorization: `Bearer ${await server.user(tenant, 'alice')}` })).toBe(401);
    expect(await ask({})).toBe(401);
  });
});

describe('manifests', async () => {
  const tenant = await server.tenant();
  const call = await configClient(server, tenant);
  const put = (writer: Writer, name: string, rego: string) =>
    putPolicy(server.services.policies, writer, tenant, name, { rego });

  test("a manifest's policy is not changed through the API, which names the manifest", async () => {
    await put(manifest('mine'), 'm:own', says('allow'));
    expect((await call('GET', '/policies/m%3Aown')).body.managedBy).toBe('files fleet/mine');
    const refused = [
      await call('PUT', '/policies/m%3Aown', { body: { rego: says('deny') } }),
      await call('PUT', '/policies/m%3Aown?dryRun=true', { body: { rego: says('deny') } }),
      await call('DELETE', '/policies/m%3Aown'),
      await call('POST', '/policies/m%3Aown/revisions/1/restore'),
    ];
    refused.push(await call('PUT', '/policies/m%3Aown', { body: { rego: 'package p\noutcome := nonsense(' } }));
    for (const { status, body } of refused) {
      expect([status, body.code]).toEqual([409, 'owned_by_manifest']);
      expect(body.detail).toContain('files fleet/mine');
    }
    expect((await call('GET', '/policies/m%3Aown')).body.revision).toBe(1);
  });

  test("a manifest that meets the API's policy is refused, unless it adopts it; then the API is", async () => {
    const rego = says('allow');
    await call('PUT', '/policies/m%3Aadopt', { body: { rego } });
    await expect(put(manifest('late'), 'm:adopt', rego)).rejects.toMatchObject({ code: 'owned_by_api' });
    await put(manifest('late', true), 'm:adopt', rego);
    const { body } = await call('GET', '/policies/m%3Aadopt');
    expect([body.managedBy, body.revision]).toEqual(['files fleet/late', 2]);
    const history = await call('GET', '/policies/m%3Aadopt/revisions');
    expect(history.body.revisions[0]).toMatchObject({ action: 'adopt', updatedBy: 'operator:files/fleet/late' });
    expect((await call('DELETE', '/policies/m%3Aadopt')).body.code).toBe('owned_by_manifest');
  });

  test('of two manifests for one name the first keeps it', async () => {
    await put(manifest('first'), 'm:two', says('allow'));
    await expect(put(manifest('second'), 'm:two', says('deny'))).rejects.toMatchObject({ code: 'duplicate_name' });
    await expect(deletePolicy(server.services.policies, manifest('second'), tenant, 'm:two')).rejects.toMatchObject({
      code: 'duplicate_name',
    });
  });

  test('what a manifest gave up is free for the API', async () => {
    await put(manifest('gone'), 'm:free', says('allow'));
    await deletePolicy(server.services.policies, manifest('gone'), tenant, 'm:free');
    await deletePolicy(server.services.policies, manifest('gone'), tenant, 'm:free'); // again does nothing
    expect((await call('PUT', '/policies/m%3Afree', { body: { rego: says('allow') } })).headers.etag).toBe('"3"');
  });
});

describe('configAuthority', () => {
  test('Kubernetes: the API changes nothing, manifests do', async () => {
    const tenant = await server.tenant({ configAuthority: 'Kubernetes' });
    const call = await configClient(server, tenant);
    const refused = await call('PUT', '/policies/p', { body: { rego: says('allow') } });
    expect([refused.status, refused.body.code]).toEqual([409, 'config_authority']);
    await putPolicy(server.services.policies, manifestWriter, tenant, 'p', { rego: says('allow') });
    expect((await call('DELETE', '/policies/p')).body.code).toBe('config_authority');
    expect((await call('GET', '/policies/p')).status).toBe(200);
  });
  test('Api: manifests change nothing', async () => {
    const tenant = await server.tenant({ configAuthority: 'Api' });
    const call = await configClient(server, tenant);
    await expect(
      putPolicy(server.services.policies, manifestWriter, tenant, 'p', { rego: says('allow') }),
    ).rejects.toMatchObject({ code: 'config_authority' });
    expect((await call('PUT', '/policies/p', { body: { rego: says('allow') } })).status).toBe(200);
  });
});

test('limits.maxPolicies: as many, not one more; replacing goes on, and a deletion makes room', async () => {
  const tenant = await server.tenant({ limits: { maxPolicies: 3 } });
  const call = await configClient(server, tenant);
  const put = (name: string, query = '') => call('PUT', `/policies/${name}${query}`, { body: { rego: says('allow') } });
  const made = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => put(name)));
  expect(made.map(({ status }) => status).sort()).toEqual([200, 200, 200, 409, 409]);
  const refused = await put('f');
  expect([refused.body.code, refused.body.detail]).toEqual(['policy_quota_reached', expect.stringContaining('3')]);
  expect((await put('f', '?dryRun=true')).body.code).toBe('policy_quota_reached');
  const { body } = await call('GET', '/policies');
  expect((await put(body.resources[0])).status).toBe(200);
  await call('DELETE', `/policies/${body.resources[0]}`);
  expect((await put('f')).status).toBe(200);
});

test("a manifest's library and document are refused by their owner, not by the policies that a change would break", async () => {
  const tenant = await server.tenant();
  const call = await configClient(server, tenant);
  const { policies } = server.services;
  const modules = [{ name: 'm', rego: 'package company.roles\nok if input.x in data.company.known.ids' }];
  const value = { ids: [1] };
  await putPart(policies, manifest('known'), tenant, 'company/known', { kind: 'data', value });
  await putPart(policies, manifest('roles'), tenant, 'company.roles', { kind: 'library', modules });
  const rego = 'package p\nimport data.company.roles\ndefault outcome := "deny"\noutcome := "allow" if roles.ok';
  const tests = [{ name: 'one', input: { x: 1 }, expect: { outcome: 'allow' } }];
  expect((await call('PUT', '/policies/a', { body: { rego, tests } })).status).toBe(200);
  const broken = [{ name: 'm', rego: 'package company.roles\nother := 1' }];
  const refused = [
    await call('PUT', '/policy-data/company%2Fknown', { body: { value: { ids: [2] } } }),
    await call('PUT', '/policy-libraries/company.roles', { body: { modules: broken } }),
    await call('PUT', '/policy-libraries/company.roles', { body: { modules: [{ name: 'm', rego: 'no rego' }] } }),
  ];
  expect(refused.map(({ status, body }) => [status, body.code])).toEqual(refused.map(() => [409, 'owned_by_manifest']));
});
