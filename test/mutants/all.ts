import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Fault } from './fault.ts';

const folder = join(import.meta.dirname, 'faults');

/** All faults, by the name of their part. */
export async function allFaults(): Promise<Fault[]> {
  const files = readdirSync(folder).sort();
  const parts = await Promise.all(files.map((file) => import(`./faults/${file}`) as Promise<{ faults: Fault[] }>));
  return parts.flatMap(({ faults }) => faults);
}
