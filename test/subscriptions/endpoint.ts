/** A real HTTP endpoint that receives events, and says what it is told to say. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect } from 'vitest';
import { closeAtEnd } from '../helpers/closing.ts';
import { untilPasses } from '../helpers/wait.ts';

export type Received = {
  id: string;
  sequence: number;
  key: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
};
type Answer = (received: Received, response: ServerResponse) => void;

export async function startEndpoint(answer: Answer = (_received, response) => response.writeHead(204).end()) {
  const received: Received[] = [];
  const asked: IncomingMessage['headers'][] = [];
  const endpoint = {
    received,
    /** Headers of the requests OPTIONS. */
    asked,
    answer,
    options: (response: ServerResponse) => response.writeHead(405).end(),
    url: '',
    connections: 0,
    close: () => {},
  };
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      if (request.method === 'OPTIONS') {
        asked.push(request.headers);
        endpoint.options(response);
        return;
      }
      const event = JSON.parse(body) as { partitionkey?: string; sequence?: string };
      const one = {
        id: String(request.headers['webhook-id']),
        sequence: Number(event.sequence),
        key: event.partitionkey ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body,
      };
      received.push(one);
      endpoint.answer(one, response);
    });
  });
  server.on('connection', (socket) => {
    endpoint.connections++;
    sockets.add(socket);
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endpoint.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  endpoint.close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  closeAtEnd(endpoint.close);
  return endpoint;
}
export type TestEndpoint = Awaited<ReturnType<typeof startEndpoint>>;

/** Waits until so many requests with events have come, and no more. */
export const untilReceived = ({ received }: TestEndpoint, count: number): Promise<void> =>
  untilPasses(`${count} requests`, () => expect(received).toHaveLength(count));

/** Waits until so many different events have come, some of them perhaps more than once. */
export const untilEvents = ({ received }: TestEndpoint, count: number): Promise<void> =>
  untilPasses(`${count} events`, () => expect(new Set(received.map(({ id }) => id)).size).toBe(count));
