/** Revisions of libraries and data documents: read, restored, and those that made a logged decision explain it. */
import { describe, expect, test } from 'vitest';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { configClient } from './config-client.ts';
import { allowIf, partClient } from './parts.ts';

const server = await createTestServer();

const managers = (id: string) => `package company.roles\nis_manager(subject) if subject.id == "${id}"\n`;
const reading = 'package company.roles\nis_manager(subject) if subject.id in data.company.managers.ids\n';
const isManager = allowIf('roles.is_manager(input.subject)');
const revisions = (body: { revisions: { revision: number; action: string }[] }) =>
  body.revisions.map(({ revision, action }) => `${revision} ${action}`);

describe('a library', () => {
  const at = '/policy-libraries/company.roles';

  test('has its revisions listed page by page, read, and restored with the policies that use it', async () => {
    const { tenant, call, library, policy, decide } = await partClient(server);
    for (const id of ['ann', 'bob', 'cat']) await library('company.roles', managers(id));
    await policy('a', isManager);
    const { body, headers } = await call('GET', `${at}/revisions?limit=2`);
    expect([revisions(body), headers.link]).toEqual([
      ['3 put', '2 put'],
      expect.stringMatching(/^<.*\/policy-libraries\/company\.roles\/revisions\?.*>; rel="next"$/),
    ]);
    const last = await call('GET', `${at}/revisions?limit=2&cursor=${body.cursor}`);
    expect([revisions(last.body), last.body.cursor]).toEqual([['1 put'], undefined]);
    expect((await call('GET', `${at}/revisions/1`)).body).toEqual({
      ...{ revision: 1, action: 'put', modules: [{ name: 'm0', rego: managers('ann') }] },
      ...{ updatedAt: expect.any(String), updatedBy: expect.any(String) },
    });
    const restored = await call('POST', `${at}/revisions/1/restore`);
    expect([restored.status, restored.headers.etag], JSON.stringify(restored.body)).toEqual([200, '"4"']);
    expect([(await decide('a', 'ann')).outcome, (await decide('a', 'cat')).outcome]).toEqual(['allow', 'deny']);
    expect(revisions((await call('GET', `${at}/revisions?limit=1`)).body)).toEqual(['4 restore']);
    const viewer = await configClient(server, tenant, 'config-viewer');
    expect((await viewer('GET', `${at}/revisions`)).status).toBe(200);
    expect((await viewer('POST', `${at}/revisions/1/restore`)).status).toBe(403);
  });

  test('is not restored where a policy breaks, where it changed, or from what is not there', async () => {
    const { call, library, policy } = await partClient(server);
    await library('company.roles', managers('ann'));
    await library('company.roles', managers('bob'));
    await policy('a', isManager, [{ name: 'bob', input: { subject: { id: 'bob' } }, expect: { outcome: 'allow' } }]);
    const restore = (number: number | string, headers = {}) =>
      call('POST', `${at}/revisions/${number}/restore`, { headers });
    expect((await restore(1)).body.code).toBe('policy_part_breaks_policies');
    expect((await restore(2, { 'if-match': '"1"' })).status).toBe(412);
    expect((await restore(3)).body).toMatchObject({ status: 404, code: 'policy_part_revision_not_found' });
    expect((await restore('x')).status).toBe(400);
    await call('DELETE', '/policies/a');
    await call('DELETE', at);
    const deleted = (await call('GET', `${at}/revisions/3`)).body;
    expect([deleted.action, deleted.modules]).toEqual(['delete', undefined]);
    expect((await restore(3)).body.code).toBe('policy_part_revision_not_found');
    expect((await restore(2)).headers.etag).toBe('"4"');
    expect((await call('GET', `${at}/revisions`)).status).toBe(200);
    expect((await call('GET', '/policy-libraries/company.none/revisions')).body.code).toBe('policy_part_not_found');
    expect((await call('GET', `${at}/revisions/9`)).body.code).toBe('policy_part_revision_not_found');
  });

  test.each([at, `${at}/revisions/1`, '/policies/a', '/policies/a/revisions/1'])(
    'and %s refuse ?revision=, which they do not have',
    async (path) => {
      const { call, library, policy } = await partClient(server);
      await library('company.roles', managers('ann'));
      await policy('a', isManager);
      expect((await call('GET', path)).status).toBe(200);
      const { status, body } = await call('GET', `${path}?revision=1`);
      expect([status, body.errors?.[0]?.pointer], JSON.stringify(body)).toEqual([400, '/query/revision']);
    },
  );
});

