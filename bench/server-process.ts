/**
 * Owns the server that a benchmark measures from outside: `accord`, exactly as the program serves, or `bare`, a Fastify
 * route with the same body and response schema and nothing else. Tells its CPU time over IPC.
 */
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import Fastify from 'fastify';
import { AuthorizationRequest, AuthorizationResponse } from '../server/authz/schema.ts';
import { parseListen, readConfig } from '../server/core/config.ts';

type Served = { programs(): number; close(): Promise<void> };

async function serveAccord(): Promise<Served> {
  const { createServices } = await import('../server/services.ts');
  const { startServer } = await import('../server/main.ts');
  const config = readConfig();
  const services = await createServices(config, { applicationName: 'serve' });
  services.prepareCompiler();
  const server = await startServer(config, services);
  return {
    programs: () => services.authz.engine.size,
    async close() {
      await server.close();
      await services.close();
    },
  };
}

async function serveBare(): Promise<Served> {
  const app = Fastify({ ajv: { customOptions: { removeAdditional: false, coerceTypes: false } } });
  app.route({
    method: 'POST',
    url: '/authz/:tenant',
    schema: { body: AuthorizationRequest, response: { 200: AuthorizationResponse } },
    handler: (request, reply) => {
      const { action } = request.body as AuthorizationRequest;
      reply.send({ outcome: action === undefined ? 'deny' : 'allow' });
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

const served = process.argv[2] === 'bare' ? await serveBare() : await serveAccord();
process.on('message', async (message) => {
  if (message === 'usage') {
    const { user, system } = process.cpuUsage();
    const main = process.threadCpuUsage();
    const rssMiB = process.memoryUsage.rss() / 1024 / 1024;
    process.send?.({ ...process.resourceUsage(), cpuUs: user + system, /*TMP*/ mainUs: main.user + main.system, rssMiB, programs: served.programs() });
    return;
  }
  if (message === 'profile') return profiling.start();
  await profiling.stop();
  await served.close();
  process.exit(0);
});
process.send?.('up');
