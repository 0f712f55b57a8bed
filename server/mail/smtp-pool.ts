/** The connections to one mail server, and whose turn it is to use one. */
import type { Socket } from 'node:net';
import type { Transporter } from 'nodemailer';

/** To one mail server, from this server. */
export const CONNECTIONS = 2;

export type Pool = {
  transporter: Transporter;
  sockets: Set<Socket>;
  turns: Turns;
  /** Nothing new is sent by it; it is ended when nothing is under way. */
  isClosing: boolean;
  isEnded: boolean;
};

/** Who waits for a connection has it in the order of asking. */
export class Turns {
  readonly #atOnce: number;
  readonly #waiting = new Set<(isOnes: boolean) => void>();
  #free: number;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
    this.#free = atOnce;
  }

  /** Nobody has a turn, and nobody waits for one. */
  get isIdle(): boolean {
    return this.#free === this.#atOnce;
  }

  /** @param signal aborted when it is no longer waited for @returns whether it is one's turn; who has one ends it */
  async take(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#free > 0) {
      this.#free--;
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const giveUp = () => {
      if (this.#waiting.delete(resolve)) resolve(false);
    };
    this.#waiting.add(resolve);
    signal.addEventListener('abort', giveUp, { once: true });
    return promise.finally(() => signal.removeEventListener('abort', giveUp));
  }

  end(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free++;
    else {
      this.#waiting.delete(next);
      next(true);
    }
  }
}

export function endTurn(pool: Pool): void {
  pool.turns.end();
  if (pool.isClosing && pool.turns.isIdle) end(pool);
}

/** What is under way is finished first. */
export function close(pool: Pool): void {
  pool.isClosing = true;
  if (pool.turns.isIdle) end(pool);
}

/** What is under way is cut off. */
export function end(pool: Pool): void {
  pool.isEnded = true;
  pool.transporter.close();
  for (const socket of pool.sockets) socket.destroy();
}
