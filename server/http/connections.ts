/**
 * How long a connection may take and how many there may be. Node closes what is late only when it was told all of
 * this before the server was made, and Fastify does not tell it: connections that sent half a request stayed.
 */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { limits } from '../core/limits.ts';
import { isLoopback, networkOf } from '../core/outbound/addresses.ts';

type ConnectionTimes = {
  headersMs: number;
  requestMs: number;
  idleMs: number;
  keepAliveMs: number;
  checkMs: number;
};

const times: ConnectionTimes = {
  headersMs: limits.headersTimeoutMs,
  requestMs: limits.requestTimeoutMs,
  idleMs: limits.connectionIdleMs,
  keepAliveMs: limits.keepAliveTimeoutMs,
  checkMs: limits.connectionsCheckMs,
};

/**
 * Options for Fastify. A connection ends `headersMs` after it was opened or began a request whose headers are not whole,
 * `requestMs` after it began one whose body is not, `idleMs` after anything went either way while a request is answered,
 * and `keepAliveMs` after an answer; each up to `checkMs` later.
 */
export function connectionOptions({ headersMs, requestMs, idleMs, keepAliveMs, checkMs }: ConnectionTimes = times) {
  return {
    http: { headersTimeout: headersMs, requestTimeout: requestMs, connectionsCheckingInterval: checkMs },
    requestTimeout: requestMs,
    connectionTimeout: idleMs,
    keepAliveTimeout: keepAliveMs,
  };
}

/**
 * Bounds the connections of a server, and those of one address to a share of them: one that takes all it can get leaves
 * the others room. Connections past a bound are closed at once.
 * @param isShared whether many callers come from an address: a proxy, or this machine (a sidecar)
 */
export function boundConnections(
  server: Server,
  max: number,
  isShared: (address: string) => boolean = isLoopback,
): void {
  server.maxConnections = max;
  const share = Math.ceil((max * limits.connectionsOfAddressPercent) / 100);
  const open = new Map<string, number>();
  server.on('connection', (socket) => {
    const address = socket.remoteAddress;
    if (address === undefined || isShared(address)) return;
    const network = networkOf(address);
    const count = open.get(network) ?? 0;
    if (count >= share) {
      socket.destroy();
      return;
    }
    open.set(network, count + 1);
    socket.once('close', () => {
      const left = (open.get(network) ?? 1) - 1;
      if (left === 0) open.delete(network);
      else open.set(network, left);
    });
  });
}

/** A connection of Node's HTTP server, with the answer that is under way on it. */
type HttpSocket = Socket & { _httpMessage?: ServerResponse | null };

/**
 * Ends connections when the server closes: at once where no request is being answered, otherwise behind the answer. Node takes
 * a connection on which nothing or half a request came for one at work, and looks for late ones no more when it closes: each
 * kept the process from ending.
 */
export function endConnectionsOnClose(app: Pick<FastifyInstance, 'server' | 'addHook'>): void {
  const open = new Set<HttpSocket>();
  let closing = false;
  app.server.on('connection', (socket: HttpSocket) => {
    if (closing) return void socket.destroy();
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  app.addHook('preClose', (done) => {
    closing = true;
    for (const socket of open) endBehindAnswer(socket);
    done();
  });
}

function endBehindAnswer(socket: HttpSocket): void {
  const answer = socket._httpMessage;
  if (!answer) return void socket.destroySoon();
  socket.setTimeout(limits.requestTimeoutMs); // of a body that does not come, of an answer that nobody takes
  answer.once('close', () => endBehindAnswer(socket));
}
