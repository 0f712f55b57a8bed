/** What the source does when the API server, or the way to it, does not do what it should: one fault at a time, then at random. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../../server/core/limits.ts';
import { useCluster } from '../../helpers/cluster.ts';
import { randomFaults, seeded } from '../../helpers/fault-proxy.ts';
import { isLong } from '../../helpers/long.ts';
import { seed } from '../../helpers/seed.ts';
import { until } from '../../helpers/wait.ts';
import { type Following, merge, policyPath, proxied, put, ready, targetOf } from './harness.ts';

const cluster = await useCluster();
const list = '/apis/accord.dev/v1alpha1/policies';

const isPolicies = ({ path }: { path: string }) => path === list;
/** Once: the first request that it is about. */
function once<T>(fault: T, about: (asked: { path: string; isWatch: boolean; query: URLSearchParams }) => boolean) {
  let done = false;
  return (asked: { path: string; isWatch: boolean; query: URLSearchParams }) => {
    if (done || !about(asked)) return undefined;
    done = true;
    return fault;
  };
}

const relists = ({ observations }: Pick<Following, 'observations'>) =>
  observations.filter((one) => one.kind === 'relisted' && one.resource === 'policies.accord.dev').length;
const resumed = ({ observations }: Pick<Following, 'observations'>) =>
  observations.flatMap((one) =>
    one.kind === 'watch_resumed' && one.resource === 'policies.accord.dev' ? [one.reason] : [],
  );

/** The store says what a direct list says. */
async function expectEqual({ source }: Pick<Following, 'source'>) {
  const { items } = await cluster.call('GET', list);
  type Item = {
    metadata: { namespace: string; name: string; uid: string; generation: number; deletionTimestamp?: string };
  };
  const theirs = (items as Item[]).map(({ metadata: { namespace, name, uid, generation, deletionTimestamp } }) => ({
    ...{ key: `Policy/${namespace}/${name}`, uid, generation, deleting: deletionTimestamp !== undefined },
  }));
  const ours = [...source.keys('Policy')].map((key) => {
    const { uid, generation, deleting } = source.get(key)!;
    return { key, uid, generation, deleting };
  });
  const byKey = (a: { key: string }, b: { key: string }) => (a.key < b.key ? -1 : 1);
  expect(ours.sort(byKey)).toEqual(theirs.sort(byKey));
}

