/** Owns reading entries that Postgres has written as lines of JSON, which costs us a third of what rows of `pg` cost (store.ts). */
import type { RegisterEvent } from './schema.ts';

/** @param lines RegisterEvents as JSON, each with a line feed behind it */
export function eventsIn(lines: string): RegisterEvent[] {
  return lines === '' ? [] : (JSON.parse(`[${lines.slice(0, -1).replaceAll('\n', ',')}]`) as RegisterEvent[]);
}
