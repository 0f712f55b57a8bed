/**
 * A client process of its own (node:child_process fork), so that the CPU it uses is not the server's. It holds its
 * connections open and does one piece of load after another as messages ask: at a fixed rate, with latencies from the
 * intended send times, or as fast as answers come.
 */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export type Target = {
  url: string;
  token: string;
  /** Sent in turn. */
  bodies: object[];
};
export type Piece = Target & ({ everyMs: number; count: number } | { connections: number; ms: number });
export type Answered = {
  /** ms */
  latencies: number[];
  /** How many answers of each status, outcome and reason. */
  answers: Record<string, number>;
};

const agents = Array.from({ length: 64 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
const pool = new Agent({ keepAlive: true });

function ask(agent: Agent, { url, token }: Target, body: unknown, answers: Record<string, number>): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const call = request(url, { method: 'POST', agent, headers }, (response) => {
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

async function atRate(target: Target, everyMs: number, count: number): Promise<Answered> {
  const [answers, latencies]: [Record<string, number>, number[]] = [{}, []];
  const started = performance.now();
  const asked: Promise<void>[] = [];
  for (let index = 0; index < count; index++) {
    const due = started + index * everyMs;
    const waitMs = due - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    const body = target.bodies[index % target.bodies.length];
    asked.push(ask(pool, target, body, answers).then(() => void latencies.push(performance.now() - due)));
  }
  await Promise.all(asked);
  return { answers, latencies };
}

async function asFast(target: Target, connections: number, ms: number): Promise<Answered> {
  const [answers, latencies]: [Record<string, number>, number[]] = [{}, []];
  const until = performance.now() + ms;
  const one = async (agent: Agent, index: number) => {
    for (let n = index; performance.now() < until; n++) {
      const started = performance.now();
      await ask(agent, target, target.bodies[n % target.bodies.length], answers);
      latencies.push(performance.now() - started);
    }
  };
  await Promise.all(agents.slice(0, connections).map(one));
  return { answers, latencies };
}

process.on('message', (piece: Piece) => {
  const done =
    'count' in piece ? atRate(piece, piece.everyMs, piece.count) : asFast(piece, piece.connections, piece.ms);
  done.then(
    (answered) => process.send?.(answered),
    (error: Error) => {
      throw error;
    },
  );
});
