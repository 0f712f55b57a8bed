/** What a room cannot do now (429, 503) is said on the manifest as Unknown, and done later; it keeps nobody else waiting. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { retryOf } from '../../operator/reasons.ts';
import { systemClock } from '../../server/core/clock.ts';
import type { Database } from '../../server/core/db/database.ts';
import { limits } from '../../server/core/limits.ts';
import { Problem } from '../../server/core/problems.ts';
import { tenantWriter } from '../../server/writes/index.ts';
import { conditionOf, createWorld, operatorServices, save, until } from './harness.ts';
import { issuerYaml, policyYaml, tenantYaml } from './manifests.ts';

const world = await createWorld();

const busy = (status: number) =>
  new Problem('compiler_busy', { status, title: 'Compiler busy', when: 'It is busy.' }, {});

/** The services, of which one room's writes fail while `left` says so; everything else is done. */
function failing(room: 'policies' | 'issuers' | 'tenants', status: number) {
  const fault = { left: Number.POSITIVE_INFINITY, met: 0 };
  const { database } = world;
  const tenant = (async (...args: Parameters<Database['tenant']>) => {
    if (fault.met >= fault.left) return database.tenant(...args);
    fault.met++;
    throw busy(status);
  }) as Database['tenant'];
  const failingDatabase = new Proxy(database, {
    get: (target, name) => {
      const found: unknown = name === 'tenant' ? tenant : Reflect.get(target, name, target);
      return typeof found === 'function' ? found.bind(target) : found;
    },
  });
  const replaced = { ...world.services[room], database: failingDatabase };
  const writing = { database: failingDatabase, clock: systemClock };
  const ofRoom = room === 'tenants' ? { ...replaced, write: tenantWriter(writing) } : replaced;
  const services = operatorServices({ ...world.services, [room]: ofRoom });
  return { services, fault };
}

describe('a manifest whose room is busy', () => {
  test.each([
    ['policies', 503, 'Policy/default/one', policyYaml('busy-p', 'one')],
    ['policies', 429, 'Policy/default/two', policyYaml('busy-r', 'two')],
    ['issuers', 503, 'TrustedIssuer/default/idp', issuerYaml('busy-i', 'idp')],
    ['tenants', 503, 'Tenant//busy-t', ''],
  ] as const)('(%s, %i) says that it is tried again, and is done then', async (room, status, key, text) => {
    const tenant = /name: (busy-\w)/.exec(text)?.[1] ?? 'busy-t';
    const directory = await world.directory();
    await save(join(directory, 'all.yaml'), [tenantYaml(tenant), text].join('---\n'));
    await world.serve();
    const { services, fault } = failing(room, status);
    const run = world.operate(directory, { services });
    for (const type of ['Accepted', 'Ready']) {
      expect(await until(() => conditionOf(run, key, type))).toMatchObject({
        status: 'Unknown',
        reason: 'Retrying',
        message: expect.stringMatching(/^It is busy\. \(compiler_busy\) The operator retries/),
      });
    }
    fault.left = 0;
    await until(() => conditionOf(run, key)?.status === 'True');
  });

  test('goes on serving what was accepted before', async () => {
    const directory = await world.directory();
    await save(join(directory, 'all.yaml'), [tenantYaml('before'), policyYaml('before', 'read')].join('---\n'));
    await world.serve();
    const { services, fault } = failing('policies', 503);
    fault.left = 0;
    const run = world.operate(directory, { services });
    await until(() => conditionOf(run, 'Policy/default/read')?.status === 'True');
    fault.left = Number.POSITIVE_INFINITY;
    const changed = [tenantYaml('before'), policyYaml('before', 'read', { answer: 'deny' })];
    await save(join(directory, 'all.yaml'), changed.join('---\n'));
    await until(() => conditionOf(run, 'Policy/default/read')?.reason === 'Retrying');
    expect(conditionOf(run, 'Policy/default/read', 'Programmed')?.status).toBe('True');
    const status = run.changes.findLast(({ target }) => target.key === 'Policy/default/read')?.status;
    expect([status?.observedGeneration, status?.activeGeneration]).toEqual([2, 1]);
    fault.left = 0;
    await until(() => conditionOf(run, 'Policy/default/read')?.status === 'True');
  });

  test('that is gone says so too, and goes later', async () => {
    const directory = await world.directory();
    await save(join(directory, 't.yaml'), tenantYaml('leaving'));
    await save(join(directory, 'p.yaml'), policyYaml('leaving', 'leaving-read'));
    await world.serve();
    const { services, fault } = failing('policies', 503);
    fault.left = 0;
    const run = world.operate(directory, { services });
    await run.operator.settled();
    fault.left = Number.POSITIVE_INFINITY;
    await save(join(directory, 'p.yaml'), '# nothing\n');
    await until(() => conditionOf(run, 'Policy/default/leaving-read')?.reason === 'Retrying');
    fault.left = 0;
    await until(async () => (await world.rooms.findPolicy('leaving', 'leaving-read')) === undefined);
  });

  test(`keeps the start waiting for ${limits.reconcileFirstTriesMax} tries (reconcileFirstTriesMax), and no longer`, async () => {
    const directory = await world.directory();
    await save(join(directory, 'all.yaml'), [tenantYaml('stuck'), policyYaml('stuck', 'stuck-read')].join('---\n'));
    await world.serve();
    const { services, fault } = failing('policies', 503);
    const run = world.operate(directory, { services });
    const { resources } = await run.operator.settled();
    expect(fault.met).toBe(limits.reconcileFirstTriesMax);
    expect(resources.map(({ target }) => target.name)).toEqual(expect.arrayContaining(['stuck', 'stuck-read']));
  });
});

test('a refusal is final: it is not tried again', () => {
  expect(retryOf(busy(400))).toBeUndefined();
  expect(retryOf(new Error('the database is away'))).toBeUndefined();
});
