import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createWorld, save, until } from '/work/main/test/operator/harness.ts';
import { policyYaml, tenantYaml } from '/work/main/test/operator/manifests.ts';
const world = await createWorld();
test('bench', async () => {
  const directory = await world.directory();
  const snapshots = await world.serve();
  for (let t = 0; t < 10; t++) {
    await save(join(directory, `t${t}/tenant.yaml`), tenantYaml(`t${t}`));
    for (let i = 0; i < 100; i++) await save(join(directory, `t${t}/p${i}.yaml`), policyYaml(`t${t}`, `t${t}-p${i}`, { object: `p${i}` }));
  }
  let at = performance.now();
  const run = world.operate(directory, {});
  await run.operator.settled();
  console.log('1010 manifests (one compile each tenant): all Ready ms', performance.now() - at);
  at = performance.now(); run.operator.resync(); await until(() => run.operator.idle());
  console.log('resync ms', performance.now() - at);
  const lat: number[] = [];
  for (let k = 0; k < 20; k++) {
    const before = snapshots.get('t3')?.policies.get('p7')?.artifact;
    at = performance.now();
    await save(join(directory, 't3/p7.yaml'), policyYaml('t3', 't3-p7', { object: 'p7', answer: `a${k}` }));
    await until(() => snapshots.get('t3')?.policies.get('p7')?.artifact !== before);
    lat.push(performance.now() - at);
  }
  lat.sort((a, b) => a - b);
  console.log('edit -> served (debounce 10) ms p50', lat[10], 'max', lat[19]);
  await run.close(); at = performance.now();
  const again = world.operate(directory); await again.operator.settled();
  console.log('second start ms', performance.now() - at, process.memoryUsage().rss / 1e6);
}, 120_000);
