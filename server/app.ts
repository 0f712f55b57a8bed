/**
 * The HTTP application: the rooms' routes, and what holds for every endpoint (request ids, strict
 * bodies, security headers, limits, errors). It opens no socket; main.ts does, and tests inject.
 */
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import underPressure from '@fastify/under-pressure';
import Fastify from 'fastify';
import type { DestinationStream } from 'pino';
import { AuthorizationRequest } from './authz/index.ts';
import type { Caller } from './core/auth/schema.ts';
import type { Config } from './core/config.ts';
import { limits } from './core/limits.ts';
import { createLogger } from './core/log.ts';
import { isLoopback, isWithin, parseCidrs } from './core/outbound/addresses.ts';
import { problem } from './core/problems.ts';
import type { Tracing } from './core/tracing.ts';
import { type AccessServices, declareCaller, registerAccess } from './http/access.ts';
import { beginRequests } from './http/begin-requests.ts';
import { readJsonBodies } from './http/body.ts';
import { boundConnections, connectionOptions, endConnectionsOnClose } from './http/connections.ts';
import { addCors, registerPreflights } from './http/cors.ts';
import { registerDocs } from './http/docs.ts';
import { registerErrors, send } from './http/errors.ts';
import type { App, CountMore } from './http/fastify.ts';
import { registerGuide } from './http/guide.ts';
import { registerQuotas } from './http/quotas.ts';
import { RateLimit } from './http/rate-limit.ts';
import { registerRevisions } from './http/revisions.ts';
import { traceStage } from './http/tracing.ts';
import { registerTurns, takeTurns } from './http/turns.ts';
import { compileSerializersLazily, createValidatorCompiler } from './http/validation.ts';
import { answerWrongMethods } from './http/wrong-methods.ts';
import { registerIdempotency } from './idempotency/index.ts';
import { authenticateMember, recordSupportUse } from './members/index.ts';
import { registerAssets } from './pages/index.ts';
import { authenticateAccount } from './persons/index.ts';
import { authenticatePortal } from './portal/index.ts';
import type { HttpServices } from './room/room.ts';
import type { Services } from './services.ts';

export const { version } = createRequire(import.meta.url)('../package.json') as { version: string };
const NUL_IN_ADDRESS = 'The path contains a NUL character (%00).';
/** It is kept with decisions, the audit and the ledger, where support reads it and erasing leaves it: no room for an address. */
const REQUEST_ID = /^[\w.:+/=-]{1,128}$/;

export type AppOptions = {
  /** For tests, whose client holds up the event loop too. 0: however late it is, requests are taken. */
  eventLoopDelayMsMax?: number;
  /** Absent: nothing is traced. */
  tracing?: Tracing | undefined;
  /** @default standard error */
  accessLogTo?: DestinationStream;
};

