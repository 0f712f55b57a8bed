/** Receives the tenant's events, verifies them, keeps the newest, and tells the browsers that look. */
import { AccordWebhookError, verifyWebhook } from '@accord/client';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Session } from './sessions.ts';

/** A CloudEvent, as far as it is shown. */
type Event = { id: string; type: string; time: string; subject?: string };

const lineOf = (event: Event) => `data: ${JSON.stringify(event)}\n\n`;

const KEPT = 50;
const READERS = 100;

export function createEvents(secrets: readonly string[]) {
  const newest: Event[] = [];
  const readers = new Map<FastifyReply, Session>();

  /** @throws AccordWebhookError when Accord did not sign it; TypeError without a secret */
  async function receive(headers: Record<string, string | string[] | undefined>, body: string): Promise<void> {
    const { id, payload } = await verifyWebhook<Event>({ headers, body, secrets });
    // An event may come twice with the same id.
    if (newest.some((one) => one.id === id)) return;
    const { type, time, subject = '' } = payload;
    newest.unshift({ id, type, time, subject });
    newest.splice(KEPT);
    for (const reader of readers.keys()) reader.raw.write(lineOf({ id, type, time, subject }));
  }

  /** All that are kept, and then what comes: nothing is missed between a page and its stream, or while one connects again. */
  function follow(reply: FastifyReply, session: Session): void {
    reply.hijack();
    if (readers.size >= READERS) return void reply.raw.writeHead(503).end();
    const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' };
    reply.raw.writeHead(200, headers).write(': events\n\n');
    for (const event of newest.toReversed()) reply.raw.write(lineOf(event));
    readers.set(reply, session);
    reply.raw.on('close', () => readers.delete(reply));
  }

  /** Streams have no end of their own. @param of a session; without one, of all */
  const close = (of?: Session) => {
    for (const [reader, session] of readers) if (of === undefined || session === of) reader.raw.end();
  };
  return { newest: newest as readonly Event[], receive, follow, close };
}

export type Events = ReturnType<typeof createEvents>;

/** The address that the subscription sends to. It is called by Accord, and known by its signature only. */
export function registerWebhook(app: FastifyInstance, events: Events): void {
  // The signature is that of the text, so nothing may parse it before.
  app.addContentTypeParser('application/cloudevents+json', { parseAs: 'string' }, (_, body, done) => done(null, body));
  app.post('/webhooks/accord', async (request, reply) => {
    try {
      await events.receive(request.headers, typeof request.body === 'string' ? request.body : '');
    } catch (error) {
      if (!(error instanceof AccordWebhookError)) throw error;
      return reply.code(400).send({ error: error.message });
    }
    return reply.code(204).send();
  });
}
