/** Owns what describes the API: OpenAPI 3.1 from the routes' own schemas at /openapi.json, and a readable page at /docs. */
import swaggerUi from '@fastify/swagger-ui';
import type { App } from './core/http.ts';

export async function registerDocs(app: App): Promise<void> {
  app.route({
    method: 'GET',
    url: '/openapi.json',
    config: { access: { door: 'public' } },
    schema: { hide: true },
    handler: async () => app.swagger(),
  });
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: { door: 'public' } };
    });
    await scope.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: true,
      uiConfig: { docExpansion: 'list', validatorUrl: null },
    });
  });
}
