/** At the address of a page or of an endpoint of OAuth, another method is answered 405 with the methods that there are (RFC 9110 section 15.5.6). */
import type { HTTPMethods } from 'fastify';
import { problem } from '../core/problems.ts';
import type { App } from './fastify.ts';

const all: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** To be called before the routes are registered. @returns to be called behind them */
export function answerWrongMethods(app: App): () => void {
  const known = new Map<string, { methods: Set<string>; isPublic: boolean }>();
  app.addHook('onRoute', ({ url, method, config }) => {
    // Preflights of other APIs are public, too.
    if (method === 'OPTIONS' || config?.wrongMethod) return;
    const { methods, isPublic } = known.get(url) ?? { methods: new Set<string>(), isPublic: false };
    for (const one of [method].flat()) methods.add(one);
    known.set(url, { methods, isPublic: isPublic || config?.access?.api === 'public' });
  });
  const register = async (scope: unknown) => {
    for (const [url, { methods, isPublic }] of [...known]) {
      if (!isPublic) continue;
      const allow = [...methods].join(', ');
      const others = all.filter((one) => !methods.has(one));
      if (others.length === 0) continue;
      (scope as App).route({
        ...{ method: others, url, exposeHeadRoute: false },
        config: { access: { api: 'public' }, wrongMethod: true },
        schema: { hide: true },
        onRequest: (_request, _reply, done) => done(problem('method_not_allowed', { headers: { allow } })),
        handler: () => {},
      });
    }
  };
  // Plugins are loaded in their order: by then each room has registered its routes.
  return () => void app.register(register);
}
