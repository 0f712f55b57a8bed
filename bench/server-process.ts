/**
 * The server that a benchmark measures from outside: `accord`, exactly as the program serves, or `bare`, a Fastify
 * route with the same body and response schema and nothing else, or `bare+policy`, the same that also evaluates the
 * policy (OPA's own Wasm in BENCH_WASM, with opa-wasm) on the body, or `bare-oidc`, oidc-provider alone; or `bare-sql`, the statement
 * that it is sent; `accord-without-portal`: without what the portal is served by and asks. Tells its CPU time over IPC.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { registerHooks } from 'node:module';
import { loadPolicy } from '@open-policy-agent/opa-wasm';
import Fastify from 'fastify';
import { AuthorizationRequest, AuthorizationResponse } from '../server/authz/schema.ts';
import { parseListen, readConfig } from '../server/core/config.ts';

type Served = { programs(): number; close(): Promise<void> };

async function serveAccord(): Promise<Served> {
  const { createServices } = await import('../server/services.ts');
  const { startServer } = await import('../server/main.ts');
  const config = readConfig();
  const services = await createServices(config, { applicationName: 'serve' });
  const server = await startServer(config, services);
  return {
    programs: () => services.authz.engine.size,
    async close() {
      await server.close();
      await services.close();
    },
  };
}

/** Takes rooms out of the list of rooms, and the application out of the portal's pages, before either is loaded. */
function leaveOutPortal(): void {
  const room = /^import \{ (?:overview|people|graphql)Room \} .*$|^ {2}(?:overview|people|graphql)Room,$/gm;
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (url.endsWith('/server/rooms.ts')) {
        const text = Buffer.from(loaded.source as Buffer).toString();
        const source = text.replace(room, '');
        if (text.match(room)?.length !== 6) throw new Error('the list of rooms reads otherwise');
        return { ...loaded, source };
      }
      if (url.endsWith('/server/portal/application-routes.ts'))
        return { ...loaded, source: 'export function registerApplication() {}' };
      return loaded;
    },
  });
}

type Evaluate = (body: AuthorizationRequest) => unknown;

async function serveBare(evaluate: Evaluate): Promise<Served> {
  const app = Fastify({ ajv: { customOptions: { removeAdditional: false, coerceTypes: false } } });
  app.route({
    method: 'POST',
    url: '/authz/:tenant',
    schema: { body: AuthorizationRequest, response: { 200: AuthorizationResponse } },
    handler: (request, reply) => {
      reply.send(evaluate(request.body as AuthorizationRequest));
    },
  });
  await app.listen(parseListen(process.env.ACCORD_LISTEN as string));
  return { programs: () => 0, close: () => app.close() };
}

/** With BENCH_PROFILE=FILE: a CPU profile of what is served between `profile` and the end, for Chromium's DevTools. */
const profiling = {
  session: new Session(),
  started: false,
  async start() {
    this.session.connect();
    await this.session.post('Profiler.enable');
    await this.session.post('Profiler.start');
    this.started = true;
    process.send?.('profiling');
  },
  async stop() {
    if (!this.started) return;
    const { profile } = await this.session.post('Profiler.stop');
    writeFileSync(`${process.env.BENCH_PROFILE}.${process.argv[2]}.cpuprofile`, JSON.stringify(profile));
  },
};

const constant: Evaluate = ({ action }) => ({ outcome: action === undefined ? 'deny' : 'allow' });

async function policyOf(file: string): Promise<Evaluate> {
  const policy = await loadPolicy(readFileSync(file), { initial: 5, maximum: 256 });
  return (body) => (policy.evaluate(body) as { result: unknown }[])[0]?.result;
}

async function serveProvider(): Promise<Served> {
  const { serveBareOidc } = await import('./oidc-bare.ts');
  const { close } = await serveBareOidc(parseListen(process.env.ACCORD_LISTEN as string).port);
  return { programs: () => 0, close };
}

async function serveSql(): Promise<Served> {
  const { serveBareSql } = await import('./portal-sql.ts');
  const { host, port } = parseListen(process.env.ACCORD_LISTEN as string);
  const { close } = await serveBareSql(host, port);
  return { programs: () => 0, close };
}

async function serve(mode: string | undefined): Promise<Served> {
  if (mode === 'bare-oidc') return serveProvider();
  if (mode === 'bare-sql') return serveSql();
  if (mode === 'bare') return serveBare(constant);
  if (mode === 'bare+policy') return serveBare(await policyOf(process.env.BENCH_WASM as string));
  if (mode === 'accord-without-portal') leaveOutPortal();
  return serveAccord();
}

const served = await serve(process.argv[2]);
process.on('message', async (message) => {
  if (message === 'usage') {
    const { user, system } = process.cpuUsage();
    const main = process.threadCpuUsage();
    const rssMiB = process.memoryUsage.rss() / 1024 / 1024;
    process.send?.({ cpuUs: user + system, mainUs: main.user + main.system, rssMiB, programs: served.programs() });
    return;
  }
  if (message === 'profile') return profiling.start();
  await profiling.stop();
  await served.close();
  process.exit(0);
});
// The benchmark is gone.
process.on('disconnect', () => process.exit(1));
process.send?.('up');
