/**
 * The admin port: liveness, readiness, metrics, and, over loopback only and without secrets, what is served and what the
 * operator waits for. A browser on this machine can be led here by a name that its page's owner points at 127.0.0.1 (DNS
 * rebinding): what comes over loopback under such a name reads nothing. Other machines ask for /metrics by whatever name the
 * service has.
 */
import { isIP } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { DatabaseTrouble } from './core/db/errors.ts';
import { limits } from './core/limits.ts';
import type { Metrics } from './core/metrics.ts';
import { registerDevMail } from './dev-mail.ts';
import { boundConnections, connectionOptions, endConnectionsOnClose } from './http/connections.ts';
import { repeatedHeader } from './http/fastify.ts';
import type { AnySnapshotPart, SnapshotFields, TenantSnapshot } from './room/tenant-snapshot.ts';
import type { Snapshots } from './snapshot/index.ts';

type AdminOptions = {
  metrics: Pick<Metrics, 'registry'>;
  /** Absent where nothing is served (an operator). */
  snapshots?: Snapshots;
  /** What an operator waits for. */
  waiting?: () => readonly object[];
  isReady: () => boolean;
  /** False: only a new process helps. */
  isLive?: () => boolean;
  /** What keeps it from being ready, in sentences; asked at each probe. Told to this machine only. */
  obstacles?: () => Promise<readonly string[]>;
  /** The directory of the local outbox; absent: there is none. */
  outbox?: string;
  /** Where it listens, as configured. */
  host: string;
};

export function createAdmin(options: AdminOptions): FastifyInstance {
  const app = Fastify({ logger: false, ...connectionOptions() });
  boundConnections(app.server, limits.adminConnectionsMax, () => true);
  endConnectionsOnClose(app);
  app.addHook('onRequest', (request, reply, done) => {
    if (repeatedHeader(request.raw.rawHeaders) === undefined) return done();
    void reply.status(400).send({ status: 'a header that must be unique was sent twice' });
  });
  app.get('/live', async (_request, reply) => {
    const live = options.isLive?.() ?? true;
    return reply.status(live ? 200 : 503).send({ status: live ? 'live' : 'not live' });
  });
  app.get('/ready', async (request, reply) => {
    const obstacles = (await options.obstacles?.()) ?? [];
    const ready = options.isReady() && (options.snapshots?.isFresh() ?? true) && obstacles.length === 0;
    const { trouble, isDeaf = false } = options.snapshots ?? {};
    const told = [...obstacles, ...(trouble === undefined ? [] : [TROUBLES[trouble]]), ...(isDeaf ? [DEAF] : [])];
    const isTold = told.length > 0 && isLocal(request) && isOurName(request, options.host);
    if (!ready) return reply.status(503).send({ status: 'not ready', ...(isTold && { reasons: told }) });
    return reply.send({ status: 'ready', ...(isTold && { warnings: told }) });
  });
  app.get('/metrics', async (request, reply) => {
    if (isLocal(request) && !isOurName(request, options.host)) return refuse(reply, UNKNOWN_NAME);
    reply.type(options.metrics.registry.contentType);
    return options.metrics.registry.metrics();
  });
  const { snapshots, waiting, outbox } = options;
  const guard = (request: FastifyRequest, reply: FastifyReply) => {
    if (!isLocal(request)) return refuse(reply, 'only allowed from this machine');
    return isOurName(request, options.host) ? undefined : refuse(reply, UNKNOWN_NAME);
  };
  const local = (path: string, answer: () => object) =>
    app.get(path, async (request, reply) => guard(request, reply) ?? answer());
  if (snapshots !== undefined)
    local('/snapshot', () => ({ tenants: snapshots.all().map((one) => view(one, snapshots.parts)) }));
  if (outbox !== undefined) registerDevMail(app, outbox, guard);
  if (waiting !== undefined) local('/waiting', () => ({ waiting: waiting() }));
  return app;
}

/** A server decides from memory until its state is too old, so none of these makes it not ready at once. */
const TROUBLES: Record<DatabaseTrouble, string> = {
  lost: 'Postgres does not answer.',
  timeout: 'Postgres did not respond in time.',
  conflict: 'Postgres refused the last confirmation of the state because of a conflict.',
  'read-only': 'Postgres is read-only: requests that write are answered with 503.',
};

const DEAF =
  'Notifications of Postgres do not arrive, as through a pooler in transaction mode: changes are found by polling, up to a fifth of ACCORD_MAX_STALENESS later. Set ACCORD_DATABASE_SESSION_URL to an address past the pooler.';

const UNKNOWN_NAME = 'the Host header must be an IP address, localhost or the host of ACCORD_ADMIN_LISTEN';

function refuse(reply: FastifyReply, status: string) {
  return reply.status(403).send({ status });
}

function isLocal(request: FastifyRequest): boolean {
  return ['127.0.0.1', '::1', '::ffff:127.0.0.1'].includes(request.socket.remoteAddress ?? '');
}

/** Whether the Host header is a name that others cannot point at this server. */
function isOurName(request: FastifyRequest, configured: string): boolean {
  const name = (request.headers.host ?? '')
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
  return isIP(name) !== 0 || name === 'localhost' || name === configured.toLowerCase();
}

function view(snapshot: TenantSnapshot, parts: readonly AnySnapshotPart[]) {
  const { tenant, active, revision, spec } = snapshot;
  const fields = parts.map(({ key, view }) => view?.(snapshot[key as keyof SnapshotFields]));
  return Object.assign({ tenant, active, revision, audiences: spec.audiences }, ...fields);
}
