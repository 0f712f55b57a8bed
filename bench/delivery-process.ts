/**
 * Processes beside bench/deliveries.ts. `endpoint`: receives events on this machine; /hang never answers. `bare`: what one process
 * can send to it at most, signed, by undici alone.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { signerOf } from '../server/events/index.ts';

/** What `bare` sends, from which the body of a CloudEvent of the benchmark differs in its numbers only. */
const BODY = JSON.stringify({
  ...{ specversion: '1.0', id: '01a2097e-bd83-766c-b118-05a68f2cd835', source: 'http://accord.bench/bench0' },
  ...{ type: 'RELATIONSHIP_CREATED', time: '2026-11-25T12:00:00.000Z', subject: 'car/1', partitionkey: 'car/1' },
  ...{ datacontenttype: 'application/json', sequence: '0000000000000010' },
  data: {
    ...{ requestor: 'client:bench', from: { type: 'user', id: 'user-1' }, relationshipType: 'may_use' },
    to: { type: 'car', id: 'car-1' },
  },
});
const sign = signerOf([`whsec_${Buffer.alloc(32, 1).toString('base64')}`]);

function serveEndpoint(): void {
  let [count, isTimed] = [0, false];
  let received: [key: string, ns: string][] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url === '/hang') return;
      count++;
      if (isTimed) {
        const at = String(process.hrtime.bigint());
        received.push([(JSON.parse(Buffer.concat(chunks).toString()) as { partitionkey: string }).partitionkey, at]);
      }
      response.writeHead(204).end();
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
  process.on('message', (message) => {
    if (message === 'count') return process.send?.(count);
    if (message === 'stop') process.exit(0);
    isTimed = message === 'time';
    const taken = received;
    received = [];
    return process.send?.(taken);
  });
}

/** Sends for some seconds over as many connections as ten lanes have. */
async function sendBare(url: string): Promise<{ perSecond: number; cpuUs: number }> {
  const pools = Array.from({ length: 10 }, () => new Pool(url, { connections: 8, pipelining: 1 }));
  const [started, cpu] = [performance.now(), process.cpuUsage()];
  let sent = 0;
  const work = async (pool: Pool) => {
    while (performance.now() - started < 4000) {
      const seconds = Math.floor(Date.now() / 1000);
      const headers = {
        ...{ 'content-type': 'application/cloudevents+json', 'user-agent': 'accord' },
        ...sign({ id: `e${sent}`, seconds, body: BODY }),
      };
      const { body } = await pool.request({ method: 'POST', path: '/ok', headers, body: BODY });
      await body.dump();
      sent++;
    }
  };
  await Promise.all(pools.flatMap((pool) => Array.from({ length: 8 }, () => work(pool))));
  const used = process.cpuUsage(cpu);
  const seconds = (performance.now() - started) / 1000;
  await Promise.all(pools.map((pool) => pool.close()));
  return { perSecond: sent / seconds, cpuUs: (used.user + used.system) / sent };
}

if (process.argv[2] === 'endpoint') serveEndpoint();
else {
  process.on('message', async (message) => {
    if (message === 'stop') process.exit(0);
    process.send?.(await sendBare(message as string));
  });
  process.send?.('up');
}
process.on('disconnect', () => process.exit(1));
