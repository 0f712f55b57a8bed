/** The recipes of docs/events.md do what they say, and signatures are those of Standard Webhooks. */
import { expect, test } from 'vitest';
import { signedHeaders } from '../../server/events/index.ts';
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
