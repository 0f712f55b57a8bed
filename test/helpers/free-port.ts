import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Systems give ports above these to whoever asks for any: no outgoing connection takes one of ours before it is used. */
const PORTS = [10_000, 32_000] as const;

/** A port on which nobody listens. @param wanted this one and no other @throws Error when somebody listens on the one that is wanted */
export async function freePort(wanted?: number): Promise<number> {
  for (;;) {
    const server = createServer().listen(wanted ?? randomInt(...PORTS), '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch (error) {
      if (wanted !== undefined) throw error;
      continue;
    }
    const { port } = server.address() as { port: number };
    server.close();
    await once(server, 'close');
    return port;
  }
}
