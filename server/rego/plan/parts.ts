/** What a statement of a plan reads and writes, and which blocks are in it, for whoever looks at plans without running them. */
import type { Block, Operand, Statement } from './source.ts';

/** `reads` also has the containers that a statement adds to. */
type Parts = { reads: readonly Operand[]; writes: readonly number[]; blocks: readonly Block[] };

const parts = (reads: readonly Operand[], writes: readonly number[] = [], blocks: readonly Block[] = []): Parts => ({
  reads,
  writes,
  blocks,
});

export function partsOf(one: Statement): Parts {
  switch (one[0]) {
    case 'block':
      return parts([], [], one[1]);
    case 'not':
      return parts([], [], [one[1]]);
    case 'with':
      return parts([one[1], one[3]], [], [one[4]]);
    case 'scan':
      return parts([one[1]], [one[2], one[3]], [one[4]]);
    case 'call':
      return parts(one[2], [one[3]]);
    case 'dynamic':
      return parts([...one[1], ...one[2]], [one[3]]);
    default:
      return plainParts(one);
  }
}

function plainParts(
  one: Exclude<Statement, ['block' | 'not' | 'with' | 'scan' | 'call' | 'dynamic', ...unknown[]]>,
): Parts {
  switch (one[0]) {
    case 'result':
    case 'return':
    case 'isDefined':
    case 'isUndefined':
    case 'isArray':
    case 'isObject':
    case 'isSet':
      return parts([one[1]]);
    case 'null':
    case 'array':
    case 'object':
    case 'set':
    case 'reset':
      return parts([], [one[1]]);
    case 'integer':
    case 'number':
      return parts([], [one[2]]);
    case 'assign':
    case 'len':
      return parts([one[1]], [one[2]]);
    case 'append':
    case 'add':
    case 'assignOnce':
      return parts([one[1], one[2]], [one[2]]);
    case 'dot':
    case 'merge':
      return parts([one[1], one[2]], [one[3]]);
    case 'insert':
    case 'insertOnce':
      return parts([one[1], one[2], one[3]], [one[3]]);
    case 'equal':
    case 'notEqual':
      return parts([one[1], one[2]]);
    case 'break':
    case 'nop':
      return parts([]);
  }
}

/** How often each local is read in a block and all blocks inside. */
export function readCounts(block: Block, counts: Map<number, number> = new Map()): Map<number, number> {
  for (const one of block) {
    const { reads, blocks } = partsOf(one);
    for (const read of reads) if (typeof read === 'number') counts.set(read, (counts.get(read) ?? 0) + 1);
    for (const inner of blocks) readCounts(inner, counts);
  }
  return counts;
}
