/** time.*. Instants are nanoseconds since the Unix epoch; the only clock is the instant of the evaluation. */
import type { Value } from '../value.ts';
import {
  type BuiltinContext,
  type BuiltinTable,
  bigintOf,
  boundResult,
  integerOf,
  refuse,
  stringOf,
} from './arguments.ts';
import { checkedInstant, daysFrom, type Fields, fieldsAt, instantIn } from './time-fields.ts';
import { formatTime } from './time-format.ts';
import { layoutNamed, WEEKDAYS } from './time-layout.ts';
import { parseDuration, parseTime } from './time-parse.ts';
import { UTC, type Zone, zoneNamed } from './time-zone.ts';

const FIELDS_FUEL = 200;

export const timeBuiltins: BuiltinTable = {
  'time.now_ns': (context) => context.now,
  'time.parse_ns': (context, layout, text) => {
    context.charge(FIELDS_FUEL + 8 * stringOf(layout).length + stringOf(text).length);
    return checkedInstant(parseTime(layoutNamed(stringOf(layout)), stringOf(text)));
  },
  'time.parse_rfc3339_ns': (context, text) => {
    context.charge(FIELDS_FUEL);
    return checkedInstant(parseTime(layoutNamed('RFC3339'), stringOf(text)));
  },
  'time.parse_duration_ns': (context, text) => {
    context.charge(stringOf(text).length * 2);
    return parseDuration(stringOf(text));
  },
  'time.date': (context, when) => {
    const { year, month, day } = momentOf(context, when).fields;
    return [year, month, day];
  },
  'time.clock': (context, when) => {
    const { hour, minute, second } = momentOf(context, when).fields;
    return [hour, minute, second];
  },
  'time.weekday': (context, when) => WEEKDAYS[momentOf(context, when).fields.weekday]!,
  'time.format': (context, when) => {
    const { fields, layout } = momentOf(context, when);
    context.charge(8 * layout.length);
    boundResult(layout.length * 9); // "January" to "September", fractions excepted
    return formatTime(fields, layout === '' ? layoutNamed('RFC3339Nano') : layoutNamed(layout));
  },
  'time.add_date': (context, when, years, months, days) => {
    const { fields, zone } = momentOf(context, when);
    const { year, month, day, hour, minute, second, nanosecond } = fields;
    const date = daysFrom(year + integerOf(years), month + integerOf(months), day + integerOf(days));
    return checkedInstant(instantIn(zone, date, hour * 3600 + minute * 60 + second, nanosecond));
  },
  'time.diff': (context, first, second) => {
    const [a, b] = [momentOf(context, first), momentOf(context, second)];
    const other = fieldsAt(b.ns, a.zone);
    return a.ns > b.ns ? difference(other, a.fields) : difference(a.fields, other);
  },
};

type Moment = { ns: bigint; fields: Fields; zone: Zone; layout: string };

/** Nanoseconds, or [nanoseconds, zone, layout] with the last two optional. */
function momentOf(context: BuiltinContext, value: Value | undefined): Moment {
  context.charge(FIELDS_FUEL);
  if (!Array.isArray(value)) return at(bigintOf(value), UTC, '');
  if (value.length === 0) refuse();
  const zone = value.length > 1 ? zoneNamed(context, stringOf(value[1])) : UTC;
  return at(bigintOf(value[0]), zone, value.length > 2 ? stringOf(value[2]) : '');
}

function at(ns: bigint, zone: Zone, layout: string): Moment {
  return { ns: checkedInstant(ns), fields: fieldsAt(ns, zone), zone, layout };
}

/** Years, months, days, hours, minutes and seconds from the earlier time to the later, borrowing from left to right. */
function difference(from: Fields, to: Fields): number[] {
  const parts = [
    to.year - from.year,
    to.month - from.month,
    to.day - from.day,
    to.hour - from.hour,
    to.minute - from.minute,
    to.second - from.second,
  ];
  const daysInMonth = daysFrom(from.year, from.month + 1, 1) - daysFrom(from.year, from.month, 1);
  const sizes = [0, 12, daysInMonth, 24, 60, 60];
  for (let i = 5; i > 0; i--) {
    if (parts[i]! >= 0) continue;
    parts[i]! += sizes[i]!;
    parts[i - 1]! -= 1;
  }
  return parts;
}
