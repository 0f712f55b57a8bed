/**
 * Measuring another checkout in turns with this one: each round of each is a process of its own, which loads the modules of its
 * checkout, and has a Postgres of its own.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type pg from 'pg';
import { median, noise, table, target } from './report.ts';

// biome-ignore lint/suspicious/noExplicitAny: modules of another commit have other types
export type Load = (path: string) => Promise<any>;

/** @param root of a checkout @returns what imports its modules */
export const loader =
  (root: string): Load =>
  (path) =>
    import(join(root, path));

const TICKS_A_SECOND = 100; // of /proc

/** Seconds of CPU of Postgres: of its processes, and of those of them that have ended. */
export function postgresCpu(postmaster: number): number {
  let ticks = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // Behind the name: state, parent, … user, system, those of children that have ended.
      const stat = text.slice(text.lastIndexOf(')') + 2).split(' ');
      const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = stat.slice(11, 15).map(Number);
      if (Number(pid) === postmaster) ticks += user + system + endedUser + endedSystem;
      else if (Number(stat[1]) === postmaster) ticks += user + system;
    } catch {} // it has ended
  }
  return ticks / TICKS_A_SECOND;
}

/** The process id of the Postgres that a client is connected to, on this machine. */
export async function postmasterOf(admin: pg.Client): Promise<number> {
  const { rows } = await admin.query('select current_setting($1) as directory', ['data_directory']);
  return Number.parseInt(readFileSync(join(rows[0].directory, 'postmaster.pid'), 'utf8'), 10);
}

type Turns<K extends string> = {
  /** The benchmark, which starts itself for each round. */
  file: string;
  /** What its own process is started with, besides `--measure ROOT`. */
  args: readonly string[];
  /** Absent: this checkout alone. */
  other: string | undefined;
  /** Absent in the process that asks for the rounds. */
  measure: string | undefined;
  rounds: number;
  kinds: readonly K[];
  /** Of which no round may be more than a tenth above the other checkout's: the median of the ratios. */
  bounded: readonly K[];
};

/** @param measured of the checkout at a root, whose modules are loaded by `load` */
export async function inTurns<K extends string>(
  { file, args, other, measure, rounds, kinds, bounded }: Turns<K>,
  measured: (load: Load) => Promise<Record<K, number>>,
): Promise<void> {
  if (measure !== undefined) {
    console.log(JSON.stringify(await measured(loader(resolve(measure)))));
    process.exit();
  }
  const roots = [join(import.meta.dirname, '..'), ...(other === undefined ? [] : [resolve(other)])];
  const found: Record<K, number>[][] = roots.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, root] of roots.entries()) {
      const started = [...process.execArgv, file, '--measure', root, ...args];
      const printed = execFileSync(process.execPath, started, { encoding: 'utf8' }).trim().split('\n');
      found[i]?.push(JSON.parse(printed.at(-1) as string));
    }
  }
  const of = (i: number, kind: K) => (found[i] ?? []).map((one) => one[kind]);
  const isCompared = roots.length > 1;
  table(
    ['median of rounds', 'this', ...(isCompared ? ['other', 'this / other'] : []), 'noise'],
    kinds.map((kind) => {
      const [ours, others] = [median(of(0, kind)), median(of(1, kind))];
      const beside = isCompared ? [others.toFixed(2), (ours / others).toFixed(3)] : [];
      return [kind, ours.toFixed(2), ...beside, noise(of(0, kind))];
    }),
  );
  if (!isCompared) return;
  for (const kind of bounded) {
    const slower = median(of(0, kind).map((ours, i) => ours / (of(1, kind)[i] as number)));
    target(kind, '≤ 1.10 times the other', slower.toFixed(3), slower <= 1.1);
  }
}
