/** Deliveries over a real database, with subscriptions that a test states. */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterEach, expect } from 'vitest';
import type { Clock } from '../../server/core/clock.ts';
import { limits } from '../../server/core/limits.ts';
import { createOutbound, type Outbound } from '../../server/core/outbound/outbound.ts';
import { cloudEvent, insertEvents } from '../../server/events/index.ts';
import { runTasks } from '../../server/room/tasks.ts';
import { createDeliveries, type DeliverySettings, startLane } from '../../server/subscriptions/lanes/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';
import { startEndpoint } from './endpoint.ts';

type Worker = { deliveries: ReturnType<typeof createDeliveries>; stop(): Promise<void> };
type WorkerOptions = {
  clock?: Clock;
  /** For which an answer is waited for. @default limits.deliveryTimeoutMs */
  requestMs?: number;
};

export async function createLanesTest() {
  const server = await createTestServer();
  const { services } = server;
  const { database, observe, eventHints, events } = services;
  const settings = new Map<string, DeliverySettings>();
  const stops: (() => Promise<void>)[] = [];
  const running = new Set<Worker['deliveries']>();
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    await asAdmin(server.db.adminUrl, 'delete from accord.event_lane');
    settings.clear();
  });
  const outside = createOutbound({ allow: '127.0.0.0/8', ownListeners: () => [] });
  const patient = (timeoutMs: number): Outbound => ({
    ...outside,
    pool(url, bounds) {
      expect(bounds.timeoutMs).toBe(limits.deliveryTimeoutMs);
      return outside.pool(url, { ...bounds, timeoutMs });
    },
  });
  /** A server that delivers. */
  function worker({ clock = services.clock, requestMs }: WorkerOptions = {}): Worker {
    const outbound = requestMs === undefined ? outside : patient(requestMs);
    const deliveries = createDeliveries(
      {
        ...{ database, clock, observe, eventHints, outbound, server: randomUUID() },
        ...{ baseUrl: 'https://accord.test', readers: events.readers },
      },
      {
        settingsOf: async (_tx, tenant, id) => settings.get(`${tenant}/${id}`),
        bodyOf: (own, list) => {
          const source = 'https://accord.test';
          const all = list.map((event) => cloudEvent(source, event));
          return {
            contentType: own.batch ? 'application/cloudevents-batch+json' : 'application/cloudevents+json',
            text: JSON.stringify(own.batch ? all : all[0]),
          };
        },
        disabled: (tenant, subscription, about) => {
          return { tenant, type: 'SUBSCRIPTION_DISABLED', time: Date.now(), key: `x/${subscription}`, data: about };
        },
        recovered: (tenant, subscription, about) => {
          return { tenant, type: 'SUBSCRIPTION_RECOVERED', time: Date.now(), key: `x/${subscription}`, data: about };
        },
      },
    );
    const [delivering] = deliveries.tasks;
    const stopTasks = runTasks([delivering as (typeof deliveries.tasks)[0]], observe);
    running.add(deliveries);
    let isOver = false;
    const stop = async () => {
      if (isOver) return;
      isOver = true;
      running.delete(deliveries);
      await stopTasks();
      await deliveries.close();
    };
    stops.push(stop);
    return { deliveries, stop };
  }
  async function subscribe(tenant: string, endpoint: string, more: Partial<DeliverySettings> = {}) {
    const id = `s${settings.size}`;
    settings.set(`${tenant}/${id}`, {
      ...{ endpoint, enabled: true, types: 'all', matches: () => true, batch: false },
      ...{ maxPerSecond: 1000, numberOfRetries: 9, auth: { type: 'none' } },
      signingSecrets: [`whsec_${randomBytes(32).toString('base64')}`],
      ...more,
    } as DeliverySettings);
    await events.mover.move();
    await database.tenant(tenant, (tx) => startLane(tx, tenant, id));
    return id;
  }
  /** Emits events of keys, numbered from 0. */
  async function emit(tenant: string, keys: readonly string[], type = 'NOTE') {
    await database.tenant(tenant, (tx) =>
      insertEvents(
        tx,
        keys.map((key, n) => ({ tenant, type, time: Date.now(), key, data: { requestor: 'test', n } })),
      ),
    );
    await events.mover.move();
  }
  /** Tells all workers that a subscription was changed. */
  async function changed(tenant: string) {
    for (const deliveries of running) await deliveries.configChanged(tenant);
  }
  /** Every lane of the server is told to look for work, and then it delivers some for another tenant: what must not come would have. */
  async function serveOthers({ deliveries }: Worker, rounds = 3) {
    const [tenant, endpoint] = [await server.tenant(), await startEndpoint()];
    await subscribe(tenant, endpoint.url);
    for (let round = 1; round <= rounds; round++) {
      deliveries.lanes.hint();
      await emit(tenant, ['other']);
      await until(`event ${round} of another tenant`, () => endpoint.received.length === round);
    }
  }
  return {
    ...{ server, settings, worker, subscribe, emit, changed, serveOthers },
    admin: <Row extends object>(text: string, values: unknown[] = []) => asAdmin<Row>(server.db.adminUrl, text, values),
  };
}
