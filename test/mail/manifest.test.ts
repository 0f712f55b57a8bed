/** MailTemplate manifests: whose a template is, and what the Config API may do with it. */
import { beforeEach, expect, test } from 'vitest';
import { putTemplate } from '../../server/mail/template-actions.ts';
import { loadTemplates } from '../../server/mail/template-store.ts';
import { createTestServer, manifestWriter } from '../helpers/server.ts';
import { createWorld } from '../operator/harness.ts';
import { tenantYaml } from '../operator/manifests.ts';
import { MemorySource } from '../operator/memory-source.ts';

const world = await createWorld();
beforeEach(() => world.empty());
const server = await createTestServer();

const yamlOf = (text: string, more = '') => `apiVersion: accord.dev/v1alpha1
kind: MailTemplate
metadata: {name: invitation-nl, namespace: acme}
spec: {tenantRef: {name: acme}, name: relationship-invitation, language: nl, subject: Auto, text: "${text}"${more}}
`;
const key = 'MailTemplate/acme/invitation-nl';
const stored = () => world.database.read('acme', (tx) => loadTemplates(tx, 'acme'));

test('a template follows its manifest, and the built-in one is back when the manifest goes', async () => {
  const source = new MemorySource();
  source.apply(tenantYaml('acme'));
  source.apply(yamlOf('Zie {{ actionUrl }}'));
  await world.serve();
  const { operator } = world.operateOn(source);
  await operator.settled();
  expect(source.condition(key)).toMatchObject({ status: 'True' });
  expect(await stored()).toMatchObject([
    { name: 'relationship-invitation', language: 'nl', spec: { subject: 'Auto', text: 'Zie {{ actionUrl }}' } },
  ]);
  source.apply(yamlOf('Zie {{ nobody }}'));
  await expect.poll(() => source.condition(key, 'Accepted')).toMatchObject({ status: 'False', reason: 'Invalid' });
  expect(source.condition(key, 'Accepted')?.message).toContain(
    'Line 1, column 8: the mail has no variable nobody; it has application',
  );
  expect(await stored()).toMatchObject([{ spec: { text: 'Zie {{ actionUrl }}' } }]);
  source.delete(key);
  await expect.poll(stored).toEqual([]);
});

test('two manifests of one mail and language: the second is told of the first', async () => {
  const source = new MemorySource();
  source.apply(tenantYaml('acme'));
  source.apply(yamlOf('A'));
  await world.serve();
  await world.operateOn(source).operator.settled();
  source.apply(yamlOf('B').replace('invitation-nl', 'another'));
  await expect
    .poll(() => source.condition('MailTemplate/acme/another', 'Accepted'))
    .toMatchObject({ status: 'False', reason: 'DuplicateName' });
  expect(await stored()).toMatchObject([{ spec: { text: 'A' } }]);
});

test('the Config API shows whose a template is, and does not change that of a manifest', async () => {
  const tenant = await server.tenant();
  const token = await server.member(tenant, 'security-admin');
  const spec = { subject: 'Auto', text: 'Zie {{ actionUrl }}' };
  const name = 'relationship-invitation';
  await putTemplate(server.services.mail, manifestWriter, tenant, { name, language: 'nl', spec });
  const ask = (method: 'GET' | 'PUT' | 'DELETE', path: string, payload?: object) =>
    server.app.inject({
      ...{ method, url: `/tenants/${tenant}/mail/templates${path}`, headers: { authorization: `Bearer ${token}` } },
      ...(payload === undefined ? {} : { payload }),
    });
  const path = `/${name}/nl`;
  for (const [method, body] of [
    ['PUT', spec],
    ['DELETE', undefined],
  ] as const) {
    const refused = await ask(method, path, body);
    expect([refused.statusCode, refused.json().code]).toEqual([409, 'owned_by_manifest']);
  }
  expect((await ask('PUT', `/${name}/fr`, spec)).statusCode).toBe(200);
  const { managedBy } = (await ask('GET', path)).json();
  expect(managedBy).not.toBe('api');
  const listed = (await ask('GET', '')).json().templates as { language: string; name: string; managedBy?: string }[];
  expect(listed.filter((one) => one.name === name).map((one) => [one.language, one.managedBy])).toEqual([
    ['fr', 'api'],
    ['nl', managedBy],
    ['en', undefined],
  ]);
});
