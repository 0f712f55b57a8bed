/**
 * The load: HTTP/1.1 over keep-alive connections with prepared requests, as fast as the answers come (closed loop)
 * or at a rate, whatever the answers do (open loop: latency counts from the instant at which a request was due, so a
 * server that stalls is charged for all the requests that it held up). About 15 µs of CPU a request.
 */
import { connect, type Socket } from 'node:net';

export type Request = Buffer;

/** @param body undefined: none */
export function prepare(path: string, token: string, body: unknown, method = 'POST'): Request {
  const text = body === undefined ? '' : JSON.stringify(body);
  const head = [
    `${method} ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    'user-agent: accord-bench',
    'accept: application/json',
    `authorization: Bearer ${token}`,
    ...(body === undefined ? [] : ['content-type: application/json', `content-length: ${Buffer.byteLength(text)}`]),
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${text}`);
}

export type Answered = { status: number; body: string };

/** One connection, one request at a time. */
export class Connection {
  readonly #socket: Socket;
  #text = '';
  #done: ((answered: Answered) => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('error', () => this.#lose());
    socket.on('close', () => this.#lose());
  }

  /** @param localAddress another one of this machine, so that the server takes it for another caller */
  static open(port: number, localAddress = '127.0.0.1'): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', localAddress }, () => resolve(new Connection(socket)));
      socket.once('error', reject);
    });
  }

  send(request: Request, done: (answered: Answered) => void): void {
    if (this.#socket.destroyed) throw new Error('the server ended the connection');
    this.#done = done;
    this.#socket.write(request);
  }

  ask(request: Request): Promise<Answered> {
    return new Promise((resolve) => this.send(request, resolve));
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#text += chunk.toString('latin1');
    const end = this.#text.indexOf('\r\n\r\n');
    if (end < 0) return;
    const own = this.#text.indexOf('content-length: ');
    const at = own < 0 ? this.#text.indexOf('Content-Length: ') : own; // as Koa writes it
    const length = at < 0 || at > end ? 0 : Number.parseInt(this.#text.slice(at + 16, at + 24), 10);
    if (this.#text.length < end + 4 + length) return;
    const answered = { status: Number(this.#text.slice(9, 12)), body: this.#text.slice(end + 4) };
    this.#text = '';
    const done = this.#done;
    this.#done = undefined;
    done?.(answered);
  }

  #lose(): void {
    const done = this.#done;
    this.#done = undefined;
    done?.({ status: 0, body: '' });
  }
}

export async function openConnections(port: number, count: number, localAddress?: string): Promise<Connection[]> {
  return Promise.all(Array.from({ length: count }, () => Connection.open(port, localAddress)));
}

export type Closed = { answered: number; failed: number; seconds: number };

/** As fast as the answers come, until the time is over (or `count` were answered). */
export async function closedLoop(
  connections: Connection[],
  requests: Request[],
  ms: number,
  count = Number.POSITIVE_INFINITY,
): Promise<Closed> {
  let [next, answered, failed] = [0, 0, 0];
  const started = performance.now();
  const until = started + ms;
  const stopSpinning = spin();
  await Promise.all(
    connections.map(
      (connection) =>
        new Promise<void>((resolve) => {
          const go = () => {
            if (performance.now() >= until || answered >= count) return resolve();
            connection.send(requests[next++ % requests.length] as Request, ({ status }) => {
              if (status === 200 || status === 201) answered++;
              else failed++;
              go();
            });
          };
          go();
        }),
    ),
  );
  stopSpinning();
  return { answered, failed, seconds: (performance.now() - started) / 1000 };
}

/**
 * Keeps this process awake. A client that sleeps between answers has to be woken by the server's write, which costs the
 * server 10 us (an interrupt to the other core, more in a virtual machine): the slower of two would look slower still.
 */
function spin(): () => void {
  let spinning = true;
  const turn = () => {
    if (spinning) setImmediate(turn);
  };
  turn();
  return () => {
    spinning = false;
  };
}

export type Open = { latenciesMs: Float64Array; failed: number };

/**
 * `rate` requests a second at equal distances; one that finds no free connection waits, and its clock runs.
 * @param sleeps a millisecond at a time instead of spinning, where what is measured needs this core, too: what became due
 *   meanwhile goes together, and its clock begins then
 */
export async function openLoop(
  connections: Connection[],
  requests: Request[],
  rate: number,
  ms: number,
  sleeps = false,
): Promise<Open> {
  const total = Math.floor((rate * ms) / 1000);
  const latenciesMs = new Float64Array(total);
  const free = [...connections];
  let [sent, held, finished, failed] = [0, 0, 0, 0];
  const started = performance.now();
  const due = (i: number) => started + (i * 1000) / rate;
  await new Promise<void>((resolve) => {
    const turn = () => {
      const now = performance.now();
      while (sent < total && free.length > 0 && due(sent) <= now) send(sent++);
      while (free.length === 0 && held < total && due(held) <= now) held++;
      if (sent === total) return;
      if (sleeps) setTimeout(turn, 1);
      else setImmediate(turn); // a timer is a millisecond late, which would hide what is measured
    };
    const send = (i: number) => {
      const connection = free.pop() as Connection;
      const from = sleeps && i >= held ? performance.now() : due(i);
      connection.send(requests[i % requests.length] as Request, ({ status }) => {
        latenciesMs[i] = performance.now() - from;
        if (status !== 200) failed++;
        free.push(connection);
        if (++finished === total) resolve();
      });
    };
    turn();
  });
  return { latenciesMs, failed };
}