/** Builds the application; `ready()` is the caller's. */
export async function createApp(
  config: Config,
  services: Services,
  { eventLoopDelayMsMax = limits.eventLoopDelayMsMax, tracing, accessLogTo }: AppOptions = {},
): Promise<App> {
  const { observe } = services;
  // Unique, and no secret: a random one for each request took a hundredth of a decision's CPU.
  const instance = randomBytes(9).toString('base64url');
  let requests = 0;
  const app = Fastify({
    logger: false,
    bodyLimit: limits.strayBodyBytesMax, // a route that takes a body states its own
    requestIdHeader: false,
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : `${instance}-${(requests++).toString(36)}`;
    },
    trustProxy: config.ACCORD_TRUST_PROXY === '' ? false : config.ACCORD_TRUST_PROXY.split(','),
    // Ids may be 1 KiB, and arrive percent-encoded.
    routerOptions: { maxParamLength: 4096, ignoreTrailingSlash: false },
    frameworkErrors(error, request, reply) {
      begin(request, reply); // no hook is run
      send(observe, error, request, reply);
    },
    ...connectionOptions(),
    forceCloseConnections: 'idle',
  }).withTypeProvider<TypeBoxTypeProvider>() as unknown as App;

  const logger = config.ACCORD_ACCESS_LOG === 'true' ? createLogger('info', accessLogTo) : undefined;
  const begin = beginRequests(app, services, { tracing, logger });
  const proxies = parseCidrs(config.ACCORD_TRUST_PROXY);
  boundConnections(app.server, config.ACCORD_MAX_CONNECTIONS, (one) => isLoopback(one) || isWithin(one, proxies));
  endConnectionsOnClose(app);
  app.setValidatorCompiler(createValidatorCompiler({ AuthorizationRequest }) as never);
  compileSerializersLazily(app);
  registerErrors(app, observe);
  const rates = config.ACCORD_RATE_LIMIT > 0 ? new RateLimit(config.ACCORD_RATE_LIMIT, services.clock) : undefined;
  declareCaller(app);
  const enterTurn = takeTurns(app, services.scheduler);
  readJsonBodies(app, (request, count) => rates?.charge(request, count), enterTurn);
  app.addHook('onRequest', (request, reply, done) => {
    begin(request, reply);
    // All that protects JSON, which no browser shows as a page or takes with cookies: pages get more (docs.ts). A header
    // costs 0.4 us to check and to write, Helmet's eleven 11 % of a decision's CPU.
    reply.header('x-content-type-options', 'nosniff');
    // Almost every answer has personal data. Cacheable answers (keys, metadata) set their own header.
    reply.header('cache-control', 'no-store');
    reply.header('x-request-id', request.id);
    if (request.headers.origin !== undefined) addCors(services.snapshot.tenantOf, request, reply);
    done();
  });
  await app.register(underPressure, {
    maxEventLoopDelay: eventLoopDelayMsMax,
    retryAfter: 1,
    exposeStatusRoute: false,
  });
  const registerOtherMethods = answerWrongMethods(app);
  await registerDocs(app, version);
  // Its addresses are absolute: it cannot stand under a path.
  if (new URL(services.baseUrl).pathname === '/') await registerGuide(app);
  registerAssets(app);
  traceStage(app, tracing, 'authenticate', () => registerAccess(app, { ...accessOf(services), rates }));
  registerPreflights(app, services.snapshot.tenantOf);
  // Nothing here has a NUL in its name, and Postgres holds none: refused once, for every parameter of every route; and behind
  // access control, because of a known caller the ledger has the attempt.
  app.addHook('onRequest', (request, _reply, done) => {
    done(request.raw.url?.includes('%00') ? problem('invalid_request', { detail: NUL_IN_ADDRESS }) : undefined);
  });
  registerIdempotency(app, services.idempotency);
  const countTenant = registerQuotas(app, services);
  registerTurns(app, enterTurn);
  traceStage(app, tracing, 'snapshot', () => registerRevisions(app, services.snapshots));
  const countMore: CountMore = (request, count) => {
    rates?.countMore(request.caller as Caller, count);
    countTenant(request, count);
  };
  registerRooms(app, services, { countMore });
  registerOtherMethods();
  return app;
}

/** The routes of each room. The operations of one are shown under its tag. */
function registerRooms(app: App, { rooms, use }: Services, http: HttpServices): void {
  let tag: string | undefined;
  app.addHook('onRoute', (route) => {
    if (tag !== undefined) route.schema = { tags: [tag], ...route.schema };
  });
  for (const room of rooms) {
    tag = room.openapiTag;
    room.routes?.(app, use(room), http);
  }
}

function accessOf({ snapshot, issuers, members, writes, oidc, persons, portal, observe }: Services): AccessServices {
  return {
    tenantOf: snapshot.tenantOf,
    tokens: issuers.tokens,
    authenticateMember: (token, tenant) => authenticateMember(members, token, tenant),
    authenticatePortal: (headers, tenant) => authenticatePortal(portal, headers, tenant),
    authenticateAccount: (headers, tenant) => authenticateAccount(persons, headers, tenant),
    recordSupportUse: (caller, use) => recordSupportUse(writes, caller, use),
    checkProof: oidc.checkProof,
    observe,
  };
}
