/**
 * One side of bench/fairness.ts, the victim or the attacker, in a process of its own: it keeps connections open and
 * asks as fast as it is answered, for as long as each message says.
 */
import { type Connection, openConnections } from './load.ts';

export type Piece = { port: number; connections: number; ms: number; requests: string[] };
/** `answers`: how many of each status, outcome and reason. */
export type Asked = { latenciesMs: number[]; answers: Record<string, number> };

const open: Connection[] = [];

async function ask({ port, connections, ms, requests }: Piece): Promise<Asked> {
  if (open.length < connections) open.push(...(await openConnections(port, connections - open.length)));
  const bodies = requests.map((request) => Buffer.from(request, 'latin1'));
  const [latenciesMs, answers]: [number[], Record<string, number>] = [[], {}];
  const until = performance.now() + ms;
  let next = 0;
  const one = async (connection: Connection) => {
    while (performance.now() < until) {
      const started = performance.now();
      const { status, body } = await connection.ask(bodies[next++ % bodies.length] as Buffer);
      latenciesMs.push(performance.now() - started);
      const answer = `${status} ${summary(body)}`;
      answers[answer] = (answers[answer] ?? 0) + 1;
    }
  };
  await Promise.all(open.slice(0, connections).map(one));
  return { latenciesMs, answers };
}

/** Of a batch, its first decision: parsing all of it would take this process's time. */
function summary(body: string): string {
  const reason = /"(?:reason|code)":"(\w+)"/.exec(body)?.[1];
  const outcome = /"outcome":"(\w+)"/.exec(body)?.[1] ?? '';
  return reason === undefined ? outcome : `${outcome} ${reason}`.trim();
}

process.on('message', (piece: Piece) => {
  ask(piece).then(
    (asked) => process.send?.(asked),
    (error: Error) => {
      throw error;
    },
  );
});
process.on('disconnect', () => process.exit(1));
