/** The client against a real server, by itself and behind a proxy that loses answers. */
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  AccordNetworkError,
  AccordResponseError,
  AccordTimeoutError,
  AccordTokenError,
  createClient,
  isAllowed,
} from '../../packages/client/src/index.ts';
import { until } from '../helpers/wait.ts';
import { question, startForClient, startProxy } from './start.ts';

const { tenant, admin, client, origin, secret } = await startForClient();
const relationships = '/{tenant}/actors/{type}/{id}/relationships';
const drives = (id: string) => ({ relationshipType: 'drives', to: { type: 'car', id } });
const caught = <E>(work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable() as never,
    (error: E) => error,
  );

test('only an explicit allow is allowed', async () => {
  const accord = client();
  expect(await accord.allowed(question('ann'))).toBe(true);
  for (const id of ['bob', 'odd', 'owes']) expect(await accord.allowed(question(id)), id).toBe(false);
  expect(await accord.decide(question('owes'))).toMatchObject({ outcome: 'allow', obligations: ['mfa'] });
  expect(await accord.allowed({ ...question('ann'), action: 'car:none' })).toBe(false);
  for (const outcome of [true, 'Allow', 'allow ', 'ALLOW', {}, ['allow'], undefined, null])
    expect(isAllowed({ outcome } as never)).toBe(false);
  expect(isAllowed({ outcome: 'allow', obligations: 'none' } as never)).toBe(false);
  expect(isAllowed(undefined)).toBe(false);
});

test('without a decision, allowed throws', async () => {
  const away = await startProxy(origin, () => 'lose');
  const refused = { fetch: async () => Response.json({}) };
  await expect(client({ baseUrl: away.baseUrl, token: 't' }).allowed(question('ann'))).rejects.toThrow(
    AccordNetworkError,
  );
  expect(away.seen).toHaveLength(3);
  expect(await client({ token: 't', ...refused }).allowed(question('ann'))).toBe(false);
  await expect(client({ token: 'nonsense' }).allowed(question('ann'))).rejects.toMatchObject({ status: 401 });
});

test('an error has the members of its problem document', async () => {
  const error = await caught<AccordResponseError>(
    client().call('POST', relationships, {
      path: { type: 'user', id: 'ann' },
      body: { ...drives('1'), to: {} as never },
    }),
  );
  expect(error).toBeInstanceOf(AccordResponseError);
  expect(error).toMatchObject({ status: 400, code: 'invalid_request', requestId: expect.any(String) });
  expect(error.errors[0]).toMatchObject({ pointer: expect.stringContaining('/to'), detail: expect.any(String) });
  expect(error.message).toContain('POST /{tenant}/actors/{type}/{id}/relationships was answered 400');
  const html = await startProxy(
    origin,
    () => new Response('<p>', { status: 502, headers: { 'content-type': 'text/html' } }),
  );
  const foreign = await caught<AccordResponseError>(
    client({ baseUrl: html.baseUrl, token: 't' }).allowed(question('a')),
  );
  expect(foreign).toMatchObject({ status: 502, code: undefined, errors: [] });
});

test('a write whose answer is lost is sent again with its key, and done once', async () => {
  const proxy = await startProxy(origin, (number) => (number === 2 ? 'lose' : 'pass'));
  const accord = client({ baseUrl: proxy.baseUrl });
  const made = await accord.call('POST', relationships, { path: { type: 'user', id: 'ann' }, body: drives('lost') });
  expect(made.status).toBe(201);
  expect(made.headers.get('idempotency-replayed')).toBe('true');
  const [first, second] = proxy.seen.slice(1);
  expect(first?.key).toMatch(/^[0-9a-f-]{36}$/);
  expect(second?.key).toBe(first?.key);
});

test('a write without a key is sent once', async () => {
  const proxy = await startProxy(origin, () => 'lose');
  const one = client({ baseUrl: proxy.baseUrl, token: 't' });
  const path = { type: 'user', id: 'ann' };
  await expect(one.call('PUT', '/{tenant}/actors/{type}/{id}', { path, body: {} })).rejects.toThrow(AccordNetworkError);
  expect(proxy.seen).toHaveLength(1);
});

test('Retry-After is waited for, attempts are bounded, and a long wait is the caller’s', async () => {
  const busy = (seconds: string) => new Response('', { status: 429, headers: { 'retry-after': seconds } });
  const once = await startProxy(origin, (number) => (number === 2 ? busy('1') : 'pass'));
  const started = performance.now();
  expect(await client({ baseUrl: once.baseUrl }).allowed(question('ann'))).toBe(true);
  expect(performance.now() - started).toBeGreaterThan(950);
  const always = await startProxy(origin, () => busy('0'));
  await expect(
    client({ baseUrl: always.baseUrl, token: 't', attempts: 2 }).allowed(question('ann')),
  ).rejects.toMatchObject({ status: 429 });
  expect(always.seen).toHaveLength(2);
  const long = await startProxy(origin, () => busy('3600'));
  await expect(client({ baseUrl: long.baseUrl, token: 't' }).allowed(question('a'))).rejects.toMatchObject({
    retryAfterMs: 3_600_000,
  });
  expect(long.seen).toHaveLength(1);
});

test('time is limited for each attempt, and a signal ends all at once', async () => {
  const proxy = await startProxy(origin, () => 'hang');
  const accord = client({ baseUrl: proxy.baseUrl, token: 't', timeoutMs: 2000, attempts: 2 }); // each reaches it by then
  await expect(accord.allowed(question('ann'))).rejects.toThrow(AccordTimeoutError);
  expect(proxy.seen).toHaveLength(2);
  const reason = new Error('gone');
  const controller = new AbortController();
  void until('the third request', () => proxy.seen.length === 3).then(() => controller.abort(reason));
  const slow = client({ baseUrl: proxy.baseUrl, token: 't' });
  await expect(slow.allowed(question('ann'), { signal: controller.signal })).rejects.toBe(reason);
  await expect(slow.allowed(question('ann'), { signal: controller.signal })).rejects.toBe(reason);
  expect(proxy.seen).toHaveLength(3);
});

