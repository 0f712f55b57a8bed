/** What one query asks for: the questions of one tenant, taken apart and numbered. */
import type { PathPattern } from './path-pattern.ts';

/** An entity that is asked about, at an instant (RFC 3339). `walk`: also what may follow by inheritance. */
export type Asked = { queryId: number; type: string; id: string; now: string; walk: boolean };
/**
 * One relationship that is asked for. `from` and `to` are its ends, the one that is not known without id; `part` is whose
 * it is: the subject's (from), or the resource's.
 */
export type Pointed = {
  queryId: number;
  part: 'from' | 'to';
  from: { type: string; id?: string | undefined };
  name: string;
  to: { type: string; id?: string | undefined };
  now: string;
};
/** A relationship that also holds over paths: they are walked from the end that names its list. */
export type Walk = Pointed & { pattern: PathPattern };

/** Everything that is asked has a number of its own (`queryId`), by which the rows name what they were found for. */
export type GraphQuery = {
  tenant: string;
  from: Asked[];
  to: Asked[];
  subject: Asked[];
  resource: Asked[];
  /** Relationships that are asked for one by one: by their whole key, of a root to any entity of a type, over paths. */
  exact: Pointed[];
  ranges: Record<'from' | 'to', Pointed[]>;
  walks: Record<'from' | 'to', Walk[]>;
  /** Pairs of relationship types (From:rel:To) that stand one after the other on a path of inheritance. */
  follows: readonly (readonly [string, string])[];
  /** Whether any type has attributes. */
  attributes: boolean;
};

/** One that asks for nothing yet. */
export function emptyQuery({
  tenant,
  follows,
  attributes,
}: Pick<GraphQuery, 'tenant' | 'follows' | 'attributes'>): GraphQuery {
  const lists = { from: [], to: [], subject: [], resource: [], exact: [] };
  return { tenant, follows, attributes, ...lists, ranges: { from: [], to: [] }, walks: { from: [], to: [] } };
}
