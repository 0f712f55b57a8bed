/**
 * Verifying: the chain is computed anew from the entries' fields and compared with what is stored and signed. Only the
 * newest checkpoint's signature matters, because its hash covers everything before; the others say where the first wrong
 * entry is when it does not hold.
 */
import type { JWK } from 'jose';
import type { Database, Transaction } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { readLastingPublicKey } from '../keys/index.ts';
import { type Checkpoint, openCheckpoint } from './checkpoint.ts';
import { diagnose, type FirstBad, type Placed } from './diagnose.ts';
import { genesis, leafOf } from './digest.ts';
import { follows, isPersonal, type SealedLine, sealedRow } from './line.ts';
import { ledgerProblem } from './problems.ts';
import { type HeadRow, hasHashAt, type Mark, readCheckpoints, readHead, readSealed, readUnsigned } from './store.ts';

type VerifyServices = { database: Database };

type VerifyOptions = {
  /** A checkpoint that was kept: what it signed has to be there still. */
  earlier?: string;
  /** Told after each page how many entries of how many are verified. */
  onProgress?: (entries: number, of: number) => void;
  /** Ends the verification. */
  signal?: AbortSignal;
};

/** @property entries how many are as they were sealed, from the first on; `checkpoint` the newest, absent when nothing is sealed */
export type Verification = { valid: boolean; entries: number; checkpoint?: string; firstBad?: FirstBad };

/**
 * Verifies what is sealed of a tenant's ledger when this begins. The numbers are those of RegisterEvent.sequence. One
 * transaction of many statements, each of which sees what is committed: nothing is held up meanwhile but its connection.
 * @throws Problem checkpoint_invalid when `earlier` is no checkpoint of this tenant; the signal's reason
 */
export function verifyLedger(
  services: VerifyServices,
  tenant: string,
  options: VerifyOptions = {},
): Promise<Verification> {
  return services.database.tenant(tenant, (tx) => verifyIn(tx, tenant, options));
}

async function verifyIn(tx: Transaction, tenant: string, options: VerifyOptions): Promise<Verification> {
  const open: Open = (signed) => openCheckpoint(signed, tenant, (kid) => publicKey(tx, tenant, kid));
  const earlier = options.earlier === undefined ? undefined : await open(options.earlier);
  if (options.earlier !== undefined && earlier === undefined) throw ledgerProblem('checkpoint_invalid');
  const head = await readHead(tx, tenant);
  const checkpoint = head === undefined ? {} : { checkpoint: head.signed };
  const chain = await computeChain(tx, tenant, { last: head?.last ?? 0, earlier, options });
  const firstBad =
    chain.firstBad ??
    (head === undefined ? undefined : await badSignature(tx, tenant, head, open)) ??
    (await strayEntry(tx, tenant)) ??
    cutBefore(earlier, chain.entries);
  if (firstBad === undefined) return { valid: true, entries: chain.entries, ...checkpoint };
  const entries = Math.min(chain.entries, firstBad.sequence - 1);
  return { valid: false, entries, ...checkpoint, firstBad };
}

async function publicKey(tx: Transaction, tenant: string, kid: string): Promise<JWK | undefined> {
  return (await readLastingPublicKey(tx, tenant, 'checkpoint', kid))?.public_jwk;
}

type Page = { lines: SealedLine[]; checkpoints: Mark[]; upTo: number };
type Extent = { last: number; earlier: Checkpoint | undefined; options: VerifyOptions };
type Chain = { entries: number; firstBad?: FirstBad };

/**
 * Hashes page after page. Two are asked for ahead: Postgres makes the second while the first comes and is hashed, and what
 * is issued in the turn of the event loop that hashes leaves only after it.
 */
