/** The query of those who read the ledger: which entries. */
import { Type } from 'typebox';
import type { Clock } from '../core/clock.ts';
import { type RangeQuery, rangeOf, rangeQuery } from '../http/time-range.ts';
import { type RegisterEventType, registerEventTypes } from './schema.ts';
import type { EventFilter } from './store.ts';

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 1024, description }));

export const ownFilter = {
  ...rangeQuery,
  type: Type.Optional(Type.Enum(registerEventTypes)),
  name: text('Name of the consent definition.'),
};
export const tenantFilter = { ...ownFilter, userId: text('The user whose consents the entry is about.') };

export type FilterQuery = RangeQuery & { type?: RegisterEventType; name?: string; userId?: string };

/** @throws Problem invalid_request */
export function filterOf({ start, end, last, ...rest }: FilterQuery, clock: Clock): EventFilter {
  const asked = { start, end, last };
  const range = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined)) as RangeQuery;
  return { ...rest, ...rangeOf(range, clock) };
}
