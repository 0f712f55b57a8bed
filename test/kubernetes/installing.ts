/** How the CustomResourceDefinitions are installed without the chart: `kubectl apply`, in both of its ways. */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { Cluster } from '../helpers/cluster.ts';

export const folder = fileURLToPath(new URL('../../crds', import.meta.url));
export const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));

/** @param cluster one that has none of them */
export async function expectInstalls(cluster: Cluster, side: 'client' | 'server'): Promise<void> {
  const apply = () => cluster.kubectl(['apply', `--server-side=${side === 'server'}`, '-f', folder]);
  expect(await apply()).toMatch(side === 'server' ? /serverside-applied\n$/ : /created\n$/);
  await cluster.kubectl(['wait', '--for=condition=Established', '--timeout=60s', '-f', folder]);
  const shown = await cluster.kubectl(['get', '-f', folder, '-o', 'json']);
  const { items } = JSON.parse(shown) as {
    items: { status: { conditions: { type: string; status: string }[] } }[];
  };
  expect(items).toHaveLength(files.length);
  for (const { status } of items) {
    const states = Object.fromEntries(status.conditions.map((one) => [one.type, one.status]));
    expect(states).toEqual({ NamesAccepted: 'True', Established: 'True' }); // and not NonStructuralSchema
  }
  await apply();
  expect(await cluster.kubectl(['explain', 'policies.spec'])).toMatch(/FIELDS:/);
}
