/**
 * A proxy in front of an API server that misbehaves on demand, by URL: who knows of a request what it is about can kill a
 * watch and leave the lists alone. Plain HTTP in front; behind, as the cluster's admin.
 */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, type Dispatcher } from 'undici';
import { parse } from 'yaml';
import { readConnection } from '../kubernetes/kubeconfig.ts';
import type { Cluster } from './cluster.ts';

/** What is to go wrong with one request. `frames`: after how many events of a watch, or at once where it is no watch. */
export type Fault =
  /** The connection breaks before the request is passed on. */
  | { kind: 'kill' }
  /** It is passed on and done, and the answer never arrives. */
  | { kind: 'lose' }
  /** Bytes are swallowed, and the connection stays. */
  | { kind: 'half-open'; frames: number }
  | { kind: 'status'; status: number; retryAfter?: number }
  | { kind: 'delay'; ms: number }
  /** The connection breaks in the middle of a frame, or of a body. */
  | { kind: 'truncate'; frames: number }
  /** Frames come twice, and the first one once more after each. */
  | { kind: 'duplicate' }
  /** What a watch says of the end of an object, and all behind it, comes so much later. */
  | { kind: 'late'; ms: number }
  /** Chunks of this many bytes: frames and characters are cut in two. */
  | { kind: 'split'; bytes: number }
  /** What is no part of the JSON comes before it. */
  | { kind: 'pad'; bytes: Buffer }
  /** An event of the type ERROR. */
  | { kind: 'error'; code: number; frames: number };

export type Asked = { method: string; path: string; query: URLSearchParams; isWatch: boolean };
export type Decide = (asked: Asked) => Fault | undefined;

export type FaultProxy = {
  /** Path of a kubeconfig that leads here. */
  kubeconfig: string;
  /** From now on; undefined: everything is passed on. */
  decide: Decide | undefined;
  /** What was asked, in order. */
  asked: Asked[];
  /** How many connections were ever made to it, and are now. */
  connections: { made: number; open: number };
  /** How many watches wait with a `late` event in hand. */
  late: number;
  /** Breaks every connection that there is. */
  killAll(): void;
  close(): Promise<void>;
};