test('a token is asked for once, kept, and renewed when the server refuses it', async () => {
  let asked = 0;
  let spoil = false;
  const counting: typeof fetch = async (input, init) => {
    const isToken = String(input).endsWith('/oidc/token');
    if (isToken) asked++;
    const answer = await fetch(input, init);
    if (!isToken || !spoil) return answer;
    return Response.json({ ...((await answer.json()) as object), access_token: 'spoilt' });
  };
  const accord = client({ fetch: counting });
  await Promise.all([1, 2, 3].map(() => accord.allowed(question('ann'))));
  await accord.allowed(question('ann'));
  expect(asked).toBe(1);
  spoil = true;
  const spoilt = client({ fetch: counting });
  await expect(spoilt.allowed(question('ann'))).rejects.toMatchObject({ status: 401 });
  spoil = false;
  expect(await spoilt.allowed(question('ann'))).toBe(true);
});

test('a token is renewed before it expires', async () => {
  let asked = 0;
  const short: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init);
    if (!String(input).endsWith('/oidc/token')) return answer;
    asked++;
    return Response.json({ ...((await answer.json()) as object), expires_in: 3 });
  };
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const accord = client({ fetch: short });
  await accord.allowed(question('ann'));
  await accord.allowed(question('ann'));
  expect(asked).toBe(1);
  vi.advanceTimersByTime(2750);
  await accord.allowed(question('ann'));
  expect(asked).toBe(2);
});

test('a token that cannot be had is an error with the reason of OAuth', async () => {
  const wrong = client({ token: { clientId: 'shop', clientSecret: `${secret}x` } });
  const error = await caught<AccordTokenError>(wrong.allowed(question('ann')));
  expect(error).toBeInstanceOf(AccordTokenError);
  expect(error).toMatchObject({ status: 401, error: 'invalid_client' });
  expect(error.message).not.toContain(secret);
  const asked: string[] = [];
  const own = client({ token: async () => asked.push('x').toString() });
  await expect(own.allowed(question('ann'))).rejects.toMatchObject({ status: 401 });
  expect(asked).toHaveLength(1);
});

test('a function for a token is bounded by the time and the signal, and asked again where that may help', async () => {
  const hanging = client({ token: () => new Promise<string>(() => {}), timeoutMs: 50, attempts: 1 });
  const late = await caught<AccordTokenError>(hanging.allowed(question('ann')));
  expect(late).toBeInstanceOf(AccordTokenError);
  expect(late.message).toContain('was not answered within 50 ms');
  const reason = new Error('gone');
  const controller = new AbortController();
  const asking = Promise.withResolvers<void>();
  const never = () => new Promise<string>(() => asking.resolve());
  void asking.promise.then(() => controller.abort(reason));
  const slow = client({ token: never });
  await expect(slow.allowed(question('ann'), { signal: controller.signal })).rejects.toBe(reason);

  const askingWith = async (error: Error) => {
    let asked = 0;
    const token = async () => {
      asked++;
      throw error;
    };
    const thrown = await caught<AccordTokenError>(client({ token }).allowed(question('ann')));
    expect(thrown).toBeInstanceOf(AccordTokenError);
    return { asked, thrown };
  };
  const unknown = await askingWith(new Error('no network'));
  expect([unknown.asked, unknown.thrown.message]).toEqual([3, expect.stringContaining('no network')]);
  const busy = new AccordTokenError('busy', { status: 503 });
  expect(await askingWith(busy)).toEqual({ asked: 3, thrown: busy });
  const over = new AccordTokenError('over', { status: 400, error: 'invalid_grant' });
  expect(await askingWith(over)).toEqual({ asked: 1, thrown: over });
});

test('paths, queries and lists are those of the API', async () => {
  const { data } = await admin.call('GET', '/tenants/{tenant}/audit', { query: { limit: 2, kind: 'policy' } });
  expect(data.entries[0]).toMatchObject({ kind: 'policy', name: 'car:read' });
  const id = 'a/b ?#%';
  const body = drives('odd');
  await client().call('POST', relationships, { path: { type: 'user', id }, body });
  const listed = await client().call('GET', relationships, { path: { type: 'user', id } });
  expect(JSON.stringify(listed.data)).toContain('"odd"');
  for (const odd of ['', '.', '..'])
    await expect(client().call('GET', relationships, { path: { type: 'user', id: odd } })).rejects.toThrow(TypeError);
});

test('options that no request could be made with are refused', () => {
  const good = { baseUrl: origin, tenant, token: 't' };
  for (const bad of [{ baseUrl: 'x' }, { baseUrl: 'file:///x' }, { tenant: '..' }, { attempts: 0 }, { timeoutMs: 0 }])
    expect(() => createClient({ ...good, ...bad }), JSON.stringify(bad)).toThrow(TypeError);
});

/** What the compiler must refuse; it is not run. */
const unused = () => {
  // @ts-expect-error there is no such path
  void admin.call('GET', '/nowhere');
  // @ts-expect-error the path needs a type and an id
  void admin.call('GET', relationships);
  const path = { type: 'user', id: 'ann' };
  // @ts-expect-error relationshipType is a text
  void admin.call('POST', relationships, { path, body: { ...drives('1'), relationshipType: 1 } });
};
void unused;
