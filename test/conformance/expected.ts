/**
 * expected.txt: one line for each case that does not pass, `case <tab> outcome <tab> why`, in the order of the
 * cases. The why is written by a person for failures; for an unsupported builtin it is the builtin's name.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Outcome, Verdict } from './judge.ts';

const FILE = new URL('expected.txt', import.meta.url);

export type Expected = Map<string, { outcome: Outcome; why: string }>;

/** The list by case. Throws on a line that is not one, or names a case twice. */
export function readExpected(): Expected {
  const expected: Expected = new Map();
  for (const line of readFileSync(FILE, 'utf8').split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [key, outcome, why] = line.split('\t');
    if (!key || !outcome || !why || expected.has(key))
      throw new Error(`expected.txt: bad line ${JSON.stringify(line)}`);
    expected.set(key, { outcome: outcome as Outcome, why });
  }
  return expected;
}

/** Writes what happened, keeping the reasons of what did not change. New failures are left for a person to explain. */
export function writeExpected(verdicts: Map<string, Verdict>, before: Expected): void {
  const lines = ['# Cases of OPA that do not pass here. See expected.ts; `run.ts --update` writes this file.'];
  for (const [key, { outcome, detail }] of verdicts) {
    if (outcome === 'pass' || outcome === 'undefined') continue;
    const known = before.get(key);
    const why = outcome === 'unsupported' ? detail : known?.outcome === outcome ? known.why : 'unexplained';
    lines.push(`${key}\t${outcome}\t${why}`);
  }
  writeFileSync(FILE, `${lines.join('\n')}\n`);
}
