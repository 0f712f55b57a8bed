/** Our histogram against prom-client's own, through the Registry that writes both. */
import { Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { Durations } from '../../server/core/durations.ts';

const bounds = [0.0001, 0.001, 0.5, 2.5];
const seconds = [0, 0.00005, 0.0001, 0.00010001, 0.001, 0.3, 0.5, 2.5, 2.6, 60];

test('what is scraped is what prom-client would have written, before and after observations', async () => {
  const [ours, theirs] = [new Registry(), new Registry()];
  const durations = Durations.register(ours, { name: 'x_seconds', help: 'Time of x.', boundsSeconds: bounds });
  const histogram = new Histogram({ name: 'x_seconds', help: 'Time of x.', buckets: bounds, registers: [theirs] });
  expect(await ours.metrics()).toBe(await theirs.metrics());
  for (const one of seconds) {
    durations.add(one);
    histogram.observe(one);
  }
  expect(await ours.metrics()).toBe(await theirs.metrics());
  expect(await ours.metrics()).toContain(`x_seconds_count ${seconds.length}`);
  expect(await ours.getMetricsAsJSON()).toMatchObject([{ name: 'x_seconds', type: 'histogram' }]);
});
