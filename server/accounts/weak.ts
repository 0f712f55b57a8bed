/**
 * The weak list: passwords that attackers try first, as a Bloom filter that weak-generate.ts makes of a list of common ones. It may
 * take a good password for a weak one once in ten thousand times, and never the other way round.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { WeakList } from './rules.ts';

const FILE = new URL('./weak-passwords.bloom', import.meta.url);

/** The bits of a text: double hashing (Kirsch and Mitzenmacher) over SHA-256. */
function* bitsOf(text: string, hashes: number, bits: number): Generator<number> {
  const digest = createHash('sha256').update(text).digest();
  const [first, step] = [digest.readUIntBE(0, 6), digest.readUIntBE(6, 6)];
  for (let i = 0; i < hashes; i++) yield (first + i * step) % bits;
}

/** A filter of all of them: a byte that says how many hashes, and the bits. */
export function makeWeakList(passwords: readonly string[], wrongOnceIn: number): Buffer {
  const bytes = Math.ceil((-passwords.length * Math.log(1 / wrongOnceIn)) / Math.LN2 ** 2 / 8);
  const hashes = Math.round(Math.log2(wrongOnceIn));
  const filter = Buffer.alloc(1 + bytes);
  filter[0] = hashes;
  for (const password of passwords) {
    for (const bit of bitsOf(password, hashes, bytes * 8)) filter[1 + (bit >> 3)]! |= 1 << (bit & 7);
  }
  return filter;
}

export function readWeakList(filter: Uint8Array = readFileSync(FILE)): WeakList {
  const [hashes = 0, bits] = [filter[0], (filter.length - 1) * 8];
  return {
    has(password) {
      for (const bit of bitsOf(password, hashes, bits)) {
        if (((filter[1 + (bit >> 3)] as number) & (1 << (bit & 7))) === 0) return false;
      }
      return true;
    },
  };
}
