/** What describes the API: OpenAPI 3.1 from the routes' own schemas at /openapi.json, and a readable page at /docs. */

import helmet from '@fastify/helmet';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { App } from './fastify.ts';
import { FixedAnswer } from './fixed-answer.ts';

/** RFC 9457, as errors.ts writes it. */
const problemSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'requestId'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string' },
    code: { type: 'string', description: 'Stable; docs/problems.md lists them.' },
    requestId: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          pointer: { type: 'string', description: 'JSON pointer into the body, or /query/…, /params/…, /headers/….' },
          detail: { type: 'string' },
          line: { type: 'integer', description: '1-based, in Rego.' },
          column: { type: 'integer' },
        },
      },
    },
  },
};
const content = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
const problemResponse = { description: 'What went wrong, and where.', content };
const text = { type: 'string' };
const retryAfter = { description: 'Seconds to wait before retrying.', required: true, schema: { type: 'integer' } };

/** What every operation refers to. */
const sharedResponses = {
  TooManyRequests: {
    description:
      'rate_limited: a quota of the caller or its tenant is exhausted; RateLimit-Policy and RateLimit describe it (draft-ietf-httpapi-ratelimit-headers). Any other code: the server is busy, and no quota applies.',
    headers: {
      'Retry-After': retryAfter,
      'RateLimit-Policy': { description: 'With rate_limited: the quota, such as "tenant";q=100;w=1.', schema: text },
      RateLimit: { description: 'With rate_limited: the rest of the quota, such as "tenant";r=0;t=1.', schema: text },
    },
    content,
  },
  Unavailable: {
    description: 'The server cannot process the request now.',
    headers: { 'Retry-After': retryAfter },
    content,
  },
};
const problemResponses = {
  429: { $ref: '#/components/responses/TooManyRequests' },
  503: { $ref: '#/components/responses/Unavailable' },
  default: problemResponse,
};

type Operation = { responses?: Record<string, unknown> };
type Document = {
  paths?: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, unknown>; responses?: Record<string, unknown> };
};

/** Every operation can answer with a problem. */
function withProblems(document: Document): Document {
  for (const path of Object.values(document.paths ?? {})) {
    for (const operation of Object.values(path)) operation.responses = { ...operation.responses, ...problemResponses };
  }
  const schemas = { ...document.components?.schemas, Problem: problemSchema };
  return { ...document, components: { ...document.components, schemas, responses: sharedResponses } };
}

/** Before the routes that it describes are registered. */
export async function registerDocs(app: App, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Accord', version, description: 'Access sharing, authorization and consent.' },
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
      security: [{ bearer: [] }],
    },
    refResolver: { buildLocalReference: (json) => String(json.$id) },
    transformObject: ((documents: { openapiObject?: Document }) =>
      withProblems(documents.openapiObject ?? {})) as never,
  });
  // To serialize it anew takes 15 ms, and anybody may ask.
  const json = new FixedAnswer('application/json; charset=utf-8', () => JSON.stringify(app.swagger()));
  const yaml = new FixedAnswer('application/x-yaml', () => app.swagger({ yaml: true }));
  app.route({
    method: 'GET',
    url: '/openapi.json',
    config: { access: { api: 'public' } },
    // With a response, so that Fastify makes its compiler of serializers (compileSerializersLazily).
    schema: { hide: true, response: { 200: {} } },
    handler: (request, reply) => json.send(request, reply),
  });
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: { api: 'public' } };
    });
    scope.addHook('onRequest', async (request, reply) => {
      if (request.routeOptions.url === '/docs/json') return json.send(request, reply);
      if (request.routeOptions.url === '/docs/yaml') return yaml.send(request, reply);
    });
    // The page brings a Content-Security-Policy of its own.
    await scope.register(helmet, { contentSecurityPolicy: false });
    await scope.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: true,
      // The page is served over http too, on a machine of one's own; and it asks no validator elsewhere.
      transformStaticCSP: (header) =>
        header.replace(/ validator\.swagger\.io|upgrade-insecure-requests;?| https:/g, ''),
      uiConfig: { layout: 'BaseLayout', docExpansion: 'list', validatorUrl: null, defaultModelsExpandDepth: 0 },
      theme: { title: 'Accord API' },
    });
  });
}
