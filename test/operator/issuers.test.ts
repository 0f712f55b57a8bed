/** What the operator says of TrustedIssuers: audiences that the tenant has, and keys that servers could read. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { ConditionPoll } from '../../operator/condition-poll.ts';
import { sql } from '../../server/core/db/sql.ts';
import { keysReadWithin } from '../../server/issuers/key-condition.ts';
import { recordFindings } from '../../server/issuers/store.ts';
import { conditionOf, createWorld, save, until } from './harness.ts';

const world = await createWorld();
beforeEach(() => world.empty());

const tenantYaml = (audiences: string) =>
  `apiVersion: accord.dev/v1alpha1\nkind: Tenant\nmetadata: {name: acme}\nspec: {displayName: Acme, audiences: ${audiences}}\n`;
const issuerYaml = (more: string) =>
  `apiVersion: accord.dev/v1alpha1\nkind: TrustedIssuer\nmetadata: {name: idp, namespace: acme}\n` +
  `spec: {tenantRef: {name: acme}, issuer: "https://idp.example", ${more}}\n`;
const key = 'TrustedIssuer/acme/idp';

describe('the audiences of a TrustedIssuer', () => {
  test("must be the tenant's: refused until the Tenant has them, and again when it has them no longer", async () => {
    const directory = await world.directory();
    await save(join(directory, 'tenant.yaml'), tenantYaml('[a]'));
    await save(join(directory, 'issuer.yaml'), issuerYaml('audiences: [a, b]'));
    const snapshots = await world.serve();
    const run = world.operate(directory);
    await run.operator.settled();
    expect(conditionOf(run, key, 'Accepted')).toMatchObject({
      ...{ status: 'False', reason: 'Invalid' },
      message: expect.stringContaining("/spec/audiences/1: b is not one of the tenant's audiences"),
    });
    expect(snapshots.get('acme')?.auth.issuers.size).toBe(0);

    await save(join(directory, 'tenant.yaml'), tenantYaml('[a, b]'));
    await until(() => conditionOf(run, key, 'Ready')?.status === 'True');
    expect(snapshots.get('acme')?.auth.issuers.get('https://idp.example')?.audiences).toEqual(['a', 'b']);

    await save(join(directory, 'tenant.yaml'), tenantYaml('[a]'));
    await until(() => conditionOf(run, key, 'Accepted')?.status === 'False');
    expect(conditionOf(run, key, 'Accepted')?.message).toContain("b is not one of the tenant's audiences");
    // The server reads the Tenant in its own time, which may be after the operator has looked at the issuer.
    await until(() => snapshots.get('acme')?.auth.issuers.get('https://idp.example')?.audiences?.join() === 'a');
  });
});

describe('the keys of a TrustedIssuer', () => {
  const found = (server: string, error: string | null, uri = 'https://idp.example/keys') =>
    world.database.system((tx) =>
      recordFindings(tx, server, [{ tenant: 'acme', issuer: 'https://idp.example', jwksUri: uri, error }]),
    );
  const server = async () => {
    const id = randomUUID();
    // Nobody says again that it lives, and what is asked of it may take longer than maxStalenessMs.
    await world.database.system((tx) =>
      tx.run(sql`insert into accord.server (id, seen_at) values (${id}, now() + interval '10 minutes')`),
    );
    // The next test would wait until it serves what is applied.
    onTestFinished(async () => {
      await world.database.system((tx) => tx.run(sql`delete from accord.server where id = ${id}`));
    });
    return id;
  };

  test('are said to be there, or why not, as servers find it, and Ready does not depend on them', async () => {
    const directory = await world.directory();
    await save(join(directory, 'tenant.yaml'), tenantYaml('[a]'));
    await save(join(directory, 'issuer.yaml'), issuerYaml('jwksUri: "https://idp.example/keys"'));
    await world.serve();
    const run = world.operate(directory, { maxStalenessMs: 200_000 });
    const keys = () => conditionOf(run, key, 'KeysAvailable');
    await run.operator.settled();
    expect(keys()).toMatchObject({ status: 'Unknown', reason: 'NotRead' });
    const [one, two] = [await server(), await server()];
    await found(one, null);
    run.operator.resync();
    await until(() => keys()?.status === 'True');
    await found(two, 'https://idp.example/keys: answered 500');
    run.operator.resync();
    await until(() => keys()?.status === 'False');
    expect(keys()).toMatchObject({
      reason: 'FetchFailed',
      message: expect.stringContaining('1 of 2 servers failed to fetch the keys'),
    });
    expect(keys()?.message).toContain('https://idp.example/keys: answered 500');
    expect(conditionOf(run, key)?.status).toBe('True');
    // What a server that is gone has found counts no longer.
    await world.database.system((tx) => tx.run(sql`delete from accord.server where id = ${two}`));
    run.operator.resync();
    await until(() => keys()?.status === 'True');
    await save(join(directory, 'issuer.yaml'), issuerYaml('jwksUri: "https://idp.example/others"'));
    await until(() => keys()?.status === 'Unknown');
  });

  test('are looked at only between start and stop', async () => {
    const waiting = new Set<() => void>();
    const told: string[] = [];
    const timers = {
      monotonic: () => 0,
      after(_: number, call: () => void) {
        waiting.add(call);
        return () => void waiting.delete(call);
      },
    };
    const keys = new ConditionPoll({
      ...{ kind: 'TrustedIssuer', pollMs: 5000, timers, observe: () => {} },
      read: (withinMs) => keysReadWithin({ database: world.database }, withinMs),
      changed: ({ name }) => told.push(name),
    });
    expect(waiting.size).toBe(0);
    const directory = await world.directory();
    await save(join(directory, 'tenant.yaml'), tenantYaml('[a]'));
    await save(join(directory, 'issuer.yaml'), issuerYaml('jwksUri: "https://idp.example/keys"'));
    await world.serve();
    await world.operate(directory).operator.settled();
    await found(await server(), null);
    keys.start();
    keys.start();
    expect(waiting.size).toBe(1);
    const [poll] = waiting;
    waiting.clear();
    poll?.();
    await until(() => waiting.size === 1);
    expect(told).toEqual(['idp']);
    keys.stop();
    expect(waiting.size).toBe(0);
    keys.start();
    expect(waiting.size).toBe(1);
    await keys.close();
    expect(waiting.size).toBe(0);
  });

  test('are looked at now and then without a resync', async () => {
    const directory = await world.directory();
    await save(join(directory, 'tenant.yaml'), tenantYaml('[a]'));
    await save(join(directory, 'issuer.yaml'), issuerYaml('jwksUri: "https://idp.example/keys"'));
    await world.serve();
    const run = world.operate(directory);
    await run.operator.settled();
    await found(await server(), 'https://idp.example/keys: answered 404');
    await until(() => conditionOf(run, key, 'KeysAvailable')?.message.includes('answered 404'));
  });
});
