/** Owns the admin port: liveness, readiness, metrics, and a look at what is served (loopback only, secrets left out). */
import Fastify, { type FastifyInstance } from 'fastify';
import type { Metrics } from './core/metrics.ts';
import type { Snapshots } from './snapshot/index.ts';

export type AdminOptions = { metrics: Metrics; snapshots: Snapshots; isReady: () => boolean };

export function createAdmin(options: AdminOptions): FastifyInstance {
  const app = Fastify({ logger: false });
  app.get('/live', async () => ({ status: 'live' }));
  app.get('/ready', async (_request, reply) => {
    const ready = options.isReady() && options.snapshots.isFresh();
    return reply.status(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not ready' });
  });
  app.get('/metrics', async (_request, reply) => {
    reply.type(options.metrics.registry.contentType);
    return options.metrics.registry.metrics();
  });
  app.get('/snapshot', async (request, reply) => {
    if (!['127.0.0.1', '::1', '::ffff:127.0.0.1'].includes(request.socket.remoteAddress ?? '')) {
      return reply.status(403).send({ status: 'only from this machine' });
    }
    return { tenants: [...options.snapshots.all()].map(view) };
  });
  return app;
}

function view(snapshot: ReturnType<Snapshots['all']> extends Iterable<infer T> ? T : never) {
  return {
    tenant: snapshot.tenant,
    active: snapshot.active,
    revision: snapshot.revision,
    audiences: snapshot.spec.audiences,
    issuers: [...snapshot.auth.issuers.keys()],
    keys: snapshot.auth.ownKeys.map((key) => key.jwk.kid),
    policies: [...snapshot.policies.values()].map(({ name, number, artifact, revision, reads }) => ({
      name,
      number,
      artifact,
      revision,
      reads,
    })),
  };
}
