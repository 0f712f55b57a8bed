/** docs/metrics.md, the alerts and the dashboard name the metrics that there are. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createOperatorMetrics } from '../../operator/index.ts';
import { createTestServer } from '../helpers/server.ts';

const root = join(import.meta.dirname, '../..');
const text = (file: string) => readFileSync(join(root, file), 'utf8');
const page = text('docs/metrics.md');
const server = await createTestServer();
const operator = createOperatorMetrics();

type Described = { name: string; type: string; labels: string[] };

/** A metric as the registry has it; its types say less. */
type Registered = { name: string; labelNames?: readonly string[]; get(): Promise<{ type: unknown }> };

async function metricsOf(registry: Registry): Promise<Described[]> {
  const all = registry.getMetricsAsArray() as unknown as Registered[];
  return Promise.all(
    all
      .filter(({ name }) => name.startsWith('accord_'))
      .map(async (metric) => ({
        name: metric.name,
        type: String((await metric.get()).type),
        labels: [...(metric.labelNames ?? [])],
      })),
  );
}

/** The rows of the table under a heading. */
function documented(heading: string): Described[] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\| `(accord_\w+)` \| (\w+) \|([^|]*)\| \S.*\|$/gm)].map(
    ([, name = '', type = '', labels = '']) => ({
      name,
      type,
      labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label as string),
    }),
  );
}

const byName = (a: Described, b: Described) => (a.name < b.name ? -1 : 1);
const ofServer = await metricsOf(server.services.metrics.registry);
const ofOperator = await metricsOf(operator.registry);

test('the page has each metric of a server, with its type and labels', () => {
  expect(documented('Servers').toSorted(byName)).toEqual(ofServer.toSorted(byName));
});

test('the page has each metric of an operator, and says which of them servers have too', () => {
  const shared = ofOperator.filter(({ name }) => ofServer.some((one) => one.name === name));
  const own = ofOperator.filter((one) => !shared.includes(one));
  expect(documented('Operators').toSorted(byName)).toEqual(own.toSorted(byName));
  const [, sentence = ''] = /^An operator that runs by itself also has (.*)\.$/m.exec(page) ?? [];
  expect([...sentence.matchAll(/`(\w+)`/g)].map(([, name]) => name).toSorted()).toEqual(
    shared.map(({ name }) => name).toSorted(),
  );
});

test('GET /metrics prints them', async () => {
  const printed = await server.services.metrics.registry.metrics();
  const told = [...printed.matchAll(/^# TYPE (accord_\w+) (\w+)$/gm)].map(([, name, type]) => `${name} ${type}`);
  expect(told.toSorted()).toEqual(ofServer.map(({ name, type }) => `${name} ${type}`).toSorted());
});

test.each([
  'docs/metrics.md',
  'docs/operations.md',
  'docs/tracing.md',
  'charts/accord/files/alerts.yaml',
  'charts/accord/files/dashboard.json',
])('what %s names exists', (file) => {
  const known = new Set(
    [...ofServer, ...ofOperator].flatMap(({ name, type }) =>
      type === 'histogram' ? [name, `${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    ),
  );
  const named =
    text(file).match(
      /\baccord_[a-z_]+(?:_total|_seconds(?:_bucket|_count|_sum)?|_fresh|_tenants|_programs|_leader|_depth|_resources)\b/g,
    ) ?? [];
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test('the page has each alert of the chart', () => {
  const alerts = [...text('charts/accord/files/alerts.yaml').matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
  const [, section = ''] = page.split('\n## Alerts\n');
  const told = [...section.matchAll(/^\| `(Accord\w+)` \|/gm)].map(([, name]) => name);
  expect(told.toSorted()).toEqual(alerts.toSorted());
});