describe('a watch', () => {
  test('is resumed where it was after its connection broke, without a list', async () => {
    const namespace = await cluster.namespace();
    const one = await proxied(cluster);
    one.proxy.killAll();
    await put(cluster, namespace, 'after');
    await until('the policy from after', () => one.source.get(`Policy/${namespace}/after`));
    await until('a resumed watch', () => resumed(one).length > 0);
    expect(relists(one)).toBe(1);
    expect(one.source.complete('Policy')).toBe(true);
  });

  test('is resumed where it was after a longer absence too, but not where it is refused again and again', async () => {
    const namespace = await cluster.namespace();
    const one = await proxied(cluster);
    const watches = () => one.proxy.asked.filter((asked) => isPolicies(asked) && asked.isWatch).length;
    one.proxy.decide = () => ({ kind: 'kill' });
    one.proxy.killAll();
    await until('more than five tries', () => watches() > 5);
    expect(one.source.problems().map(({ place }) => place)).toContain('policies.accord.dev');
    one.proxy.decide = undefined;
    await put(cluster, namespace, 'after');
    await until(
      'the policy from after',
      () => one.source.get(`Policy/${namespace}/after`) && one.source.problems().length === 0,
    );
    expect(relists(one)).toBe(1);
    one.proxy.decide = (asked) => (isPolicies(asked) && asked.isWatch ? { kind: 'status', status: 504 } : undefined);
    one.proxy.killAll();
    await until('the second list', () => relists(one) === 2);
    expect(one.source.complete('Policy')).toBe(true);
  });

  test('drops half a frame and gets it again', async () => {
    const namespace = await cluster.namespace();
    const one = await proxied(cluster, {}, (proxy) => {
      proxy.decide = once({ kind: 'truncate', frames: 1 }, (asked) => isPolicies(asked) && asked.isWatch);
    });
    for (const name of ['a', 'b', 'c'])
      await put(cluster, namespace, name, { rego: `package p\n# ünïcödé 日本語\ndefault outcome := "${name}"\n` });
    for (const name of ['a', 'b', 'c']) await until(name, () => one.source.get(`Policy/${namespace}/${name}`));
    await until('a resumed watch', () => resumed(one).length === 1);
    expect(relists(one)).toBe(1);
  });

  test('reads frames in pieces of a few bytes, and hears what comes twice once', async () => {
    for (const fault of [{ kind: 'split', bytes: 1 } as const, { kind: 'duplicate' } as const]) {
      const namespace = await cluster.namespace();
      const one = await proxied(cluster, {}, (proxy) => {
        proxy.decide = (asked) => (isPolicies(asked) && asked.isWatch ? fault : undefined);
      });
      const rego = 'package p\n# ünïcödé 日本語 🦊\ndefault outcome := "allow"\n';
      for (const name of ['a', 'b', 'c', 'd']) await put(cluster, namespace, name, { rego });
      await cluster.call('DELETE', policyPath(namespace, 'a'));
      await put(cluster, namespace, 'e');
      await until('the last policy', () => one.source.get(`Policy/${namespace}/e`));
      expect(one.source.get(`Policy/${namespace}/a`)).toBeUndefined();
      const { checked } = one.source.get(`Policy/${namespace}/b`)!;
      expect(checked.ok && checked.manifest.spec).toMatchObject({ rego });
      expect(one.tellings(`Policy/${namespace}/b`)).toBe(1);
      expect(one.tellings(`Policy/${namespace}/a`)).toBe(2);
      expect(resumed(one)).toEqual([]);
    }
  });

  test('that has expired begins with a list, and what went meanwhile is told', async () => {
    for (const expired of [
      { kind: 'error', code: 410, frames: 0 } as const,
      { kind: 'status', status: 410 } as const,
    ]) {
      const namespace = await cluster.namespace();
      for (const name of ['goes', 'changes', 'stays']) await put(cluster, namespace, name);
      const one = await proxied(cluster);
      const told = one.told.length;
      // Away, while entities happen that it never hears of.
      one.proxy.decide = () => ({ kind: 'kill' });
      one.proxy.killAll();
      await cluster.call('DELETE', policyPath(namespace, 'goes'));
      await put(cluster, namespace, 'comes');
      await cluster.call(
        'PATCH',
        policyPath(namespace, 'changes'),
        { spec: { rego: 'package p\n\ndefault outcome := "deny"\n' } },
        merge,
      );
      one.proxy.decide = once(expired, (asked) => isPolicies(asked) && asked.isWatch);
      await until('the list anew', () => one.source.get(`Policy/${namespace}/comes`) && relists(one) === 2);
      const keys = new Set(
        one.told
          .slice(told)
          .flat()
          .filter((key) => key.startsWith(`Policy/${namespace}/`)),
      );
      expect([...keys].sort()).toEqual(['changes', 'comes', 'goes'].map((name) => `Policy/${namespace}/${name}`));
      await expectEqual(one);
    }
  });

  test('that is silent is given up, and so is one that was half open from the start', async () => {
    const namespace = await cluster.namespace();
    let left = 2;
    const one = await proxied(cluster, { idleMs: 150 }, (proxy) => {
      proxy.decide = (asked) =>
        isPolicies(asked) && asked.isWatch && left-- > 0 ? { kind: 'half-open', frames: 0 } : undefined;
    });
    await put(cluster, namespace, 'p');
    await until('the policy', () => one.source.get(`Policy/${namespace}/p`));
    expect(resumed(one)).toContain('silence');
    expect(one.source.problems()).toEqual([]);
  });

  test('waits as long as a busy server asks', async () => {
    const namespace = await cluster.namespace();
    await put(cluster, namespace, 'p');
    const one = await proxied(cluster, {}, (proxy) => {
      proxy.decide = once(
        { kind: 'status', status: 429, retryAfter: 1 },
        (asked) => isPolicies(asked) && asked.isWatch,
      );
    });
    expect(one.source.get(`Policy/${namespace}/p`)).toBeDefined();
    const throttled = one.observations.filter((each) => each.kind === 'kubernetes_throttled');
    expect(throttled).toEqual([{ kind: 'kubernetes_throttled', request: `GET ${list}`, waitMs: expect.any(Number) }]);
    expect(throttled[0]?.waitMs).toBeGreaterThanOrEqual(1000);
    expect(resumed(one)).toEqual([]);
  });
});

describe('a list', () => {
  test('that expires in the middle begins anew, and says nothing of what it has not seen', async () => {
    const namespace = await cluster.namespace();
    for (const name of ['a', 'b', 'c']) await put(cluster, namespace, name);
    let pages = 0;
    const one = await proxied(cluster, {}, (proxy) => {
      proxy.decide = (asked) => {
        if (!isPolicies(asked) || asked.isWatch) return undefined;
        // As if there were more pages than there are.
        asked.query.set('limit', '2');
        return asked.query.get('continue') !== null && pages++ === 0 ? { kind: 'status', status: 410 } : undefined;
      };
    });
    await until('all policies', () => one.source.complete('Policy'));
    expect(pages).toBeGreaterThan(1);
    await expectEqual(one);
  });

  test('that is broken off, refused or none at all is no empty list', async () => {
    const namespace = await cluster.namespace();
    await put(cluster, namespace, 'p');
    const key = `Policy/${namespace}/p`;
    for (const status of [403, 404, 500, 200]) {
      const one = await proxied(cluster);
      one.proxy.decide = (asked) => {
        if (!isPolicies(asked)) return undefined;
        return asked.isWatch ? { kind: 'status', status: 410 } : { kind: 'status', status };
      };
      one.proxy.killAll();
      await until('a problem', () => one.source.problems().length > 0);
      expect(one.source.get(key)).toBeDefined();
      expect(one.tellings(key)).toBe(1);
      expect(one.source.complete('Policy')).toBe(status !== 403 && status !== 404);
      expect(one.source.problems()[0]).toMatchObject({ place: 'policies.accord.dev' });
      one.proxy.decide = undefined;
      await until('no problem', () => one.source.problems().length === 0 && one.source.complete('Policy'));
      expect(one.tellings(key)).toBe(1);
    }
  });
});

