/** The application: its routes, and who may use them. */
import { join } from 'node:path';
import { type AccordClient, AccordError, AccordResponseError, createClient } from '@accord/client';
import { fastifyGuard, type Refusal } from '@accord/client/fastify';
import helmet from '@fastify/helmet';
import statics from '@fastify/static';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { addCar, listCars, listShares, readCar, shareCar } from './cars.ts';
import { agree, readConsent, withdraw } from './consent.ts';
import { createEvents, registerWebhook } from './events.ts';
import { isOver, registerLogIn } from './log-in.ts';
import * as pages from './pages.ts';
import { createSessions, type Session, type Sessions } from './sessions.ts';
import { issuerOf, type Settings } from './settings.ts';

type OfCar = { Params: { id: string } };
type Form<Name extends string> = { Body: Partial<Record<Name, string>> };
type Context = {
  settings: Settings;
  server: AccordClient;
  sessions: Sessions['sessions'];
  trips: Map<string, pages.Trip>;
};

const send = (reply: FastifyReply, page: Parameters<typeof pages.pageOf>[0], status = 200) =>
  reply.code(status).type('text/html; charset=utf-8').header('cache-control', 'no-store').send(pages.pageOf(page));

/** For one user, with the token of the user's own log-in. */
const clientOf = ({ accordUrl, tenant }: Settings, session: Session) =>
  createClient({ baseUrl: accordUrl, tenant, token: session.accessToken });

export async function createApp(settings: Settings): Promise<FastifyInstance> {
  const { accordUrl: baseUrl, tenant, clientId, clientSecret } = settings;
  const app = fastify({ bodyLimit: 256 * 1024 });
  const server = createClient({ baseUrl, tenant, token: { clientId, clientSecret } });
  const events = createEvents(settings.webhookSecrets);
  const { sessions, begun } = createSessions(settings.url, events.close);
  const context: Context = { settings, server, sessions, trips: new Map() };
  app.addHook('onClose', async () => events.close());
  await protect(app, settings);
  await app.register(statics, { root: join(import.meta.dirname, 'public'), prefix: '/public/' });
  registerWebhook(app, events);
  registerLogIn(app, settings, { sessions, begun });
  app.get<{ Querystring: { 'log-in'?: string } }>('/', async (request, reply) =>
    sessions.get(request)
      ? reply.redirect('/cars', 303)
      : send(reply, pages.home(request.query['log-in'] === 'failed')),
  );
  registerCars(app, context);
  registerDriving(app, context);
  registerConsent(app, context);
  app.get('/events', (request, reply) => {
    const session = loggedIn(context, request, reply);
    return session && send(reply, pages.eventsPage(session, events));
  });
  app.get('/events/stream', async (request, reply) => {
    const session = sessions.get(request);
    return session ? events.follow(reply, session) : reply.code(401).send();
  });
  registerErrors(app, context);
  return app;
}

/** Scripts and styles of this site only, no frames, and forms of this site only. */
async function protect(app: FastifyInstance, settings: Settings): Promise<void> {
  const self = ["'self'"];
  const directives = {
    ...{ defaultSrc: ["'none'"], scriptSrc: self, styleSrc: self, imgSrc: self, connectSrc: self, baseUri: ["'none'"] },
    // Logging out leads from a form to the issuer, which leads back.
    ...{ formAction: [...self, new URL(issuerOf(settings)).origin], frameAncestors: ["'none'"] },
  };
  await app.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives },
    referrerPolicy: { policy: 'same-origin' },
  });
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(body as string))),
  );
  // A form of another site must not act for who is logged in here (CSRF). Accord's events have no cookie.
  app.addHook('onRequest', async (request, reply) => {
    if (['GET', 'HEAD'].includes(request.method) || request.url === '/webhooks/accord') return undefined;
    const { 'sec-fetch-site': site, origin } = request.headers;
    if (site === 'same-origin' || (site === undefined && origin === settings.url)) return undefined;
    return reply.code(403).send({ error: 'The form is not of this site.' });
  });
}

/** @returns undefined after it led to the log-in */
function loggedIn({ sessions }: Context, request: FastifyRequest, reply: FastifyReply): Session | undefined {
  const session = sessions.get(request);
  if (session === undefined) toLogIn(request, reply);
  return session;
}

function toLogIn({ method, url }: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.redirect(`/log-in?${new URLSearchParams({ to: method === 'GET' ? url : '/cars' })}`, 303);
}

function registerCars(app: FastifyInstance, context: Context): void {
  const { server, settings } = context;
  app.get('/cars', async (request, reply) => {
    const session = loggedIn(context, request, reply);
    return session ? send(reply, pages.carsPage(session, await listCars(server, session.sub))) : reply;
  });
  app.post<Form<'name' | 'plate'>>('/cars', async (request, reply) => {
    const session = loggedIn(context, request, reply);
    if (session === undefined) return reply;
    const { name = '', plate = '' } = request.body;
    return reply.redirect(`/cars/${await addCar(server, session.sub, { name, plate })}`, 303);
  });
  app.get<OfCar>('/cars/:id', async (request, reply) => {
    const session = loggedIn(context, request, reply);
    if (session === undefined) return reply;
    return send(reply, await carPage(context, session, request.params.id));
  });
  app.post<OfCar & Form<'email'>>('/cars/:id/share', async (request, reply) => {
    const session = loggedIn(context, request, reply);
    if (session === undefined) return reply;
    const [{ id }, { email = '' }] = [request.params, request.body];
    const said = await shareCar(clientOf(settings, session), id, email, `${settings.url}/cars`).then(
      () => ({ kind: 'good' as const, text: `${email} gets a mail with the invitation.` }),
      (error: unknown) => {
        if (!(error instanceof AccordResponseError) || error.status >= 500) throw error;
        return { kind: 'bad' as const, text: error.detail ?? error.message };
      },
    );
    return send(reply, await carPage(context, session, id, said), said.kind === 'good' ? 200 : 400);
  });
}

