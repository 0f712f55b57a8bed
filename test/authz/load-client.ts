/**
 * A client process of its own, so that the CPU it uses is not the server's: keep-alive connections that either ask at
 * a fixed rate (latency from the intended send time) or as fast as answers come. One JSON line in, one out.
 */
import { Agent, request } from 'node:http';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

export type Load = {
  url: string;
  token: string;
  /** Sent in turn. */
  bodies: object[];
  /** For a fixed rate: this many requests, one every so many ms. */
  open?: { everyMs: number; count: number };
  /** As fast as answers come. */
  closed?: { connections: number; ms: number };
};
export type Answered = {
  /** Sorted, ms. */
  latencies: number[];
  /** How many answers of each status and outcome with reason. */
  answers: Record<string, number>;
};

const load = JSON.parse(process.argv[2] as string) as Load;
const answers: Record<string, number> = {};
const latencies: number[] = [];

function ask(agent: Agent, body: object): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${load.token}`, 'content-type': 'application/json' };
    const call = request(load.url, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      response.on('end', () => {
        const { outcome, reason, code } = JSON.parse(text) as Record<string, string>;
        const answer = `${response.statusCode} ${outcome ?? code}${reason ? ` ${reason}` : ''}`;
        answers[answer] = (answers[answer] ?? 0) + 1;
        resolve();
      });
    });
    call.once('error', reject);
    call.end(JSON.stringify(body));
  });
}

async function open({ everyMs, count }: NonNullable<Load['open']>): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const started = performance.now();
  const asked: Promise<void>[] = [];
  for (let index = 0; index < count; index++) {
    const due = started + index * everyMs;
    const waitMs = due - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    const body = load.bodies[index % load.bodies.length] as object;
    asked.push(ask(agent, body).then(() => void latencies.push(performance.now() - due)));
  }
  await Promise.all(asked);
  agent.destroy();
}

async function closed({ connections, ms }: NonNullable<Load['closed']>): Promise<void> {
  setPriority(10); // attackers sit on other machines: they must not take the victim's client's CPU
  const until = performance.now() + ms;
  const attacker = async (index: number) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let n = index; performance.now() < until; n++) {
      const started = performance.now();
      await ask(agent, load.bodies[n % load.bodies.length] as object);
      latencies.push(performance.now() - started);
    }
    agent.destroy();
  };
  await Promise.all(Array.from({ length: connections }, (_, index) => attacker(index)));
}

if (load.open) await open(load.open);
if (load.closed) await closed(load.closed);
latencies.sort((a, b) => a - b);
process.stdout.write(`${JSON.stringify({ latencies, answers } satisfies Answered)}\n`);
