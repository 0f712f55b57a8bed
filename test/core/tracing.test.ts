/** Traces, as a collector gets them by OTLP over HTTP in JSON, of a whole server; and a server whose collector is away. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ConfigError, readConfig, wantsTraces } from '../../server/core/config.ts';
import type { Observation } from '../../server/core/observe.ts';
import { startServer } from '../../server/main.ts';
import { createServices } from '../../server/services.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { createTestServer } from '../helpers/server.ts';

const setUp = await createTestServer();
const tenant = await setUp.tenant({ decisionLog: { mode: 'all' } });
const editor = await setUp.member(tenant, 'config-editor');
const token = await setUp.client(tenant, 'authz:evaluate');
const policies = {
  'doc:read': 'package p\noutcome := "allow"',
  'doc:share': `package p
default outcome := "deny"
outcome := "allow" if { some one in input.graph.subject; one.relationshipType == "is_owner_of" }`,
};
for (const [name, rego] of Object.entries(policies)) {
  const response = await setUp.app.inject({
    method: 'PUT',
    url: `/tenants/${tenant}/policies/${name}`,
    headers: { authorization: `Bearer ${editor}` },
    payload: { rego },
  });
  expect(response.statusCode).toBe(200);
}

type OtlpValue = { stringValue?: string; intValue?: number; boolValue?: boolean; doubleValue?: number };
type OtlpSpan = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: { key: string; value: OtlpValue }[];
  status: { code: number };
};
type Exported = { headers: IncomingMessage['headers']; path: string | undefined; body: string };

/** A collector: keeps what it gets. `answers: false`: and says nothing. */
async function collector({ answers = true } = {}) {
  const got: Exported[] = [];
  const server: Server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    got.push({ headers: request.headers, path: request.url, body });
    if (answers) response.setHeader('content-type', 'application/json').end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  closeAtEnd(close);
  const resources = () => got.flatMap(({ body }) => JSON.parse(body).resourceSpans);
  const spans = (): OtlpSpan[] =>
    resources().flatMap((one) => one.scopeSpans.flatMap(({ spans: all }: { spans: OtlpSpan[] }) => all));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, got, resources, spans, close };
}

const attributesOf = (span: OtlpSpan | undefined) =>
  Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]));

const names = Object.keys(process.env).filter((name) => name.startsWith('OTEL_'));
beforeEach(() => {
  for (const name of names) delete process.env[name];
});
const set: string[] = [];
afterEach(() => {
  for (const name of set.splice(0)) delete process.env[name];
});