test('the source outlives an API server that is away at its start and later', async () => {
  const namespace = await cluster.namespace();
  const one = await proxied(cluster, {}, (proxy) => {
    proxy.decide = () => ({ kind: 'kill' });
  });
  expect([...one.synced].sort()).toEqual(expect.arrayContaining(['Policy', 'Tenant', 'TrustedIssuer']));
  expect(one.source.complete('Policy')).toBe(false);
  expect(
    one.source
      .problems()
      .map(({ message }) => message)
      .join(),
  ).toMatch(/broke the connection/);
  await put(cluster, namespace, 'p');
  one.proxy.decide = undefined;
  await until('the policy', () => one.source.get(`Policy/${namespace}/p`));
  await until('no problem', () => one.source.problems().length === 0);
});

test('makes at most two connections a kind and four more, however much it asks (kubernetesRequestConnectionsMax)', async () => {
  const namespace = await cluster.namespace();
  await Promise.all(Array.from({ length: 60 }, (_, i) => put(cluster, namespace, `p${i}`)));
  const one = await proxied(cluster);
  const keys = [...one.source.keys('Policy')].filter((key) => key.startsWith(`Policy/${namespace}/`));
  const asked = one.proxy.asked.length;
  await Promise.all(
    keys.map(async (key) => {
      const object = one.source.get(key)!;
      await one.source.addFinalizer(object);
      await one.source.writeStatus(targetOf(object), ready('a'));
      await one.source.removeFinalizer(targetOf(object));
    }),
  );
  expect(one.proxy.asked.length - asked).toBe(180);
  const kinds = new Set(one.proxy.asked.filter(({ isWatch }) => isWatch).map(({ path }) => path)).size;
  expect(one.proxy.connections.made).toBeLessThanOrEqual(2 * kinds + 4);
  expect(one.proxy.connections.open).toBeLessThanOrEqual(kinds + limits.kubernetesRequestConnectionsMax);
  expect(limits.kubernetesStreamConnectionsMax).toBeGreaterThanOrEqual(2 * kinds);
});

describe('random faults', () => {
  const seeds = process.env.ACCORD_SEED ? [seed] : isLong ? [1, 2, seed] : [1];
  test.each(seeds)('end with the store that a direct list gives (seed %i, ACCORD_SEED)', async (seed) => {
    const random = seeded(seed);
    const namespace = await cluster.namespace();
    const one = await proxied(cluster, { idleMs: 400, random: seeded(seed + 1) }, (proxy) => {
      proxy.decide = randomFaults(random, 0.3);
    });
    const names = Array.from({ length: 12 }, (_, i) => `p${i}`);
    const writing = [];
    for (let step = 0; step < 150; step++) {
      const name = names[Math.floor(random() * names.length)] as string;
      const path = policyPath(namespace, name);
      const spec = { rego: `package p\n# ${step} ✓\ndefault outcome := "allow"\n` };
      const found = (await cluster.request('GET', path)).status === 200;
      if (!found) await put(cluster, namespace, name, spec);
      else if (random() < 0.4) await cluster.request('DELETE', path);
      else await cluster.request('PATCH', path, { spec }, merge);
      // As the operator does, whatever becomes of it.
      const object = one.source.get(`Policy/${namespace}/${name}`);
      if (object?.deleting) writing.push(one.source.removeFinalizer(targetOf(object)).catch(() => {}));
      else if (object && random() < 0.5) writing.push(one.source.addFinalizer(object).catch(() => {}));
      else if (object) writing.push(one.source.writeStatus(targetOf(object), ready(`${step}`)).catch(() => {}));
    }
    one.proxy.decide = undefined;
    await Promise.all(writing);
    await put(cluster, namespace, 'last');
    await until('the last policy', () => one.source.get(`Policy/${namespace}/last`));
    await until('no problem', () => one.source.problems().length === 0);
    await expectEqual(one);
    for (const key of one.source.keys('Policy')) {
      const object = one.source.get(key)!;
      if (object.namespace !== namespace || object.deleting) continue;
      await one.source.writeStatus(targetOf(object), ready('end', object.generation));
      const stored = await cluster.call('GET', policyPath(namespace, object.name));
      expect(stored.status).toEqual(ready('end', object.generation));
    }
  });
});
