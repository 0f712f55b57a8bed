/**
 * Where the values of a plan's locals come from, as far as it matters for relationships: the input, input.graph and
 * its sides, an entry of a side, and the id and type of the request's subject and resource. Each local has every origin
 * that it may have anywhere in a block, whichever way the block is run.
 */
import { partsOf } from './parts.ts';
import type { Block, Operand, Statement } from './source.ts';

export type Side = 'subject' | 'resource';
/** `#n`: of the entry that scan n is at; `literal.n`: the plan's string n, where a function is given it. */
export type Origin =
  | 'other'
  | 'input'
  | 'graph'
  | `side.${Side}`
  | `entity.${Side}`
  | `term.${Side}.${'id' | 'type'}`
  | `literal.${number}`
  | `${'key' | 'entry' | 'far' | 'name' | 'type' | 'id'}#${number}`;

export type Scan = { number: number; statement: Extract<Statement, ['scan', ...unknown[]]> };
/** A statement, and the scans that it is in, outermost first. */
export type Placed = { statement: Statement; within: readonly Scan[]; scan?: Scan };
export type Origins = ReadonlyMap<number, ReadonlySet<Origin>>;

/** All statements of a block, those of the blocks inside too. */
export function placed(block: Block): Placed[] {
  const found: Placed[] = [];
  let scans = 0;
  const walk = (statements: Block, within: readonly Scan[]): void => {
    for (const statement of statements) {
      const scan = statement[0] === 'scan' ? { number: scans++, statement } : undefined;
      found.push(scan === undefined ? { statement, within } : { statement, within, scan });
      for (const inner of partsOf(statement).blocks) walk(inner, scan === undefined ? within : [...within, scan]);
    }
  };
  walk(block, []);
  return found;
}

/**
 * The origins of the locals of a block.
 * @param params of its function: the input first
 * @param given what the function is called with: by a scan of the side, which is at an entry
 */
export function originsOf(
  statements: readonly Placed[],
  params: readonly number[],
  strings: readonly string[],
  given?: { origins: readonly Origin[]; scan: number; side: Side },
): Origins {
  const origins = new Map<number, Set<Origin>>(
    params.map((param, i) => [param, new Set([given?.origins[i] ?? (i === 0 ? 'input' : 'other')])]),
  );
  let changed = true;
  const add = (local: number, more: Iterable<Origin>): void => {
    const held = origins.get(local) ?? new Set();
    origins.set(local, held);
    for (const origin of more) {
      if (held.has(origin)) continue;
      held.add(origin);
      changed = true;
    }
  };
  const of = (operand: Operand): Iterable<Origin> => (typeof operand === 'number' ? (origins.get(operand) ?? []) : []);
  const scanned = new Map(statements.flatMap(({ scan }) => (scan ? [[scan.number, scan.statement[1]]] : [])));
  // Which side a scan goes over is among the origins of what it goes over.
  const sideOf = (scan: number): readonly Side[] => {
    if (scan === given?.scan) return [given.side];
    const at = scanned.get(scan);
    return (['subject', 'resource'] as const).filter(
      (side) => at !== undefined && origins.get(at)?.has(`side.${side}`),
    );
  };
  while (changed) {
    changed = false;
    for (const { statement, scan } of statements) {
      if (scan !== undefined) {
        const [, from, key, value] = scan.statement;
        const isSide = [...of(from)].some((origin) => origin.startsWith('side.'));
        add(key, [isSide ? `key#${scan.number}` : 'other']);
        add(value, [isSide ? `entry#${scan.number}` : 'other']);
      } else if (statement[0] === 'assign') {
        add(statement[2], typeof statement[1] === 'number' ? of(statement[1]) : ['other']);
      } else if (statement[0] === 'dot') {
        const name = nameOf(statement[2], strings);
        for (const origin of of(statement[1])) add(statement[3], [member(origin, name, sideOf)]);
      } else {
        for (const local of partsOf(statement).writes) add(local, ['other']);
      }
    }
  }
  return origins;
}

/** The only origin that an operand can have. */
export function only(operand: Operand, origins: Origins): Origin | undefined {
  const held = typeof operand === 'number' ? origins.get(operand) : undefined;
  return held?.size === 1 ? [...held][0] : undefined;
}

/** The text of a constant string, such as a look-up's name. */
export function nameOf(operand: Operand, strings: readonly string[]): string | undefined {
  return Array.isArray(operand) ? strings[operand[0]] : undefined;
}

function member(origin: Origin, name: string | undefined, sideOf: (scan: number) => readonly Side[]): Origin {
  const [kind, scan] = origin.split('#') as [string, string?];
  const isSide = name === 'subject' || name === 'resource';
  if (kind === 'input') return name === 'graph' ? 'graph' : isSide ? `entity.${name}` : 'other';
  if (kind === 'graph') return isSide ? `side.${name}` : 'other';
  if (kind === 'entity.subject' || kind === 'entity.resource') {
    if (name !== 'id' && name !== 'type') return 'other';
    return kind === 'entity.subject' ? `term.subject.${name}` : `term.resource.${name}`;
  }
  const number = Number(scan);
  if (kind === 'entry') {
    if (name === 'type' || name === 'relationshipType') return `name#${number}`;
    const [side, ...others] = sideOf(number);
    const far = side === 'subject' ? 'to' : 'from';
    return others.length === 0 && name === far ? `far#${number}` : 'other';
  }
  return kind === 'far' && (name === 'id' || name === 'type') ? `${name}#${number}` : 'other';
}