/** A server whose process has these variables. */
async function start(environment: Record<string, string>) {
  for (const [name, value] of Object.entries(environment)) {
    process.env[name] = value;
    set.push(name);
  }
  const listeners = { ACCORD_LISTEN: '127.0.0.1:0', ACCORD_ADMIN_LISTEN: '127.0.0.1:0' };
  const observations: Observation[] = [];
  const services = await createServices(
    { ...setUp.config, ...listeners },
    { applicationName: 'serve', observe: (one) => observations.push(one) },
  );
  // The collector and the client hold up the event loop of the server, too.
  const running = await startServer({ ...setUp.config, ...listeners }, services, { eventLoopDelayMsMax: 0 });
  const ask = async (body: object, { path = '', headers = {} }: { path?: string; headers?: object } = {}) => {
    const response = await fetch(`${running.url}/authz/${tenant}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  };
  return {
    ask,
    observations,
    async close() {
      await running.close();
      await services.close();
    },
  };
}

const alice = { subject: { type: 'user', id: 'alice@example.com' }, resource: { type: 'doc', id: 'plan' } };
const caller = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
const traceparent = (flags: string) => ({ traceparent: `00-${caller.traceId}-${caller.spanId}-${flags}` });

describe('a decision', () => {
  test('is a span of the request under its caller, and a span for each stage, exported at the end', async () => {
    const { url, got, resources, spans } = await collector();
    const server = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=abc',
      OTEL_SERVICE_NAME: 'accord-eu',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      OTEL_BSP_SCHEDULE_DELAY: '60000',
    });
    const answer = await server.ask({ ...alice, action: 'doc:share' }, { headers: traceparent('01') });
    expect(answer).toEqual({ status: 200, json: { outcome: 'deny' } });
    expect(got).toEqual([]);
    await server.close();
    expect(got.map(({ path, headers }) => [path, headers['content-type'], headers['api-key']])).toEqual([
      ['/v1/traces', 'application/json', 'abc'],
    ]);
    const resource = Object.fromEntries(
      resources()[0].resource.attributes.map(({ key, value }: OtlpSpan['attributes'][number]) => [
        key,
        Object.values(value)[0],
      ]),
    );
    expect(resource).toMatchObject({
      'service.name': 'accord-eu',
      'service.version': expect.stringMatching(/^\d+\.\d+\.\d+/),
      'deployment.environment.name': 'test',
    });
    const all = spans();
    const nameOf = (id: string | undefined) => all.find(({ spanId }) => spanId === id)?.name ?? id;
    expect(all.every(({ traceId }) => traceId === caller.traceId)).toBe(true);
    expect(all.map(({ name, parentSpanId }) => [name, nameOf(parentSpanId)])).toEqual([
      ['authenticate', 'POST /authz/:tenant'],
      ['snapshot', 'POST /authz/:tenant'],
      ['read relationships', 'gather facts'],
      ['gather facts', 'POST /authz/:tenant'],
      ['evaluate', 'POST /authz/:tenant'],
      ['record', 'POST /authz/:tenant'],
      ['POST /authz/:tenant', caller.spanId],
    ]);
    const span = (name: string) => all.find((one) => one.name === name);
    expect(span('POST /authz/:tenant')?.kind).toBe(2); // SERVER
    expect(attributesOf(span('POST /authz/:tenant'))).toEqual({
      ...{ 'http.request.method': 'POST', 'http.route': '/authz/:tenant', 'http.response.status_code': 200 },
      ...{ 'url.scheme': 'http', 'network.protocol.version': '1.1', 'accord.tenant': tenant, 'accord.outcome': 'deny' },
    });
    expect(attributesOf(span('authenticate'))).toEqual({});
    expect(attributesOf(span('snapshot'))).toEqual({ 'accord.revision': expect.any(Number) });
    expect(attributesOf(span('gather facts'))).toEqual({ 'accord.facts.relationships': 0, 'accord.facts.consents': 0 });
    expect(attributesOf(span('evaluate'))).toEqual({
      ...{ 'accord.policy': 'doc:share', 'accord.policy.revision': 1, 'accord.outcome': 'deny' },
    });
    expect(got.map(({ body }) => body).join()).not.toMatch(/alice|plan/);
  });

  test('is the root of a trace without a caller, and one stage after the other for a batch', async () => {
    const { url, spans } = await collector();
    const server = await start({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/v1/traces` });
    const requests = Array.from({ length: 60 }, () => ({ ...alice, action: 'doc:read' }));
    expect((await server.ask({ requests }, { path: '/batch' })).status).toBe(200);
    expect((await server.ask({ action: 'doc:read' }, { headers: { authorization: 'Bearer x' } })).status).toBe(401);
    await server.close();
    const told = spans().map((span) => [span.name, attributesOf(span)['accord.decisions'] ?? '']);
    expect(told).toEqual([
      ['authenticate', ''],
      ['snapshot', ''],
      ['gather facts', 50],
      ['evaluate', 50],
      ['gather facts', 10],
      ['evaluate', 10],
      ['POST /authz/:tenant/batch', ''],
      ['authenticate', ''], // which is what refused the second one
      ['POST /authz/:tenant', ''],
    ]);
    const roots = spans().filter(({ name }) => name.startsWith('POST'));
    expect(roots.map(({ parentSpanId }) => parentSpanId ?? '')).toEqual(['', '']);
    expect(new Set(roots.map(({ traceId }) => traceId)).size).toBe(2);
  });

  test('is not traced where its caller is not, and OTEL_TRACES_SAMPLER decides for the others', async () => {
    const { url, spans } = await collector();
    const server = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_TRACES_SAMPLER: 'parentbased_always_off' });
    const answers = [
      await server.ask({ action: 'doc:read' }),
      await server.ask({ action: 'doc:read' }, { headers: traceparent('00') }),
      await server.ask({ action: 'doc:read' }, { headers: traceparent('01') }),
    ];
    expect(answers.map(({ json }) => json)).toEqual(Array(3).fill({ outcome: 'allow' }));
    await server.close();
    const roots = spans().filter(({ name }) => name === 'POST /authz/:tenant');
    expect(roots.map(({ parentSpanId }) => parentSpanId)).toEqual([caller.spanId]);
  });
});

