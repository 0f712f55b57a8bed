/** Reading many: the list of policies, its pages and its search, and the history of one name. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { createTestServer } from '../helpers/server.ts';
import { configClient, graphSaying, says } from './config-client.ts';

const server = await createTestServer();

describe('the list', async () => {
  const tenant = await server.tenant();
  const call = await configClient(server, tenant);
  const names = ['a:read', 'b:read', 'b:write', 'c:read', 'd:read'];
  for (const name of names) await call('PUT', `/policies/${name}`, { body: { rego: says('allow', `about ${name}`) } });

  test('is complete without limit, in order', async () => {
    const { body, headers } = await call('GET', '/policies');
    expect(body).toEqual({ resources: names, links: { self: `/tenants/${tenant}/policies` } });
    expect(headers.link).toBeUndefined();
  });

  test('pages by limit and cursor, and by the Link header alone', async () => {
    const seen: string[] = [];
    let next: string | undefined = '/policies?limit=2';
    for (let page = 0; next !== undefined; page++) {
      const { body, headers } = await call('GET', next);
      seen.push(...body.resources);
      const link = /^<(.+)>; rel="next"$/.exec(String(headers.link ?? ''))?.[1];
      expect(body.cursor === undefined).toBe(link === undefined);
      if (link)
        expect([link, new URLSearchParams(link.split('?')[1]).get('cursor')]).toEqual([body.links.next, body.cursor]);
      next = link?.slice(`/tenants/${tenant}`.length);
      expect(page).toBeLessThan(3);
    }
    expect(seen).toEqual(names);
  });

  test('has no cursor when the page is exactly full', async () => {
    expect((await call('GET', `/policies?limit=${names.length}`)).body.cursor).toBeUndefined();
  });

  test('searches names and content, without regard to case, and pages what it finds', async () => {
    expect((await call('GET', '/policies?q=READ')).body.resources).toEqual(
      names.filter((name) => name.endsWith('read')),
    );
    expect((await call('GET', '/policies?q=About%20b%3A')).body.resources).toEqual(['b:read', 'b:write']);
    expect((await call('GET', '/policies?q=nowhere')).body.resources).toEqual([]);
    expect((await call('GET', '/policies?q=%25')).body.resources).toEqual([]); // no pattern
    const first = await call('GET', '/policies?q=read&limit=3');
    expect(first.body.resources).toEqual(['a:read', 'b:read', 'c:read']);
    expect((await call('GET', first.body.links.next.slice(`/tenants/${tenant}`.length))).body.resources).toEqual([
      'd:read',
    ]);
  });

  test.each([
    ['limit=0', 400],
    ['limit=1', 200],
    [`limit=${limits.pageItemsMax}`, 200],
    [`limit=${limits.pageItemsMax + 1}`, 400],
    ['limit=x', 400],
    ['limit=', 400],
    ['limit=1&limit=2', 400],
    ['cursor=', 400],
    ['cursor=zzz', 400],
    ['q=', 400],
    [`q=${'x'.repeat(200)}`, 200],
    [`q=${'x'.repeat(201)}`, 400],
    ['q=%00', 400],
    ['unknown=1', 400],
  ])('?%s is %i', async (query, status) => {
    const answer = await call('GET', `/policies?${query}`);
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.body.detail).toMatch(/limit|cursor|\/query\/q|unknown|NUL|malformed/);
  });

  test('takes no cursor of another list, nor one that somebody made', async () => {
    const { body } = await call('GET', '/policies/a%3Aread/revisions?limit=1');
    expect(body.cursor).toBeUndefined();
    const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    for (const value of [['revisions', '1'], ['policies', 1], ['policies', '\0'], {}, 'policies']) {
      const answer = await call('GET', `/policies?limit=1&cursor=${forged(value)}`);
      expect(answer.body.errors?.[0]?.pointer).toBe('/query/cursor');
    }
  });
});

describe('the history', async () => {
  const tenant = await server.tenant();
  const call = await configClient(server, tenant);
  const path = '/policies/h%3Aread';
  const sources = [says('allow'), says('deny')];
  for (const rego of sources) await call('PUT', path, { body: { rego } });
  await call('DELETE', path);
  await call('PUT', path, { body: { graph: graphSaying('allow') } });

  test('lists newest first, goes on over a deletion, and says who did what when', async () => {
    const { body } = await call('GET', `${path}/revisions`);
    const told = body.revisions.map((one: { revision: number; action: string }) => [one.revision, one.action]);
    expect(told).toEqual([
      [4, 'put'],
      [3, 'delete'],
      [2, 'put'],
      [1, 'put'],
    ]);
    expect(body.revisions[0]).toEqual({
      revision: 4,
      action: 'put',
      updatedAt: expect.stringMatching(/Z$/),
      updatedBy: expect.stringMatching(/^member:/),
    });
  });

  test('pages', async () => {
    const first = await call('GET', `${path}/revisions?limit=3`);
    const second = await call('GET', `${path}/revisions?limit=3&cursor=${first.body.cursor}`);
    expect(second.body).toMatchObject({ revisions: [{ revision: 1 }] });
    expect(second.body.cursor).toBeUndefined();
    const forged = Buffer.from('["revisions","1 or 1"]').toString('base64url');
    expect((await call('GET', `${path}/revisions?cursor=${forged}`)).status).toBe(400);
  });

  test('the support desk sees neither who wrote it nor who wrote the policy', async () => {
    const support = await configClient(server, tenant, 'support');
    const { revisions } = (await support('GET', `${path}/revisions`)).body;
    expect(new Set(revisions.map((one: { updatedBy: string }) => one.updatedBy))).toEqual(new Set(['member:***']));
    expect((await support('GET', `${path}/revisions/1`)).body.updatedBy).toBe('member:***');
    expect((await support('GET', path)).body.updatedBy).toBe('member:***');
  });

  test('has the sources of each', async () => {
    expect((await call('GET', `${path}/revisions/1`)).body).toMatchObject({ revision: 1, rego: sources[0] });
    expect((await call('GET', `${path}/revisions/3`)).body).toEqual({
      revision: 3,
      action: 'delete',
      updatedAt: expect.any(String),
      updatedBy: expect.any(String),
    });
    expect((await call('GET', `${path}/revisions/4`)).body.graph).toEqual(graphSaying('allow'));
  });

  test.each(['0', '-1', '1.5', 'x', '01', '99999999999999999999'])('revision %s is 400', async (number) => {
    expect((await call('GET', `${path}/revisions/${number}`)).status).toBe(400);
  });

  test('of what never was is 404', async () => {
    expect((await call('GET', `${path}/revisions/77`)).body.code).toBe('policy_revision_not_found');
    expect((await call('GET', '/policies/never/revisions')).body.code).toBe('policy_not_found');
    expect((await call('GET', '/policies/never/revisions/1')).status).toBe(404);
    expect((await call('POST', '/policies/never/revisions/1/restore')).status).toBe(404);
  });

  test('a restore is the newest revision, with the source of then; of a deletion there is nothing to restore', async () => {
    const stale = await call('POST', `${path}/revisions/1/restore`, { headers: { 'if-match': '"3"' } });
    expect(stale.status).toBe(412);
    const restored = await call('POST', `${path}/revisions/1/restore`, { headers: { 'if-match': '"4"' } });
    expect([restored.status, restored.body, restored.headers.etag]).toEqual([200, {}, '"5"']);
    const { body } = await call('GET', path);
    expect([body.rego, body.graph, body.revision]).toEqual([sources[0], undefined, 5]);
    expect((await call('GET', `${path}/revisions`)).body.revisions[0]).toMatchObject({
      revision: 5,
      action: 'restore',
    });
    expect((await call('POST', `${path}/revisions/1/restore`)).headers.etag).toBe('"5"'); // it is what it is already
    expect((await call('POST', `${path}/revisions/3/restore`)).body.code).toBe('policy_revision_not_found');
    await call('DELETE', path);
    expect((await call('POST', `${path}/revisions/4/restore`)).headers.etag).toBe('"7"');
  });

  test(`keeps ${limits.policyRevisionsKept}`, async () => {
    const kept = '/policies/h%3Akept';
    const [odd, even] = [says('allow'), says('deny')];
    for (let n = 1; n <= limits.policyRevisionsKept; n++)
      await call('PUT', kept, { body: { rego: n % 2 ? odd : even } });
    expect((await call('GET', `${kept}/revisions/1`)).status).toBe(200);
    await call('PUT', kept, { body: { rego: odd } });
    expect((await call('GET', `${kept}/revisions/1`)).status).toBe(404);
    expect((await call('GET', `${kept}/revisions/2`)).status).toBe(200);
    const { body } = await call('GET', `${kept}/revisions?limit=200`);
    expect(body.revisions).toHaveLength(limits.policyRevisionsKept);
  });
});
