/** The recipes of docs/events.md do what they say, and signatures are those of Standard Webhooks. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { insertEvents, lastEvent, signedHeaders } from '../../server/events/index.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { createTestServer } from '../helpers/server.ts';
import { recipe } from './recipes.ts';

const event = (sequence: number) => ({ sequence: String(sequence).padStart(16, '0') });

test('handlePage handles each event once, and stops at a gap', async () => {
  type HandlePage = (events: object[], stored: number, handle: (event: object) => void) => Promise<number>;
  const handlePage = await recipe<HandlePage>('handlePage');
  const handled: object[] = [];
  const handle = (one: object) => void handled.push(one);
  expect(await handlePage([event(1), event(2)], 0, handle)).toBe(2);
  expect(await handlePage([event(2), event(2), event(3)], 2, handle)).toBe(3);
  expect(handled).toEqual([event(1), event(2), event(3)]);
  await expect(handlePage([event(4), event(7)], 3, handle)).rejects.toThrow('events 5 to 6 are missing');
  expect(handled).toHaveLength(4);
});

/** The example that libraries of Standard Webhooks are tested with. */
const known = {
  message: { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', seconds: 1_614_265_330, body: '{"test": 2432232314}' },
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};
const newer = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX';

test('a signature is that of Standard Webhooks; two secrets make two', () => {
  const { message, secret, signature } = known;
  expect(signedHeaders(message, [secret])).toEqual({
    ...{ 'webhook-id': message.id, 'webhook-timestamp': '1614265330', 'webhook-signature': signature },
  });
  const two = signedHeaders(message, [newer, secret])['webhook-signature']?.split(' ');
  expect([two?.length, two?.[1]]).toEqual([2, signature]);
  for (const bad of ['MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_c2hvcnQ='])
    expect(() => signedHeaders(message, [bad])).toThrow('the secret must be');
});

test('isAuthentic takes what is signed with the secret, and nothing else', async () => {
  type IsAuthentic = (headers: object, body: string, secret: string, now: number) => boolean;
  const isAuthentic = await recipe<IsAuthentic>('isAuthentic');
  const { message, secret } = known;
  const { body, seconds } = message;
  const headers = signedHeaders(message, [newer, secret]);
  const now = seconds * 1000;
  expect(isAuthentic(headers, body, secret, now)).toBe(true);
  expect(isAuthentic(headers, body, newer, now + 300_000)).toBe(true);
  expect(isAuthentic(headers, body, newer, now + 301_000)).toBe(false);
  expect(isAuthentic(headers, body, 'whsec_ICECAwQFBgcICQoLDA0ODxAREhMUFRYX', now)).toBe(false);
  expect(isAuthentic(headers, `${body} `, secret, now)).toBe(false);
  expect(isAuthentic({ ...headers, 'webhook-id': 'msg_2' }, body, secret, now)).toBe(false);
  expect(isAuthentic({}, body, secret, now)).toBe(false);
});

test('messageOf is a message of the Kafka binding of CloudEvents', async () => {
  const messageOf = await recipe<(event: object) => object>('messageOf');
  const { sequence } = event(7);
  const one = { specversion: '1.0', id: 'x', type: 'POLICY_UPDATED', partitionkey: 'policy/p', sequence };
  expect(messageOf({ ...one, datacontenttype: 'application/json', data: { name: 'p' } })).toEqual({
    ...{ key: 'policy/p', value: '{"name":"p"}' },
    headers: {
      ...{ ce_specversion: '1.0', ce_id: 'x', ce_type: 'POLICY_UPDATED', ce_partitionkey: 'policy/p' },
      ...{ ce_sequence: sequence, 'content-type': 'application/json' },
    },
  });
});

type Message = { key: string; value: string; headers: Record<string, string> };
type CopyToKafka = (options: object) => Promise<void>;

test('copyToKafka produces each event of the pull API before its number is stored, and again after a failure', async () => {
  const [copyToKafka, messageOf] = [
    await recipe<CopyToKafka>('copyToKafka'),
    await recipe<(event: object) => Message>('messageOf'),
  ];
  const server = await createTestServer();
  const tenant = await server.tenant();
  const token = await server.client(tenant, 'events:read');
  const { database, events } = server.services;
  const emit = async (count: number) => {
    const one = { tenant, type: 'NOTE', time: Date.now(), key: 'car/1', data: { requestor: 'x' } };
    await database.tenant(tenant, (tx) => insertEvents(tx, Array<typeof one>(count).fill(one)));
    await events.mover.move();
  };
  await events.mover.move();
  const first = await lastEvent(events, tenant);
  await emit(3);
  const stopping = new AbortController();
  const messages: Message[] = [];
  let [stored, failures] = [first, 1];
  const options = {
    ...{ topic: 'clinic', messageOf, signal: stopping.signal },
    async get(path: string) {
      const url = `/tenants/${tenant}/event-stream${path.replace('wait=30', 'wait=0')}`;
      const answer = await server.app.inject({ method: 'GET', url, headers: { authorization: `Bearer ${token}` } });
      expect(answer.statusCode).toBe(200);
      return answer.json();
    },
    producer: {
      async send(batch: { topic: string; acks: number; messages: Message[] }) {
        expect(batch).toMatchObject({ topic: 'clinic', acks: -1 });
        messages.push(...batch.messages);
        if (failures-- > 0) throw new Error('the broker is away');
      },
    },
    store: {
      read: async () => stored,
      async write(number: number) {
        stored = number;
        if (stored === first + 5) stopping.abort();
      },
    },
  };
  await expect(copyToKafka(options)).rejects.toThrow('the broker is away');
  expect([stored, messages.length]).toEqual([first, 3]);
  await emit(2);
  await copyToKafka(options);
  expect(stored).toBe(first + 5);
  const sequences = messages.map(({ headers }) => Number(headers.ce_sequence) - first);
  expect(sequences).toEqual([1, 2, 3, 1, 2, 3, 4, 5]);
  expect(new Set(messages.map(({ headers }) => headers.ce_id)).size).toBe(5);
  expect(messages[0]).toMatchObject({ key: 'car/1', value: '{"requestor":"x"}' });
  const gap = {
    ...options,
    get: async () => ({ events: [event(first + 7)], after: first + 7 }),
    signal: new AbortController().signal,
  };
  await expect(copyToKafka(gap)).rejects.toThrow(`event ${first + 6} is missing`);
});

test('receive handles an id once', async () => {
  type Receive = (event: object, store: object, handle: (event: object) => void) => Promise<boolean>;
  const receive = await recipe<Receive>('receive');
  const ids = new Map<string, number>();
  const store = { has: (id: string) => ids.has(id), add: (id: string, sequence: number) => ids.set(id, sequence) };
  const handled: object[] = [];
  const one = { ...event(3), id: 'x' };
  const taken = [];
  for (const each of [one, one]) taken.push(await receive(each, store, (it) => void handled.push(it)));
  expect([taken, handled, ids.get('x')]).toEqual([[true, false], [one], 3]);
  const failing = () => {
    throw new Error('no');
  };
  await expect(receive({ ...event(4), id: 'y' }, store, failing)).rejects.toThrow('no');
  expect(ids.has('y')).toBe(false);
});

test("Debezium's settings name columns that the inbox has", async () => {
  const page = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8');
  const settings = new Map(
    [...page.matchAll(/^transforms\.outbox\.(.+?)=(.+)$/gm)].map(([, name, value]) => [name, value as string]),
  );
  const named = ['table.field.event.id', 'table.field.event.key', 'table.field.event.payload', 'route.by.field'].map(
    (name) => settings.get(name),
  );
  const headers = settings
    .get('table.fields.additional.placement')
    ?.split(',')
    .map((one) => one.split(':')[0]);
  const { adminUrl } = await createTestDatabase();
  const rows = await asAdmin<{ name: string }>(
    adminUrl,
    `select column_name as name from information_schema.columns where table_schema = 'accord' and table_name = 'event_inbox' and is_nullable = 'NO'`,
  );
  const columns = rows.map(({ name }) => name);
  expect(named).toEqual(['id', 'key', 'body', 'type']);
  expect(columns).toEqual(expect.arrayContaining([...named, ...(headers ?? [])]));
});
