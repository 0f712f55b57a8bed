/** A way to Postgres that can be cut, or fall silent, while connections are open. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import pg from 'pg';

export type PostgresProxy = {
  /** Of the database, through the proxy. */
  url: string;
  /** How many connections were made to it, and how many were open at once at most. */
  connections: { made: number; most: number };
  /** Ends all connections, and refuses new ones. */
  cut(): Promise<void>;
  /** Nothing passes any more, and nobody is told; new connections are taken and are as silent. */
  fallSilent(): void;
  /** As before it was cut or fell silent, for new connections. */
  mend(): Promise<void>;
};

export async function startPostgresProxy(database: string): Promise<PostgresProxy> {
  const client = new pg.Client({ connectionString: database });
  const { host, port, user, password } = client;
  const upstream = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
  const sockets = new Set<Socket>();
  const connections = { made: 0, open: 0, most: 0 };
  let isSilent = false;
  const server = createServer((incoming) => {
    const outgoing = connect(upstream as { path: string });
    connections.made++;
    connections.open++;
    connections.most = Math.max(connections.most, connections.open);
    incoming.on('close', () => connections.open--);
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      if (!isSilent) one.pipe(other);
    }
  });
  const listen = (at: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(at, '127.0.0.1', resolve);
    });
  await listen(0);
  const own = (server.address() as AddressInfo).port;
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `postgresql://${user}:${password}@127.0.0.1:${own}/${client.database}`,
    connections,
    async cut() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      destroyAll();
      await closed;
    },
    fallSilent() {
      isSilent = true;
      for (const socket of sockets) socket.unpipe();
    },
    async mend() {
      isSilent = false;
      destroyAll();
      if (!server.listening) await listen(own);
    },
  };
}