describe('of a share of the requests', () => {
  /** The roots of how many requests were exported. */
  async function traced(environment: Record<string, string>, requests: object[]): Promise<number> {
    const { url, spans } = await collector();
    const server = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: url, ...environment });
    for (const headers of requests) expect((await server.ask({ action: 'doc:read' }, { headers })).status).toBe(200);
    await server.close();
    const roots = spans().filter(({ name }) => name === 'POST /authz/:tenant');
    // Whole traces: each has its stages.
    for (const { spanId } of roots)
      expect(spans().filter((one) => one.parentSpanId === spanId).length).toBeGreaterThan(2);
    return roots.length;
  }
  const sampler = (name: string, share: string) => ({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: share });
  const malformed = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-01' };

  test.each([
    ['parentbased_traceidratio', '0', {}, 0],
    ['parentbased_traceidratio', '1', {}, 1],
    ['parentbased_traceidratio', '0', traceparent('01'), 1],
    ['parentbased_traceidratio', '1', traceparent('00'), 0],
    ['parentbased_traceidratio', '0', malformed, 0],
    ['parentbased_traceidratio', '1', malformed, 1],
    ['traceidratio', '0', {}, 0],
    ['traceidratio', '1', {}, 1],
    ['traceidratio', '0', traceparent('01'), 0],
    ['traceidratio', '1', traceparent('00'), 1],
    ['traceidratio', '0', malformed, 0],
    ['traceidratio', '1', malformed, 1],
    ['parentbased_traceidratio', 'much', {}, 1], // as the SDK takes it
  ])('%s of %s: a request with %j', async (name, share, headers, expected) => {
    expect(await traced(sampler(name, share), [headers])).toBe(expected);
  });

  test('it is about that share', async () => {
    const count = await traced(sampler('parentbased_traceidratio', '0.5'), Array(100).fill({}));
    expect(count).toBeGreaterThan(20);
    expect(count).toBeLessThan(80);
  });
});

describe('a collector', () => {
  const failures = (observations: Observation[]) =>
    observations.filter((one) => one.kind === 'background_failed' && one.task === 'exporting traces');

  test('that is away is told of, and the server goes on', async () => {
    const { url, close } = await collector();
    close();
    const server = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_TIMEOUT: '200',
      OTEL_BSP_SCHEDULE_DELAY: '10',
    });
    expect((await server.ask({ action: 'doc:read' })).json).toEqual({ outcome: 'allow' });
    await expect.poll(() => failures(server.observations).length).toBeGreaterThan(0);
    expect((await server.ask({ action: 'doc:read' })).json).toEqual({ outcome: 'allow' });
    await server.close();
  });

  test('that never answers holds up the end of the server for limits.tracesFlushMsMax, and not for its own time', async () => {
    const { url, got } = await collector({ answers: false });
    const server = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      ...{ OTEL_EXPORTER_OTLP_TIMEOUT: '3600000', OTEL_BSP_EXPORT_TIMEOUT: '3600000' },
    });
    expect((await server.ask({ action: 'doc:read' })).json).toEqual({ outcome: 'allow' });
    await server.close();
    expect(got).toHaveLength(1);
  });
});

describe('the environment', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
  test.each([
    [{}, false],
    [endpoint, true],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' }, true],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, true],
    [{ ...endpoint, OTEL_TRACES_EXPORTER: 'none' }, false],
    [{ ...endpoint, OTEL_SDK_DISABLED: 'TRUE' }, false],
    [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://collector:4318' }, false],
  ])('%j: traces are wanted: %s', (environment, wanted) => {
    expect(wantsTraces(environment)).toBe(wanted);
  });

  test.each([
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER: must be otlp or none'],
    [{ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL: must be http/json'],
    [
      { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf' },
      'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: must be http/json',
    ],
  ])('%j stops the start', (environment, why) => {
    expect(() => readConfig(environment)).toThrow(new ConfigError(why));
  });

  test('that asks for no traces may say of them what it likes', () => {
    expect(() => readConfig({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).not.toThrow();
  });
});
