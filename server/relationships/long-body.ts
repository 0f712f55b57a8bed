/**
 * Letting a request take longer than others to arrive. Node ends every request that is not whole within the server's
 * requestTimeout, whatever it does; an import of millions of lines arrives as fast as its lines are written.
 */
import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { limits } from '../core/limits.ts';
import type { App } from '../http/fastify.ts';

type Listener = (error: NodeJS.ErrnoException, socket: Socket) => void;

/**
 * To be called once, before the server listens.
 * @returns exempts a request from the timeout; it still ends when nothing arrives for limits.importIdleMs
 */
export function allowLongBodies({ server }: Pick<App, 'server'>): (request: IncomingMessage) => void {
  const exempt = new WeakSet<Socket>();
  const others = server.listeners('clientError') as Listener[];
  server.removeAllListeners('clientError');
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && exempt.has(socket)) return;
    for (const listener of others) listener.call(server, error, socket);
  });
  return (request) => {
    const { socket } = request;
    if (!(socket instanceof Socket)) return; // injected, without a connection
    exempt.add(socket);
    const idle = () => request.destroy(new Error('no data arrived in time'));
    socket.setTimeout(limits.importIdleMs, idle);
    request.once('close', () => {
      exempt.delete(socket);
      socket.removeListener('timeout', idle);
      socket.setTimeout(server.timeout);
    });
  };
}
