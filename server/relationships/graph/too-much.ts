/** What there is too much of for a decision, which then is a deny: said so that one knows which bound it was, and where. */
import { limits } from '../../core/limits.ts';
import type { Denial } from '../../facts/index.ts';
import type { Walk } from './query.ts';
import type { Edge } from './schema.ts';

/** A part of a sentence: more than 1000 relationships. */
export type TooMuch = string;

export function tooLarge(side: 'subject' | 'resource', what: TooMuch): Denial {
  return { reason: 'graph_too_large', detail: `the ${side} has ${what}` };
}

/** Of a walk that ended before the relationship that was asked for. */
export function tooMuchBefore({ from, name, to }: Walk): TooMuch {
  const { factsEdgesMax } = limits;
  return `more than ${factsEdgesMax} stored relationships on the inheritance paths of ${from.type}:${name}:${to.type}`;
}

/** Which types of stored relationships there are many of. */
export function tooMuchOf(edges: readonly Edge[]): TooMuch {
  const byType = Map.groupBy(edges, ({ from, name, to }) => `${from.type}:${name}:${to.type}`);
  const [[most, those]] = [...byType].sort(([, a], [, b]) => b.length - a.length) as [[string, Edge[]]];
  return `more than ${limits.factsEdgesMax} stored relationships on inheritance paths, ${those.length} of them ${most}`;
}
