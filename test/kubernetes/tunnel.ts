/**
 * The way into a network of its own. Inside runs this file as a program: it listens on a Unix socket, which namespaces of
 * the network do not part, and passes each connection on to the host and port that its first line names. Outside,
 * `forward` gives such a place a port of 127.0.0.1, for kubectl, helm and requests alike.
 */
import { connect, createServer, type Socket } from 'node:net';

function join(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
    from.pipe(to);
  }
}

/** Listens on the Unix socket. */
function serve(path: string): void {
  const server = createServer({ allowHalfOpen: true }, (incoming) => {
    let line = '';
    incoming.on('error', () => incoming.destroy());
    const read = () => {
      for (let byte = incoming.read(1) as Buffer | null; byte !== null; byte = incoming.read(1) as Buffer | null) {
        if (byte[0] !== 10) {
          line += byte.toString();
          continue;
        }
        incoming.off('readable', read);
        const [host, port] = line.split(' ');
        join(incoming, connect({ host: host as string, port: Number(port), allowHalfOpen: true }));
        return;
      }
    };
    incoming.on('readable', read);
  });
  server.listen(path);
}

/** @returns the port of 127.0.0.1, and what closes it with all its connections */
export async function forward(path: string, host: string, port: number): Promise<{ port: number; close(): void }> {
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (incoming) => {
    open.add(incoming);
    incoming.once('close', () => open.delete(incoming));
    const outgoing = connect({ path, allowHalfOpen: true });
    outgoing.write(`${host} ${port}\n`);
    join(incoming, outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.close();
    for (const one of open) one.destroy();
  };
  return { port: (server.address() as { port: number }).port, close };
}

if (import.meta.main) serve(process.argv[2] as string);
