/**
 * Measures what it costs to observe requests: CPU a request of POST /authz with the 20-rule policy, on servers that trace nothing,
 * every request, or one in a hundred, and on one that writes an access log, in turns.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mintClientToken } from '../server/keys/index.ts';
import { putPolicy } from '../server/policies/index.ts';
import { createInstallation, pinToCore1, startProcess, writer } from './installation.ts';
import { closedLoop, openConnections, prepare } from './load.ts';
import { question, twentyRules } from './policies.ts';
import { median, table } from './report.ts';

const ROUNDS = Number(process.argv[2] ?? 20);
const CLOSED_MS = 500;
const CONNECTIONS = 32;

pinToCore1();
const collector = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.setHeader('content-type', 'application/json').end('{}'));
});
await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
const installation = await createInstallation({ durable: false });
await installation.tenant('bench');
await putPolicy(installation.services.policies, writer, 'bench', 'document:read', { rego: twentyRules });
const client = { clientId: 'bench', scopes: ['authz:evaluate'] as const };
const { token } = await mintClientToken(installation.services.keys, 'bench', client);
const requests = Array.from({ length: 200 }, (_, i) => prepare('/authz/bench', token, question(i)));

async function side(name: string, environment: Record<string, string>) {
  const server = await startProcess('accord', { ...installation.environment, ...environment }, 0);
  const connections = await openConnections(server.port, CONNECTIONS);
  await closedLoop(connections, requests, 10_000, 30_000);
  await server.rest();
  const cpuUs: number[] = [];
  const round = async () => {
    const before = await server.usage();
    const { answered, failed } = await closedLoop(connections, requests, CLOSED_MS);
    if (failed > 0) throw new Error(`${failed} requests failed`);
    cpuUs.push(((await server.usage()).cpuUs - before.cpuUs) / answered);
  };
  const close = async () => {
    for (const connection of connections) connection.close();
    await server.stop();
  };
  return { name, cpuUs, round, close };
}

const traced = {
  OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
};
const sampled = { ...traced, OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.01' };
const sides = [
  await side('metrics only', {}),
  await side('every request traced', traced),
  await side('one in a hundred traced', sampled),
  await side('access log', { ACCORD_ACCESS_LOG: 'true' }),
];
for (let round = 0; round < ROUNDS; round++) for (const one of sides) await one.round();
table(
  ['POST /authz', 'CPU µs/request, best (median)'],
  sides.map(({ name, cpuUs }) => [name, `${Math.min(...cpuUs).toFixed(1)} (${median(cpuUs).toFixed(1)})`]),
);
for (const one of sides) await one.close();
await installation.close();
collector.close();
