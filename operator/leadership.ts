/**
 * What leading is to the operator: at most one of those who follow a source writes what it says. How one comes to lead
 * differs: a lock in the database for files (lock.ts), a Lease for Kubernetes (kubernetes/lease.ts). With either, writes are
 * bound to a term in Postgres (terms.ts).
 */

export type LeadershipCallbacks = {
  /** Begin to work. Rejecting gives the leadership back; it is tried for again. */
  started: () => Promise<void>;
  /** Begin nothing more. */
  stopped: () => void;
  /** Why this one does not lead; told once for each reason. */
  waiting: (message: string) => void;
};

/** Tries to lead in the background until closed; closing lets the next one lead at once. */
export type Leadership = (callbacks: LeadershipCallbacks) => { close(): Promise<void> };

type WorkOfLeader = {
  /** Reads what the work begins with. @returns what begins it, unless the leadership was lost meanwhile */
  begin: () => Promise<() => void>;
  end: () => void;
  waiting: (message: string) => void;
};

/** Works while it leads, and only then. */
export function workWhileLeading(lead: Leadership, { begin, end, waiting }: WorkOfLeader) {
  let isLeading = false;
  let losses = 0;
  const leading = lead({
    started: async () => {
      const before = losses;
      const start = await begin();
      if (losses !== before) return;
      isLeading = true;
      start();
    },
    stopped: () => {
      losses += 1;
      isLeading = false;
      end();
    },
    waiting,
  });
  return {
    get isLeading() {
      return isLeading;
    },
    close: () => leading.close(),
  };
}
