/**
 * No wake-up is lost: random lives of two tenants on a source whose calls fail before or after they were done, and which
 * tells late. When all is quiet, looking at everything again must change nothing, and the safety net must not have been
 * needed. ACCORD_SOAK_LIVES=1000 runs more lives; ACCORD_SEED repeats one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { seeded } from '../helpers/fault-proxy.ts';
import { drawn } from '../helpers/long.ts';
import { seed } from '../helpers/seed.ts';
import { until } from '../helpers/wait.ts';
import { createWorld } from './harness.ts';
import { issuerYaml, policyYaml, tenantYaml } from './manifests.ts';
import { UnreliableSource } from './unreliable-source.ts';

const world = await createWorld();
const lives = Number(process.env.ACCORD_SOAK_LIVES ?? (process.env.ACCORD_SEED === undefined ? drawn(8, 50) : 1));

type Pick = <T>(...of: readonly T[]) => T;

const type = (kind: string, tenant: string, name: string, spec: string) =>
  `apiVersion: accord.dev/v1alpha1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec:\n  tenantRef: {name: ${tenant}}\n  ${spec}\n`;

/** A manifest of a tenant's object; several names claim one object, and types refer to one another. */
function childOf(tenant: string, pick: Pick): string {
  const name = `m${pick(1, 2, 3, 4)}`;
  const policy = pick('Enforce', 'Enforce', 'Enforce', 'CreateOnly', 'Observe');
  const more = `managementPolicy: ${policy}\n  adoptionPolicy: ${pick('Refuse', 'Adopt')}`;
  const made = pick('ActorType', 'ActorType', 'RelationshipType', 'RelationshipType', 'TrustedIssuer', 'Policy');
  if (made === 'ActorType') return type(made, tenant, name, `name: ${pick('user', 'staff')}\n  ${more}`);
  if (made === 'RelationshipType') {
    const [from, to] = [pick('user', 'staff'), pick('user', 'staff')];
    return type(made, tenant, name, `from: ${from}\n  name: knows\n  to: ${to}\n  ${more}`);
  }
  if (made === 'TrustedIssuer') return issuerYaml(tenant, pick('idp', 'other'), more);
  const source = pick(undefined, undefined, 'package p\n\noutcome := (');
  return policyYaml(tenant, name, { object: pick('read', 'write'), ...(source && { source }), more });
}

function tenantOf(tenant: string, pick: Pick): string {
  const names = pick(undefined, `[${tenant}]`, `[${tenant}, other]`, `[${tenant}, other]`);
  return tenantYaml(tenant, names === undefined ? '' : `allowedNamespaces: {names: ${names}}`);
}

/** One thing that somebody does. */
function act(source: UnreliableSource, pick: Pick): void {
  const tenant = pick('one', 'two');
  const keys = [...source.objects()].map(({ key }) => key);
  const some = keys.length === 0 ? undefined : pick(...keys);
  const what = pick('child', 'child', 'child', 'child', 'tenant', 'delete', 'delete', 'vanish', 'replace', 'label');
  try {
    if (what === 'child') source.apply(childOf(tenant, pick), { namespace: pick(tenant, tenant, 'other') });
    else if (what === 'tenant') source.apply(tenantOf(tenant, pick));
    else if (what === 'label') source.label('other', { team: pick('a', 'b') });
    else if (what === 'delete' && some) source.delete(some);
    else if (what === 'vanish' && some) source.vanish(some);
    else if (what === 'replace' && some && !some.startsWith('Tenant')) {
      const namespace = some.split('/')[1] as string;
      source.vanish(some);
      source.apply(childOf(tenant, pick), { namespace });
    }
  } catch (error) {
    // The API server takes no changes of what is being deleted that matter here.
    if (!/is being deleted/.test((error as Error).message)) throw error;
  }
}

/** What people are told, without when and in which words: what CreateOnly has made is found the next time. */
function statusesOf(source: UnreliableSource) {
  return [...source.objects()]
    .map(({ key, deleting }) => {
      const conditions = source.status(key)?.conditions ?? [];
      return [
        key,
        deleting,
        conditions.map((one) => `${one.type} ${one.status} ${one.reason} ${one.observedGeneration}`),
      ] as const;
    })
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

async function live(seed: number): Promise<void> {
  const random = seeded(seed);
  const pick: Pick = (...of) => of[Math.floor(random() * of.length)] as never;
  await world.empty();
  const source = new UnreliableSource(random, 0.4);
  const { operator, close } = world.operateOn(source, { retry: { minMs: 4, maxMs: 40 } });
  const before = world.observations.length;
  for (let step = 0; step < 30; step++) {
    act(source, pick);
    if (random() < 0.5) await sleep(random() * 12); // the next change meets the operator at another moment of its work
  }
  await source.settle();
  // A type that is in use is tried again for as long as it is: nobody tells of what uses it.
  const isBusy = ({ for: what }: { for: string }) =>
    /^(its reconcile|a retry|every live)/.test(what) && !what.includes('still used by');
  const isCalm = () => operator.idle() && !operator.waiting().some(isBusy);
  const quiet = () =>
    until(`quiet after the life of seed ${seed}`, async () => {
      await source.settle();
      return isCalm();
    }).catch((error: Error) => {
      throw new Error(JSON.stringify([operator.waiting(), statusesOf(source)], null, 1), { cause: error });
    });
  await quiet();
  const found = statusesOf(source);
  const waiting = operator.waiting();
  for (let i = 0; i < 3; i++) {
    operator.resync();
    await quiet();
  }
  expect(statusesOf(source), `seed ${seed}: a resync found what nobody told; ${JSON.stringify(waiting)}`).toEqual(
    found,
  );
  const missed = world.observations.slice(before).filter(({ kind }) => kind === 'wakeup_missed');
  expect(missed, `seed ${seed}`).toEqual([]);
  await close();
  world.observations.length = 0;
}

const timeout = 120_000 + lives * 2000;
test(`no wake-up is lost in ${lives} lives (seed ${seed}, ACCORD_SEED)`, { timeout }, async () => {
  await world.serve();
  for (let life = 0; life < lives; life++) await live(seed + life);
});
