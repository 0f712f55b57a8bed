/** What the operator says of TrustedIssuers: audiences that the tenant has, and keys that servers could read. */
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
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
    expect(snapshots.get('acme')?.auth.issuers.get('https://idp.example')?.audiences).toEqual(['a']);
  });
});
