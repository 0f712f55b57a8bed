/**
 * How long a connection may take and how many there may be. Node closes what is late only when it was told all of
 * this before the server was made, and Fastify does not tell it: connections that sent half a request stayed.
 */
import type { Server } from 'node:http';
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
