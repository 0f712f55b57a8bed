/** How a benchmark prints: a table, one line for each target, and how noisy the machine was. */
import { loadavg } from 'node:os';

/** Prints rows under a header, columns aligned. */
export function table(header: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  const lines = [header, ...rows].map((row) => row.map(String));
  const widths = header.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)));
  for (const line of lines) {
    console.log(
      line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  '),
    );
  }
}

/** One line of a target, and the process's exit code when it is missed. */
export function target(name: string, bound: string, measured: string, ok: boolean): void {
  console.log(`target ${name} ${bound}: measured ${measured} (${ok ? 'ok' : 'MISSED'})`);
  if (!ok) process.exitCode = 1;
}

/** The value below which the share `p` (0 to 1) of the values lies. */
export function percentile(values: readonly number[] | Float64Array, p: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? Number.NaN;
}

export const median = (values: readonly number[] | Float64Array): number => percentile(values, 0.5);

/** How much the rounds of one run differ, and what else the machine does. */
export function noise(rounds: readonly number[]): string {
  const low = percentile(rounds, 0.1);
  const high = percentile(rounds, 0.9);
  return `rounds ${low.toFixed(2)} to ${high.toFixed(2)} (p10 to p90 of ${rounds.length}), load ${loadavg()[0]?.toFixed(1)}`;
}
