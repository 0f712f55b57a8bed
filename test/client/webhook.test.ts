/** verifyWebhook against what the server really sends, before and after its secret is rotated, and against forgeries. */
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { AccordWebhookError, verifyWebhook } from '../../packages/client/src/index.ts';
import { signedHeaders } from '../../server/events/index.ts';
import { runTasks } from '../../server/room/tasks.ts';
import { until } from '../helpers/wait.ts';
import { startEndpoint } from '../subscriptions/endpoint.ts';
import { startForClient } from './start.ts';

const { server, admin, client } = await startForClient();

test('a delivery of the server is authentic by its secret, and by either of two in rotation', async () => {
  const { services } = server;
  const endpoint = await startEndpoint();
  const subscriptions = '/tenants/{tenant}/event-stream/subscriptions';
  const body = { endpoint: endpoint.url, eventTypes: ['RELATIONSHIP_CREATED'] };
  const { data: made } = await admin.call('POST', subscriptions, { body });
  const stop = runTasks(services.subscriptions.deliveries.tasks.slice(0, 1), services.observe);
  const next = async (car: string) => {
    const path = { type: 'user', id: 'ann' };
    const relationship = { relationshipType: 'drives', to: { type: 'car', id: car } };
    await client().call('POST', '/{tenant}/actors/{type}/{id}/relationships', { path, body: relationship });
    const about = () => endpoint.received.find((one) => JSON.parse(one.body).subject === `car/${car}`);
    return until(`the delivery about car ${car}`, about);
  };
  try {
    const first = await next('1');
    expect(await verifyWebhook({ ...first, secrets: made.signingSecret })).toEqual({
      id: first.id,
      payload: JSON.parse(first.body),
    });
    const rotating = { path: { id: made.id }, body: {} };
    const { data: rotated } = await admin.call('POST', `${subscriptions}/{id}/secret/rotate`, rotating);
    // A delivery that was under way has the older signature only.
    let second = await next('2');
    const signatures = () => second.headers['webhook-signature']?.toString().split(' ').length;
    for (let car = 3; signatures() !== 2 && car < 100; car++) second = await next(String(car));
    for (const secrets of [made.signingSecret, rotated.signingSecret, [rotated.signingSecret, made.signingSecret]])
      expect((await verifyWebhook({ ...second, secrets })).id).toBe(second.id);
    // A receiver that has both takes what was signed with the older one only.
    expect((await verifyWebhook({ ...first, secrets: [rotated.signingSecret, made.signingSecret] })).id).toBe(first.id);
    await expect(verifyWebhook({ ...first, secrets: rotated.signingSecret })).rejects.toThrow(AccordWebhookError);
  } finally {
    await stop();
  }
});

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const other = `whsec_${Buffer.alloc(64, 8).toString('base64')}`;
const body = '{"é":1}';
const now = new Date(1_800_000_000_000);
const seconds = now.getTime() / 1000;
const headers = signedHeaders({ id: 'one', seconds, body }, [secret]);
const good = { headers, body, secrets: secret, now };

test('it takes texts, bytes and Headers, and what the library of Standard Webhooks signs', async () => {
  expect(await verifyWebhook(good)).toEqual({ id: 'one', payload: { é: 1 } });
  expect((await verifyWebhook({ ...good, body: Buffer.from(body) })).id).toBe('one');
  expect((await verifyWebhook({ ...good, headers: new Headers(headers) })).id).toBe('one');
  expect((await verifyWebhook({ ...good, secrets: [other, secret] })).id).toBe('one');
  const signature = new Webhook(secret).sign('two', now, body);
  const theirs = { ...headers, 'webhook-id': 'two', 'webhook-signature': signature };
  expect((await verifyWebhook({ ...good, headers: theirs })).id).toBe('two');
});

test.each([
  ['another body', { body: `${body} ` }],
  ['another secret', { secrets: other }],
  ['another id', { headers: { ...headers, 'webhook-id': 'two' } }],
  ['another time', { headers: { ...headers, 'webhook-timestamp': String(seconds + 1) } }],
  ['a time that is no number', { headers: { ...headers, 'webhook-timestamp': 'now' } }],
  ['a time with a sign', { headers: { ...headers, 'webhook-timestamp': `+${seconds}` } }],
  ['an old request', { now: new Date(now.getTime() + 301_000) }],
  ['a request of the future', { now: new Date(now.getTime() - 301_000) }],
  ['a clock that is none', { now: new Date(Number.NaN) }],
  ['no headers', { headers: {} }],
  ['a header twice', { headers: { ...headers, 'webhook-id': ['one', 'one'] } }],
  [
    'a signature of another version',
    { headers: { ...headers, 'webhook-signature': `v2,${headers['webhook-signature']?.slice(3)}` } },
  ],
  [
    'the beginning of a signature',
    { headers: { ...headers, 'webhook-signature': headers['webhook-signature']?.slice(0, 9) } },
  ],
  ['an empty signature', { headers: { ...headers, 'webhook-signature': 'v1,' } }],
])('%s is refused', async (_what, more) => {
  await expect(verifyWebhook({ ...good, ...more })).rejects.toThrow(AccordWebhookError);
});

test('the tolerance is in seconds, to the second', async () => {
  const at = (milliseconds: number) => new Date(now.getTime() + milliseconds);
  for (const milliseconds of [300_000, -300_000])
    expect((await verifyWebhook({ ...good, now: at(milliseconds) })).id).toBe('one');
  await expect(verifyWebhook({ ...good, now: at(11_000), toleranceSeconds: 10 })).rejects.toThrow('too old');
});

test('arguments that could verify nothing are refused as such', async () => {
  for (const secrets of ['', [], 'secret', 'whsec_', 'whsec_c2hvcnQ=', `${secret}=`, [secret, 'x']])
    await expect(verifyWebhook({ ...good, secrets }), String(secrets)).rejects.toThrow(TypeError);
  await expect(verifyWebhook({ ...good, body: JSON.parse(body) })).rejects.toThrow(TypeError);
});
