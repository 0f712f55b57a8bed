/** Values as an explanation shows them: JSON, cut where it is long. */
import { limits } from '../../core/limits.ts';
import { isObject, PlanObject, PlanSet, type PlanValue } from '../plan/values.ts';
import type { ShownValue } from './schema.ts';

/** Parts of a value that are looked at: more of them are longer than what is shown. */
const PARTS_MAX = 200;

export function shownValue(of: string, value: PlanValue | undefined): ShownValue {
  if (value === undefined) return { of };
  const left = { parts: PARTS_MAX };
  const plain = toPlain(value, left);
  const text = JSON.stringify(plain);
  if (left.parts > 0 && text.length <= limits.whyNotValueCharsMax) return { of, value: plain };
  return { of, value: text.slice(0, limits.whyNotValueCharsMax), cut: true };
}

/** As JSON would have it; sets as lists. */
function toPlain(value: PlanValue, left: { parts: number }): unknown {
  if (--left.parts < 0) return '…';
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'string') return value.slice(0, 2 * limits.whyNotValueCharsMax);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof PlanSet) return some(value.entries.values()).map(({ key }) => toPlain(key, left));
  if (Array.isArray(value)) return value.slice(0, PARTS_MAX).map((item: PlanValue) => toPlain(item, left));
  const pairs: [string, PlanValue][] =
    value instanceof PlanObject
      ? some(value.entries.values()).map((held) => [keyText(held.key), held.value])
      : isObject(value)
        ? Object.entries(value).slice(0, PARTS_MAX)
        : [];
  return Object.fromEntries(pairs.map(([key, item]) => [key, toPlain(item, left)]));
}

const some = <T>(items: Iterable<T>): T[] => [...items].slice(0, PARTS_MAX);
const keyText = (key: PlanValue): string =>
  typeof key === 'string' ? key : (JSON.stringify(toPlain(key, { parts: 9 })) ?? '');