export async function startFaultProxy(cluster: Cluster): Promise<FaultProxy> {
  const { url, authority, user } = readConnection(JSON.stringify(parse(await readFile(cluster.kubeconfig, 'utf8'))));
  const own = 'token' in user ? {} : { cert: user.certificate, key: user.key };
  const headers: Record<string, string> = 'token' in user ? { authorization: `Bearer ${user.token}` } : {};
  const upstream = new Agent({
    connect: { ...(authority === undefined ? {} : { ca: authority }), ...own },
    bodyTimeout: 0,
  });
  const sockets = new Set<Socket>();
  const proxy: FaultProxy = {
    kubeconfig: join(dirname(cluster.kubeconfig), `proxy-${randomBytes(5).toString('hex')}.kubeconfig`),
    decide: undefined,
    asked: [],
    connections: { made: 0, open: 0 },
    late: 0,
    killAll: () => {
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      proxy.killAll();
      await new Promise((resolve) => server.close(resolve));
      await upstream.destroy();
    },
  };
  const server = createServer((request, response) => {
    const target = new URL(request.url as string, url);
    const asked = {
      method: request.method as string,
      path: target.pathname,
      query: target.searchParams,
      isWatch: target.searchParams.get('watch') === 'true',
    };
    proxy.asked.push(asked);
    const pass = (body: Buffer, signal: AbortSignal) =>
      upstream.request({
        origin: target.origin,
        path: `${target.pathname}${target.search}`,
        method: asked.method as Dispatcher.HttpMethod,
        headers: { ...passed(request), ...headers },
        body: body.length > 0 ? body : null,
        signal,
      });
    serve(request, response, proxy.decide?.(asked), asked.isWatch, pass, proxy).catch(() => response.destroy());
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    proxy.connections.made += 1;
    proxy.connections.open += 1;
    socket.on('close', () => {
      sockets.delete(socket);
      proxy.connections.open -= 1;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await writeFile(proxy.kubeconfig, kubeconfig(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  return proxy;
}

type Pass = (body: Buffer, signal: AbortSignal) => Promise<Dispatcher.ResponseData>;

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  fault: Fault | undefined,
  isWatch: boolean,
  pass: Pass,
  proxy: FaultProxy,
): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  if (fault?.kind === 'kill') return void request.socket.destroy();
  if (fault?.kind === 'half-open' && !isWatch) return;
  if (fault?.kind === 'delay') await sleep(fault.ms); // that is the fault
  if (fault?.kind === 'status') return refuse(response, fault);
  const answer = await pass(Buffer.concat(parts), gone.signal);
  if (fault?.kind === 'lose') {
    await answer.body.dump();
    return void request.socket.destroy();
  }
  const { 'content-type': type = 'application/json', 'retry-after': after } = answer.headers;
  response.writeHead(answer.statusCode, { 'content-type': `${type}`, ...(after && { 'retry-after': `${after}` }) });
  response.flushHeaders();
  const isStream = isWatch && answer.statusCode === 200;
  if (isStream) await forwardFrames(answer.body, response, fault, proxy);
  else await forwardBody(Buffer.from(await answer.body.arrayBuffer()), response, fault);
  response.end();
}

function refuse(response: ServerResponse, { status, retryAfter }: Extract<Fault, { kind: 'status' }>): void {
  const body = { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'on demand', code: status };
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
  });
  response.end(JSON.stringify(body));
}

async function forwardBody(body: Buffer, response: ServerResponse, fault: Fault | undefined): Promise<void> {
  if (fault?.kind === 'truncate') {
    response.write(body.subarray(0, body.length >> 1));
    await sleep(5); // what was written is sent
    response.destroy();
  } else if (fault?.kind === 'split') await inPieces(body, response, fault.bytes);
  else {
    if (fault?.kind === 'pad') response.write(fault.bytes);
    response.write(body);
  }
}

async function forwardFrames(
  body: AsyncIterable<Buffer>,
  response: ServerResponse,
  fault: Fault | undefined,
  proxy: FaultProxy,
): Promise<void> {
  let rest = Buffer.alloc(0);
  let count = 0;
  let first: Buffer | undefined;
  for await (const chunk of body) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const frame = rest.subarray(0, end + 1);
      rest = rest.subarray(end + 1);
      const isDue = fault !== undefined && 'frames' in fault && count >= fault.frames;
      count += 1;
      first ??= frame;
      if (fault?.kind === 'late' && frame.includes('"type":"DELETED"')) {
        proxy.late += 1;
        await sleep(fault.ms); // that is the fault
        proxy.late -= 1;
      }
      if (fault?.kind === 'half-open' && isDue) continue;
      if (fault?.kind === 'truncate' && isDue) {
        response.write(frame.subarray(0, frame.length >> 1));
        await sleep(5); // what was written is sent
        return void response.destroy();
      }
      if (fault?.kind === 'error' && isDue) {
        const object = { kind: 'Status', code: fault.code, reason: 'Expired', message: 'on demand' };
        return void response.write(`${JSON.stringify({ type: 'ERROR', object })}\n`);
      }
      if (fault?.kind === 'split') await inPieces(frame, response, fault.bytes);
      else response.write(frame);
      if (fault?.kind === 'duplicate') {
        response.write(frame);
        response.write(first);
      }
    }
  }
}

async function inPieces(body: Buffer, response: ServerResponse, bytes: number): Promise<void> {
  for (let at = 0; at < body.length; at += bytes) {
    response.write(body.subarray(at, at + bytes));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function passed({ headers }: IncomingMessage): Record<string, string> {
  const { 'content-type': type = 'application/json', accept = '*/*' } = headers;
  return { 'content-type': type, accept };
}

/** It authenticates by itself; the token here is for whoever insists on one. */
function kubeconfig(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'faults', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'nobody', user: { token: 'none' } }],
    contexts: [{ name: 'faults', context: { cluster: 'faults', user: 'nobody' } }],
    'current-context': 'faults',
  });
}

/** Numbers in [0, 1), always the same ones for a seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Faults of every kind, for this share of all requests. */
export function randomFaults(random: () => number, share: number): Decide {
  const below = (max: number) => Math.floor(random() * max);
  return ({ isWatch }) => {
    // Nearly every watch ends badly, sooner or later; otherwise there would be few of them.
    if (random() > (isWatch ? 0.9 : share)) return undefined;
    const frames = below(8);
    const faults: Fault[] = [
      { kind: 'kill' },
      { kind: 'status', status: [410, 500, 503, 504][below(4)] as number },
      { kind: 'status', status: 429, retryAfter: below(2) },
      { kind: 'delay', ms: below(60) },
      { kind: 'truncate', frames },
      { kind: 'split', bytes: 1 + below(200) },
    ];
    const ofWatches: Fault[] = [
      { kind: 'half-open', frames },
      { kind: 'duplicate' },
      { kind: 'error', code: [410, 500, 410][below(3)] as number, frames },
      { kind: 'truncate', frames },
    ];
    const all: Fault[] = isWatch ? [...faults, ...ofWatches, ...ofWatches] : [...faults, { kind: 'lose' }];
    return all[below(all.length)];
  };
}
