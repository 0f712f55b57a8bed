/** How many explanations of one tenant hold the documents of its policies at once. */
import { expect, test } from 'vitest';
import { Explainer } from '../../server/authz/explain.ts';
import { limits } from '../../server/core/limits.ts';

test('explainedPerTenantMax are at work, isolatedPatientPerTenantMax wait, and the next one is refused', async () => {
  const explainer = new Explainer({} as never); // nothing is explained here
  const { explainedPerTenantMax: working, isolatedPatientPerTenantMax: waiting } = limits;
  const end = Promise.withResolvers<void>();
  let begun = 0;
  const work = () => {
    begun += 1;
    return end.promise;
  };
  const all = Array.from({ length: working + waiting }, () => explainer.inTurn('a', work));
  await Promise.resolve();
  expect(begun).toBe(working);
  await expect(explainer.inTurn('a', work)).rejects.toMatchObject({ code: 'evaluator_busy' });
  expect(await explainer.inTurn('b', async () => 'another tenant')).toBe('another tenant');
  end.resolve();
  await Promise.all(all);
  expect(begun).toBe(working + waiting);
});
