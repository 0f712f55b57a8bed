/** How far users have come to the newer versions of a definition, and who is left. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { WallClock } from '../invitations/inviting.ts';
import { membersOf } from '../members/roles.ts';
import { consenting, day, item } from './consenting.ts';

const clock = new WallClock();
const server = await createTestServer({}, undefined, clock);
const consents = await consenting(server, clock);
await consents.define('terms', { '1 1.0 en': 0, '1 1.0 nl': 0, '2 2.0 en': 2 * day });
clock.advance(day);
for (const id of ['ann', 'bob', 'cas']) await consents.user(id)('POST', '', item('terms', '1 1.0 en'));
await consents.user('dee')('POST', '', item('terms', '1 1.0 nl'));
await consents.end('terms', '1', { startDate: 2 * day, endDate: 90 * day, gracePeriod: 'P30D' });
clock.advance(3 * day);
await consents.user('ann')('GET', '/active?name=terms&language=en');
await consents.user('ann')('POST', '', item('terms', '2 2.0 en'));
await consents.user('bob')('GET', '/active?name=terms&language=en');
const path = '/consent-definitions/terms';
const call = async (rest: string) => {
  const members = await membersOf(server, consents.tenant);
  return members['config-editor']('GET', `${path}${rest}`);
};

describe('adoption', () => {
  test('counts users by version and language, and says when the grace of those who were invited ends', async () => {
    const { status, body } = await call('/adoption');
    expect(status).toBe(200);
    const [one, two] = ['1', '2'].map((version) =>
      body.versions.find((each: { version: string }) => each.version === version),
    );
    expect(one).toMatchObject({
      users: [
        { language: 'en', count: 3 },
        { language: 'nl', count: 1 },
      ],
      invited: 2,
      endOfLife: { startDate: expect.any(String) },
      graceEnds: { first: expect.any(String), last: expect.any(String) },
    });
    expect(two).toMatchObject({ active: true, users: [{ language: 'en', count: 1 }], invited: 0 });
  });

  test('lists who is left, page by page, and whose grace runs', async () => {
    const first = await call('/versions/1/remaining?limit=2');
    expect(first.body.users).toMatchObject([
      { userId: 'bob', invitedAt: expect.any(String), gracePeriodEnds: expect.any(String) },
      { userId: 'cas', document: { version: '1.0', language: 'en' } },
    ]);
    const second = await call(`/versions/1/remaining?limit=2&cursor=${first.body.cursor}`);
    expect(second.body).toMatchObject({ users: [{ userId: 'dee' }] });
    expect(second.body.cursor).toBeUndefined();
    expect((await call('/versions/2/remaining')).body.users).toMatchObject([{ userId: 'ann' }]);
  });

  test('looks at so many consents for a page, and goes on behind them', async () => {
    await consents.define('many', { '1 1.0 en': 0, '2 2.0 en': 1 });
    const give = (version: string, from: number, to: number) =>
      asAdmin(
        server.db.adminUrl,
        `insert into accord.user_consent (tenant, user_id, definition, version, document, language, given_at)
         select $1, 'u' || n, 'many', $2, $2 || '.0', 'en', now() from generate_series($3::int, $4::int) n`,
        [consents.tenant, version, from, to],
      );
    await give('1', 1, limits.consentsLookedAtMax);
    await give('2', 1, limits.consentsLookedAtMax);
    await give('1', limits.consentsLookedAtMax + 1, limits.consentsLookedAtMax + 1);
    const many = async (rest = '') => {
      const members = await membersOf(server, consents.tenant);
      return (await members['security-admin']('GET', `/consent-definitions/many/versions/1/remaining${rest}`)).body;
    };
    const first = await many();
    expect([first.users, typeof first.cursor]).toEqual([[], 'string']);
    const second = await many(`?cursor=${first.cursor}`);
    expect(second.users.map((one: { userId: string }) => one.userId)).toEqual([`u${limits.consentsLookedAtMax + 1}`]);
  });

  test('of what there is not is refused, and only for those who read records', async () => {
    expect((await call('/versions/9/remaining')).body.code).toBe('consent_version_not_found');
    expect((await call('/versions/1/remaining?cursor=x')).body.code).toBe('invalid_request');
    const members = await membersOf(server, consents.tenant);
    const none = await members['security-admin']('GET', '/consent-definitions/none/adoption');
    expect(none.body.code).toBe('consent_definition_not_found');
    for (const rest of ['/adoption', '/versions/1/remaining'])
      await members.refuses('GET', `${path}${rest}`, ['security-admin', 'config-editor']);
  });
});