describe('a data document', () => {
  const at = '/policy-data/company%2Fmanagers';

  test('has its revisions listed, read and restored; support sees none of them', async () => {
    const { tenant, call, data } = await partClient(server);
    await data('company/managers', { ids: ['ann'] });
    await data('company/managers', { ids: ['bob'], 'free name': [null] });
    expect(revisions((await call('GET', `${at}/revisions`)).body)).toEqual(['2 put', '1 put']);
    expect((await call('GET', `${at}/revisions/2`)).body.value).toEqual({ ids: ['bob'], 'free name': [null] });
    expect((await call('POST', `${at}/revisions/1/restore`)).headers.etag).toBe('"3"');
    expect((await call('GET', at)).body).toMatchObject({ value: { ids: ['ann'] }, revision: 3 });
    expect((await call('POST', `${at}/revisions/1/restore`)).headers.etag).toBe('"3"'); // it is the same
    expect((await call('GET', `${at}?revision=1`)).body.errors[0].pointer).toBe('/query/revision');
    const support = await configClient(server, tenant, 'support');
    for (const path of [`${at}/revisions`, `${at}/revisions/1`]) expect((await support('GET', path)).status).toBe(403);
  });
});

describe('a logged decision', () => {
  async function decided() {
    const client = await partClient(server);
    const { tenant, data, library, policy, decide } = client;
    await data('company/managers', { ids: ['ann'] });
    await library('company.roles', reading);
    await policy('a', isManager);
    expect((await decide('a', 'ann')).outcome).toBe('allow');
    const admin = await configClient(server, tenant, 'security-admin');
    await server.services.authz.log.close();
    const [record] = (await admin('GET', '/decisions')).body.decisions;
    return { ...client, record, explain: () => admin('POST', `/decisions/${record.id}/explain`) };
  }

  test('has the revisions that made it, and is explained by them after others came', async () => {
    const { record, explain, data, library, call } = await decided();
    expect(record).toMatchObject({ data: { 'company/managers': 1 }, libraries: { 'company.roles': 1 } });
    await data('company/managers', { ids: [] });
    await library('company.roles', managers('bob'));
    const { status, body } = await explain();
    expect([status, body.differs], JSON.stringify(body)).toEqual([200, []]);
    expect(body.answer).toEqual({ outcome: 'allow' });
    expect(body.explain).toMatchObject({
      libraries: [{ package: 'company.roles', revision: 1 }],
      data: [{ path: 'company/managers', revision: 1 }],
    });
    expect(body.decision.libraries).toEqual({ 'company.roles': 1 });
    // Nor does it matter that they are not there any more.
    await call('DELETE', '/policies/a');
    await call('DELETE', '/policy-libraries/company.roles');
    await call('DELETE', '/policy-data/company%2Fmanagers');
    expect((await explain()).body.answer).toEqual({ outcome: 'allow' });
  });

  test.each([
    ['library', 'company.roles', 'Revision 1 of the library company.roles'],
    ['data', 'company/managers', 'Revision 1 of the data document company/managers'],
  ])('whose %s is no longer kept says so', async (kind, name, what) => {
    const { tenant, explain } = await decided();
    const gone = 'delete from accord.policy_part_revision where tenant = $1 and kind = $2 and name = $3';
    await asAdmin(server.db.adminUrl, gone, [tenant, kind, name]);
    const { body } = await explain();
    expect(body).toMatchObject({ status: 410, code: 'decision_parts_gone' });
    expect(body.detail).toBe(`${what} was used for this decision and is no longer kept.`);
  });

  test('that is explained when it is made records the same revisions', async () => {
    const { tenant, decide } = await decided();
    await decide('a', 'bob', '?explain=true');
    await server.services.authz.log.close();
    const admin = await configClient(server, tenant, 'security-admin');
    const { decisions } = (await admin('GET', '/decisions')).body;
    expect(decisions.map(({ libraries }: { libraries: object }) => libraries)).toEqual([
      { 'company.roles': 1 },
      { 'company.roles': 1 },
    ]);
  });
});