async function computeChain(tx: Transaction, tenant: string, extent: Extent): Promise<Chain> {
  const { last, earlier, options } = extent;
  let hash = genesis(tenant);
  const ahead: Promise<Page>[] = [];
  let asked = 0;
  const ask = () => {
    if (asked === last) return;
    ahead.push(readPage(tx, tenant, asked, last));
    asked = Math.min(asked + limits.ledgerVerifyPageItemsMax, last);
  };
  ask();
  ask();
  try {
    for (let done = 0; done < last; ) {
      options.signal?.throwIfAborted();
      const page = (await ahead[0]) as Page;
      ahead.shift();
      ask();
      const checked = checkPage(hash, done, page, earlier);
      if (typeof checked === 'number') {
        const before = page.lines[checked - done - 2]?.[0]; // of an entry that was found to be right
        const firstBad = await diagnoseAt(tx, tenant, before ?? hash, checked);
        return { entries: checked - 1, firstBad };
      }
      if ('problem' in checked) return { entries: checked.sequence - 1, firstBad: checked };
      hash = checked.hash;
      done = page.upTo;
      options.onProgress?.(done, last);
    }
    return { entries: last };
  } finally {
    await Promise.allSettled(ahead);
  }
}

async function readPage(tx: Transaction, tenant: string, after: number, last: number): Promise<Page> {
  const upTo = Math.min(after + limits.ledgerVerifyPageItemsMax, last);
  return { ...(await readSealed(tx, tenant, after, upTo)), upTo };
}

/** The chain's hash behind the page; or what is wrong; or the number of the first entry that does not follow. */
function checkPage(
  before: string,
  after: number,
  page: Page,
  earlier: Checkpoint | undefined,
): { hash: string } | FirstBad | number {
  const { checkpoints } = page;
  let hash = before;
  let expected = after + 1;
  let next = 0;
  for (const line of page.lines) {
    const sequence = Number(line[3]);
    if (sequence !== expected) return Math.min(sequence, expected); // a second one of its number, or a gap
    if (!follows(hash, line)) return sequence;
    hash = line[0];
    if (!isPersonal(line)) return { sequence, id: line[2], problem: 'changed' };
    const checkpoint = checkpoints[next];
    if (checkpoint?.last === sequence) {
      if (hash !== checkpoint.hash) return { sequence: checkpoint.first, problem: 'rewritten' };
      next++;
    }
    if (earlier?.last === sequence && hash !== earlier.hash) return { sequence: earlier.first, problem: 'rewritten' };
    expected++;
  }
  return expected <= page.upTo ? expected : { hash };
}

/** What is at the number of the first entry that does not follow. @param before the chain's hash up to it */
async function diagnoseAt(tx: Transaction, tenant: string, before: string, sequence: number): Promise<FirstBad> {
  const { lines, checkpoints } = await readSealed(tx, tenant, sequence - 1, Number.MAX_SAFE_INTEGER);
  const [checkpoint] = checkpoints;
  const anchored = checkpoint !== undefined && (await hasHashAt(tx, tenant, checkpoint.last, checkpoint.hash));
  const placed = lines.map(sealedRow).map((row): Placed => ({ ...row, leaf: leafOf(row) }));
  return diagnose(before, sequence, placed, anchored);
}

type Open = (signed: string) => Promise<Checkpoint | undefined>;

/** Undefined when the newest checkpoint is signed as it stands; otherwise the first that is not. */
async function badSignature(tx: Transaction, tenant: string, head: HeadRow, open: Open): Promise<FirstBad | undefined> {
  if ((await signatureProblem(head, open)) === undefined) return undefined;
  for (let after = 0; ; ) {
    const checkpoints = await readCheckpoints(tx, tenant, after, head.last);
    for (const checkpoint of checkpoints) {
      const problem = await signatureProblem(checkpoint, open);
      if (problem !== undefined) return { sequence: checkpoint.first, problem };
      after = checkpoint.last;
    }
    if (checkpoints.length === 0) return { sequence: head.first, problem: 'unsigned' };
  }
}

async function signatureProblem(row: HeadRow, open: Open): Promise<'unsigned' | 'rewritten' | undefined> {
  const said = await open(row.signed);
  if (said === undefined) return 'unsigned';
  return said.last === row.last && said.hash === row.hash ? undefined : 'rewritten';
}

async function strayEntry(tx: Transaction, tenant: string): Promise<FirstBad | undefined> {
  const stray = await readUnsigned(tx, tenant);
  return stray && { ...stray, problem: 'unsigned' };
}

function cutBefore(earlier: Checkpoint | undefined, entries: number): FirstBad | undefined {
  return earlier !== undefined && earlier.last > entries ? { sequence: entries + 1, problem: 'cut' } : undefined;
}
