/**
 * Owns the HTTP application: the table of rooms in explicit order, and what holds for every endpoint (request ids, strict
 * bodies, security headers, limits, errors). It opens no socket; main.ts does, and tests inject.
 */
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import helmet from '@fastify/helmet';
import rateLimit from '@fastify/rate-limit';
import swagger from '@fastify/swagger';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import underPressure from '@fastify/under-pressure';
import Fastify from 'fastify';
import { registerAccess } from './access.ts';
import { AuthorizationRequest, registerAuthzRoutes } from './authz/index.ts';
import type { Config } from './core/config.ts';
import type { App } from './core/http.ts';
import { limits } from './core/limits.ts';
import { problem } from './core/problems.ts';
import { registerDocs } from './docs.ts';
import { registerErrors, send } from './errors.ts';
import { registerIssuerRoutes } from './issuers/index.ts';
import { registerKeyRoutes } from './keys/index.ts';
import { registerMemberRoutes } from './members/index.ts';
import { registerPolicyRoutes } from './policies/index.ts';
import { registerResourceRoutes } from './resources/index.ts';
import { registerRevisions } from './revisions.ts';
import type { Services } from './services.ts';
import { createValidatorCompiler } from './validation.ts';

const { version } = createRequire(import.meta.url)('../package.json') as { version: string };
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** Builds the application; `ready()` is the caller's. */
export async function createApp(config: Config, services: Services): Promise<App> {
  const { observe } = services;
  const app = Fastify({
    logger: false,
    bodyLimit: limits.bodyBytesMax,
    requestIdHeader: false,
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    },
    trustProxy: config.ACCORD_TRUST_PROXY === '' ? false : config.ACCORD_TRUST_PROXY.split(','),
    // Ids may be 1 KiB, and arrive percent-encoded.
    routerOptions: { maxParamLength: 4096, ignoreTrailingSlash: false },
    frameworkErrors: (error, request, reply) => send(observe, error, request, reply),
    requestTimeout: 30_000,
    connectionTimeout: 0,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
  }).withTypeProvider<TypeBoxTypeProvider>() as unknown as App;

  app.setValidatorCompiler(createValidatorCompiler({ AuthorizationRequest }) as never);
  registerErrors(app, observe);
  acceptBodilessJson(app);
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
  await app.register(helmet, { global: true, contentSecurityPolicy: false });
  await app.register(underPressure, { maxEventLoopDelay: 1500, retryAfter: 1, exposeStatusRoute: false });
  await limitRates(app, config);
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Accord', version, description: 'Access sharing, authorization and consent.' },
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
      security: [{ bearer: [] }],
    },
    refResolver: { buildLocalReference: (json) => String(json.$id) },
  });

  await registerDocs(app);
  registerAccess(app, services.access);
  registerRevisions(app, services.snapshots);
  registerPolicyRoutes(app, services.policies);
  registerAuthzRoutes(app, services.authz);
  registerIssuerRoutes(app, services.issuers);
  registerMemberRoutes(app, services.members);
  registerKeyRoutes(app, services.keys);
  registerResourceRoutes(app, services);
  return app;
}

/** A JSON Content-Type without a body is fine where a body is optional: clients send it on GET and DELETE too. */
function acceptBodilessJson(app: App): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') return done(null, undefined);
    parse(request, body as string, (error, value) => {
      if (error) return done(problem('invalid_request', { detail: `The body is not JSON: ${error.message}` }));
      if (exceedsDepth(value, limits.inputDepthMax)) {
        return done(
          problem('invalid_request', { detail: `The body is nested more than ${limits.inputDepthMax} levels deep.` }),
        );
      }
      done(null, value);
    });
  });
}

function exceedsDepth(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const member of Object.values(value)) if (exceedsDepth(member, levels - 1)) return true;
  return false;
}

async function limitRates(app: App, config: Config): Promise<void> {
  if (config.ACCORD_RATE_LIMIT === 0) return;
  await app.register(rateLimit, {
    global: true,
    max: config.ACCORD_RATE_LIMIT,
    timeWindow: 1000,
    cache: 10_000,
    enableDraftSpec: true,
    keyGenerator: (request) => request.headers.authorization ?? request.ip,
    errorResponseBuilder: (_request, context) =>
      problem('rate_limited', { headers: { 'retry-after': String(Math.ceil(context.ttl / 1000)) } }),
  });
}
