import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { sql } from '../../server/core/db/sql.ts';
import { conditionOf, createWorld, policyYaml, save, tenantYaml, until } from './harness.ts';

const world = await createWorld();

async function policyNames(tenant: string): Promise<string[]> {
  const rows = await world.database.tenant(tenant, (tx) =>
    tx.many(
      Type.Object({ name: Type.String() }),
      sql`select name from accord.policy where tenant = ${tenant} order by name`,
    ),
  );
  return rows.map((row) => row.name);
}

describe('a directory of manifests', () => {
  test('is reconciled, served, and Ready', async () => {
    const directory = await world.directory();
    const snapshots = await world.serve();
    await save(join(directory, 'b/policy.yaml'), policyYaml('first', 'car-read', { object: 'car:read' }));
    await save(join(directory, 'tenant.yaml'), tenantYaml('first'));
    const run = world.operate(directory);
    const { resources, problems } = await run.operator.settled();
    expect(problems).toEqual([]);
    expect(
      resources.map(({ target, status }) => [
        target.key,
        status?.conditions?.map((one) => `${one.type}=${one.status}`),
      ]),
    ).toEqual(
      expect.arrayContaining([
        ['Tenant//first', ['Accepted=True', 'Programmed=True', 'Ready=True']],
        ['Policy/default/car-read', ['Accepted=True', 'Programmed=True', 'Ready=True']],
      ]),
    );
    expect(snapshots.get('first')?.policies.has('car:read')).toBe(true);
  });

  test('an edit, a mistake and its repair: the last good version keeps serving', async () => {
    const directory = await world.directory();
    const snapshots = await world.serve();
    const file = join(directory, 'all.yaml');
    await save(file, `${tenantYaml('edited')}---\n${policyYaml('edited', 'doc', { answer: 'allow' })}`);
    const run = world.operate(directory);
    await run.operator.settled();
    const before = snapshots.get('edited')?.policies.get('doc')?.artifact;
    await save(
      file,
      `${tenantYaml('edited')}---\n${policyYaml('edited', 'doc', { source: 'package p\n\noutcome := nonsense(\n' })}`,
    );
    const refused = await until(() => {
      const ready = conditionOf(run, 'Policy/default/doc');
      return ready?.reason === 'CompileError' ? ready : undefined;
    });
    expect(refused.message).toMatch(/^all\.yaml:17: \/spec\/rego: line \d+, column \d+: /);
    expect(refused.message).toContain('Generation 1 keeps serving.');
    expect(snapshots.get('edited')?.policies.get('doc')?.artifact).toBe(before);
    await save(file, `${tenantYaml('edited')}---\n${policyYaml('edited', 'doc', { answer: 'deny' })}`);
    await until(() => conditionOf(run, 'Policy/default/doc')?.status === 'True');
    expect(snapshots.get('edited')?.policies.get('doc')?.artifact).not.toBe(before);
  });
});
