/** Doubles of identity providers that behave as their documentation says, and run the very files of examples/. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { MessageChannel, Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';
import { closeAtEnd } from '../helpers/closing.ts';
import { WAIT_MS_MAX } from '../helpers/wait.ts';

const examples = join(import.meta.dirname, '../../examples/token-enrichment');
const read = (path: string) => readFileSync(join(examples, path), 'utf8');

const guide = readFileSync(join(import.meta.dirname, '../../docs/token-enrichment.md'), 'utf8');

/** The examples give up after a second or less, in which a busy machine may not answer. */
const PATIENCE = 5;

type Claims = Record<string, unknown>;
/** Of a request for a token: what the client sent, as the endpoint takes it. */
export type Grant = { authorization: string | undefined; type: string; fields: Record<string, string> };
type Granted = { status: number; body: object };

/** A token endpoint: form or JSON. */
export async function startTokenEndpoint(answer: (grant: Grant) => Promise<Granted> | Granted) {
  const grants: Grant[] = [];
  const server = createServer(async (request, response) => {
    const type = (request.headers['content-type'] ?? '').split(';')[0] as string;
    const text = await textOf(request);
    const fields = type === 'application/json' ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text));
    const grant = { authorization: request.headers.authorization, type, fields };
    grants.push(grant);
    const { status, body } = await answer(grant);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeAtEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`, grants };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Auth0's Actions: CommonJS, event.secrets, a cache of 20 entries with values of at most 4 KB, claims named by a URL. */
export function auth0(secrets: Record<string, string>) {
  const cache = new Map<string, { value: string; expires_at: number }>();
  const logged: string[] = [];
  const module = { exports: {} as { onExecutePostLogin?: (event: object, api: object) => Promise<void> } };
  runInNewContext(read('auth0/post-login.js'), {
    ...{ module, exports: module.exports, fetch, Buffer, URLSearchParams },
    AbortSignal: { timeout: (ms: number) => AbortSignal.timeout(PATIENCE * ms) },
    console: { log: (text: string) => logged.push(text) },
  });
  return {
    cache,
    logged,
    /** Logs a user in. @returns the custom claims of the access token */
    async logIn(userId: string): Promise<Claims> {
      const claims: Claims = {};
      const api = {
        accessToken: {
          setCustomClaim(name: string, value: unknown) {
            if (!/^https?:\/\/.+\/./.test(name)) throw new Error(`${name} is not a URL`);
            claims[name] = structuredClone(JSON.parse(JSON.stringify(value)));
          },
        },
        cache: {
          get(key: string) {
            const found = cache.get(key);
            return found !== undefined && found.expires_at > Date.now() ? found : undefined;
          },
          set(key: string, value: string, { ttl = 900_000 } = {}) {
            const fits = typeof value === 'string' && key.length <= 64 && value.length <= 4096 && ttl <= 86_400_000;
            if (!fits) return { type: 'error', code: 'invalid' };
            cache.set(key, { value, expires_at: Date.now() + ttl });
            return { type: 'success' };
          },
        },
      };
      const event = { secrets, user: { user_id: userId }, request: { hostname: 'login.test' }, client: {}, tenant: {} };
      await module.exports.onExecutePostLogin?.(event, api);
      return claims;
    },
  };
}

/** A claim of a script mapper with the claim JSON type JSON; null adds none, and a dot that is not escaped nests. */
function mapClaim(name: string, value: unknown): Claims {
  if (value === null || value === undefined) return {};
  if (typeof value !== 'string') throw new Error('cannot map type for token claim');
  const path = [...name.matchAll(/(?:\\.|[^\\.])+/g)].map(([part]) => part.replace(/\\(.)/g, '$1'));
  return path.reduceRight((nested: unknown, part) => ({ [part]: nested }), JSON.parse(value)) as Claims;
}

export async function keycloak(environment: Record<string, string>, claimName: string) {
  // Of the JAR; here it would be taken for a manifest, so the guide has it.
  const [, descriptor = ''] = /keycloak-scripts\.json <<'END'\n([\s\S]+?)\n *END\n/.exec(guide) ?? [];
  const script = read(`keycloak/${JSON.parse(descriptor).mappers[0].fileName}`);
  const flag = new SharedArrayBuffer(4);
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(new URL('./keycloak-engine.ts', import.meta.url), {
    workerData: { script, environment, flag, port: port2 },
    transferList: [port2],
    execArgv: [],
  });
  closeAtEnd(() => worker.terminate());
  port1.on('message', async ({ method, url, headers, body, timeoutMs }) => {
    const init = {
      method,
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE * timeoutMs),
    } as const;
    const answer = await fetch(url, init).then(
      async (response) => ({ status: response.status, text: await response.text() }),
      (error) => ({ error: `java.io.IOException: ${error}` }),
    );
    port1.postMessage(answer);
    Atomics.store(new Int32Array(flag), 0, 1);
    Atomics.notify(new Int32Array(flag), 0);
  });
  port1.unref();
  const logged: string[] = [];
  return {
    script,
    logged,
    async logIn(userId: string, serviceAccountOf: string | null = null): Promise<Claims> {
      const value = new Promise<unknown>((resolve, reject) => {
        worker.once('error', reject);
        worker.on('message', function take(message) {
          if ('logged' in message) return void logged.push(message.logged);
          worker.off('message', take);
          resolve(message.value);
        });
      });
      worker.postMessage({ userId, serviceAccountOf });
      return mapClaim(claimName, await value);
    },
  };
}

/** Zitadel calls the target, signs what it sends, and ignores a target that fails (interruptOnError: false). */
export async function zitadel(environment: Record<string, string>) {
  const target = spawn(process.execPath, [join(examples, 'zitadel/target.mjs')], {
    env: { ...environment, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void target.kill()); // it is started in a test, where afterAll has no effect
  const url = await listening(target);
  const logged: string[] = [];
  target.stderr?.on('data', (chunk) => logged.push(String(chunk)));
  const call = (body: string, signature: string) =>
    fetch(url, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'zitadel-signature': signature },
      signal: AbortSignal.timeout(WAIT_MS_MAX),
    });
  const sign = (body: string, seconds: number, key = environment.SIGNING_KEY as string) =>
    `t=${seconds},v1=${createHmac('sha256', key).update(`${seconds}.${body}`).digest('hex')}`;
  return {
    call,
    sign,
    logged,
    /** @returns the claims that are added to the access token */
    async accessToken(user: { id: string; human?: object; machine?: object }): Promise<Claims> {
      const payload = { function: 'function/preaccesstoken', userinfo: { sub: user.id }, user, org: { id: '1' } };
      const body = JSON.stringify(payload);
      const response = await call(body, sign(body, Math.floor(Date.now() / 1000)));
      if (!response.ok) return {};
      const { append_claims: added = [] } = (await response.json()) as {
        append_claims?: { key: string; value: unknown }[];
      };
      return Object.fromEntries(added.map(({ key, value }) => [key, value]));
    },
  };
}

function listening(target: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    target.once('exit', (code) => reject(new Error(`the target ended with ${code}`)));
    target.stdout?.once('data', (chunk) => resolve(`http://${/listening on (\S+)/.exec(String(chunk))?.[1]}`));
  });
}