async function carPage({ server, settings, trips }: Context, session: Session, id: string, said?: pages.Said) {
  const trip = trips.get(id);
  const [car, shares, hidden] = await Promise.all([
    readCar(server, id),
    listShares(clientOf(settings, session), id),
    trip && whyHidden(server, trip, id),
  ]);
  return pages.carPage(session, { car, shares, trip, hidden }, { said, mailUrl: settings.mailUrl });
}

/** Whether neighbours see where the car is depends on its driver, who is the subject of this question. */
async function whyHidden(server: AccordClient, { driver }: pages.Trip, car: string): Promise<string | undefined> {
  const subject = { type: 'user', id: driver };
  const decision = await server.decide({ subject, action: 'car:locate', resource: { type: 'car', id: car } });
  return decision.outcome === 'allow' ? undefined : (decision.reason ?? 'it is not allowed');
}

function registerDriving(app: FastifyInstance, context: Context): void {
  const { server, sessions, trips } = context;
  type Driving = FastifyRequest<OfCar>;
  const question = (request: Driving) => {
    const session = sessions.get(request);
    if (session === undefined) return undefined;
    const subject = { type: 'user', id: session.sub };
    return { subject, action: 'car:start', resource: { type: 'car', id: request.params.id } };
  };
  const refused = (refusal: Refusal, request: Driving, reply: FastifyReply) => {
    const session = loggedIn(context, request, reply);
    if (session === undefined) return reply;
    if (refusal.error !== undefined) throw refusal.error;
    const reason = refusal.decision?.reason ?? 'You may not start this car.';
    return send(reply, pages.deniedPage(session, { car: request.params.id, reason: sentenceOf(reason) }), 403);
  };
  app.post<OfCar>(
    '/cars/:id/drive',
    { preHandler: fastifyGuard(server, question, { refused }) },
    async (request, reply) => {
      const { sub, name } = sessions.get(request) as Session;
      const { id } = request.params;
      if (!trips.has(id)) trips.set(id, { driver: sub, driverName: name });
      return reply.redirect(`/cars/${id}`, 303);
    },
  );
  app.post<OfCar>('/cars/:id/park', async (request, reply) => {
    const session = loggedIn(context, request, reply);
    const { id } = request.params;
    if (session !== undefined && trips.get(id)?.driver === session.sub) trips.delete(id);
    return session ? reply.redirect(`/cars/${id}`, 303) : reply;
  });
}

/** Reasons of policies are short: they become a sentence for people. */
const sentenceOf = (reason: string) => `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;

function registerConsent(app: FastifyInstance, context: Context): void {
  const { settings } = context;
  type Said = { Querystring: { done?: string } };
  const texts: Record<string, string> = { agreed: 'You agreed.', withdrawn: 'You withdrew your consent.' };
  app.get<Said>('/consent', async (request, reply) => {
    const session = loggedIn(context, request, reply);
    if (session === undefined) return reply;
    const text = texts[request.query.done ?? ''];
    const shown = await readConsent(clientOf(settings, session));
    return send(reply, pages.consentPage(session, shown, text === undefined ? undefined : { kind: 'good', text }));
  });
  app.post<Form<'version' | 'document'>>('/consent', async (request, reply) => {
    const session = loggedIn(context, request, reply);
    if (session === undefined) return reply;
    const { version = '', document = '' } = request.body;
    await agree(clientOf(settings, session), { version, document });
    return reply.redirect('/consent?done=agreed', 303);
  });
  app.post('/consent/withdraw', async (request, reply) => {
    const session = loggedIn(context, request, reply);
    if (session === undefined) return reply;
    await withdraw(clientOf(settings, session));
    return reply.redirect('/consent?done=withdrawn', 303);
  });
}

function registerErrors(app: FastifyInstance, context: Context): void {
  const { sessions } = context;
  app.setNotFoundHandler((request, reply) =>
    send(reply, pages.errorPage(sessions.get(request), 'There is no such page', request.url), 404),
  );
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    if (isOver(error)) {
      sessions.remove(request, reply);
      return toLogIn(request, reply);
    }
    const session = sessions.get(request);
    if (error instanceof AccordResponseError && error.status < 500) {
      // The session at the issuer is over: the person logs in again.
      if (error.status === 401) sessions.remove(request, reply);
      return send(reply, pages.errorPage(session, 'That was refused', error.detail ?? error.message), error.status);
    }
    if (error instanceof AccordError)
      return send(reply, pages.errorPage(session, 'Accord cannot be reached', 'Try it again in a moment.'), 503);
    const status = error.statusCode ?? 500;
    if (status >= 500) console.error(error);
    return send(
      reply,
      pages.errorPage(session, 'That did not work', status < 500 ? error.message : 'Try it again.'),
      status,
    );
  });
}
