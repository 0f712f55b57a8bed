/** Reading an instant by a Go layout, and Go durations. */
import { refuse } from './arguments.ts';
import { daysFrom, instantOf } from './time-fields.ts';
import { type Chunk, chunksOf, MONTHS, WEEKDAYS } from './time-layout.ts';

/** What was read so far; `offset` is seconds east of UTC. */
type Parsed = {
  year: number;
  month: number | undefined;
  day: number | undefined;
  yearDay: number | undefined;
  hour: number;
  pm: boolean | undefined;
  minute: number;
  second: number;
  nanosecond: number;
  offset: number;
};

/** As Go's time.Parse, in nanoseconds since the Unix epoch, not yet checked to fit 64 bits. Refuses what does not match. */
export function parseTime(layout: string, text: string): bigint {
  const reader = new TimeReader(text);
  const chunks = chunksOf(layout);
  chunks.forEach((chunk, i) => {
    if ('literal' in chunk) reader.literal(chunk.literal);
    else reader.element(chunk.element, chunk.digits, chunks[i + 1]);
  });
  return reader.finish();
}

class TimeReader {
  #rest: string;
  readonly #time: Parsed = {
    year: 0,
    month: undefined,
    day: undefined,
    yearDay: undefined,
    hour: 0,
    pm: undefined,
    minute: 0,
    second: 0,
    nanosecond: 0,
    offset: 0,
  };

  constructor(text: string) {
    this.#rest = text;
  }

  /** A run of spaces in the layout matches any run of spaces. */
  literal(literal: string): void {
    for (const part of literal.split(/( +)/)) {
      if (part === '') continue;
      if (part[0] !== ' ') {
        if (!this.#rest.startsWith(part)) refuse();
        this.#rest = this.#rest.slice(part.length);
      } else {
        if (this.#rest !== '' && this.#rest[0] !== ' ') refuse();
        this.#rest = this.#rest.replace(/^ +/, '');
      }
    }
  }

  element(name: string, digits: number, next: Chunk | undefined): void {
    const time = this.#time;
    switch (name) {
      case 'January':
        time.month = this.#name(MONTHS) + 1;
        break;
      case 'Jan':
        time.month = this.#name(MONTHS.map((month) => month.slice(0, 3))) + 1;
        break;
      case 'Monday':
        this.#name(WEEKDAYS);
        break;
      case 'Mon':
        this.#name(WEEKDAYS.map((weekday) => weekday.slice(0, 3)));
        break;
      case 'MST':
        this.#zoneName();
        break;
      case 'PM':
      case 'pm':
        time.pm = this.#take(name === 'PM' ? /^[AP]M/ : /^[ap]m/)[0]!.toLowerCase() === 'p';
        break;
      case 'fraction':
        this.#fraction(this.#take(new RegExp(`^[.,]\\d{${Math.min(digits, 100)}}`)));
        break;
      case 'fraction?':
        if (/^[.,]\d/.test(this.#rest)) this.#fraction(this.#take(/^[.,]\d+/));
        break;
      default:
        if (name[0] === '-' || name[0] === 'Z') this.#offset(name);
        else this.#number(name, next);
    }
  }

  #number(name: string, next: Chunk | undefined): void {
    const time = this.#time;
    switch (name) {
      case '2006':
        time.year = Number(this.#take(/^\d{4}/));
        break;
      case '06': {
        const year = Number(this.#take(/^\d\d/));
        time.year = year + (year >= 69 ? 1900 : 2000);
        break;
      }
      case '01':
      case '1':
        time.month = this.#digits(name === '01', 1, 12);
        break;
      case '02':
      case '_2':
      case '2':
        if (name === '_2' && this.#rest[0] === ' ') this.#rest = this.#rest.slice(1);
        time.day = this.#digits(name === '02', 0, 99);
        break;
      case '002':
      case '__2':
        if (name === '__2') this.#rest = this.#rest.replace(/^ {1,2}/, (spaces) => '0'.repeat(spaces.length));
        time.yearDay = Number(this.#take(/^\d{3}/));
        break;
      case '15':
        time.hour = this.#digits(false, 0, 23);
        break;
      case '03':
      case '3':
        time.hour = this.#digits(name === '03', 0, 12);
        break;
      case '04':
      case '4':
        time.minute = this.#digits(name === '04', 0, 59);
        break;
      default: {
        time.second = this.#digits(name === '05', 0, 59);
        const hasFraction = next !== undefined && 'element' in next && next.element.startsWith('fraction');
        if (!hasFraction && /^[.,]\d/.test(this.#rest)) this.#fraction(this.#take(/^[.,]\d+/));
      }
    }
  }

  #take(pattern: RegExp): string {
    const found = pattern.exec(this.#rest)?.[0] ?? refuse();
    this.#rest = this.#rest.slice(found.length);
    return found;
  }

  #digits(two: boolean, min: number, max: number): number {
    const value = Number(this.#take(two ? /^\d\d/ : /^\d\d?/));
    return value >= min && value <= max ? value : refuse();
  }

  #name(names: string[]): number {
    const lower = this.#rest.slice(0, 9).toLowerCase();
    const index = names.findIndex((name) => lower.startsWith(name.toLowerCase()));
    if (index < 0) refuse();
    this.#rest = this.#rest.slice(names[index]!.length);
    return index;
  }

  #fraction(text: string): void {
    this.#time.nanosecond = Number(text.slice(1, 10).padEnd(9, '0'));
  }

  #offset(form: string): void {
    if (form[0] === 'Z' && this.#rest[0] === 'Z') {
      this.#rest = this.#rest.slice(1);
      return;
    }
    const parts = form.slice(1).match(/07|00/g)!.length;
    const separator = form.includes(':') ? ':' : '';
    const found = this.#take(new RegExp(`^[-+]${Array(parts).fill('\\d\\d').join(separator)}`));
    const [hours, minutes, seconds] = found.slice(1).replaceAll(':', '').match(/../g)!.map(Number);
    if (hours! > 24 || (minutes ?? 0) > 60 || (seconds ?? 0) > 60) refuse();
    const size = hours! * 3600 + (minutes ?? 0) * 60 + (seconds ?? 0);
    this.#time.offset = found[0] === '-' ? -size : size;
  }

  /** Abbreviations are not looked up: all count as UTC, as they do in Go outside their own zone. */
  #zoneName(): void {
    const found = this.#take(/^(?:UTC|GMT[-+]\d{1,2}|ChST|MeST|[-+]\d\d|[A-Z]{3,4}T|[A-Z]{3}(?![A-Z])|WITA)/);
    if (Math.abs(Number(/[-+]\d+$/.exec(found)?.[0] ?? 0)) > 23) refuse();
  }

  finish(): bigint {
    if (this.#rest !== '') refuse();
    const { year, hour, pm, minute, second, nanosecond, offset } = this.#time;
    const adjusted = pm === true && hour < 12 ? hour + 12 : pm === false && hour === 12 ? 0 : hour;
    return instantOf(this.#days(year), adjusted * 3600 + minute * 60 + second, nanosecond, offset);
  }

  #days(year: number): number {
    const { month, day, yearDay } = this.#time;
    if (yearDay !== undefined && (yearDay < 1 || daysFrom(year, 1, yearDay) >= daysFrom(year + 1, 1, 1))) refuse();
    if (yearDay === undefined || month !== undefined) {
      const days = daysFrom(year, month ?? 1, day ?? 1);
      const last = daysFrom(year, (month ?? 1) + 1, 0);
      if ((day ?? 1) < 1 || days > last) refuse();
      if (yearDay !== undefined && daysFrom(year, 1, yearDay) !== days) refuse();
      return days;
    }
    return daysFrom(year, 1, yearDay);
  }
}

const HOUR_NS = 3_600_000_000_000n;
const UNITS_NS: Record<string, bigint> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n, // U+00B5
  μs: 1000n, // U+03BC
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: HOUR_NS,
  d: 24n * HOUR_NS,
  w: 7n * 24n * HOUR_NS,
  y: 365n * 24n * HOUR_NS,
};
const SEGMENT = /(\d{0,30})(?:\.(\d{0,30})\d*)?(ns|us|µs|μs|ms|s|m|h|d|w|y)/y;

/** A duration such as "-1.5h" or "2d4h" in nanoseconds (a day is 24 hours, a year 365 days). Refuses more than 64 bits. */
export function parseDuration(text: string): bigint {
  const [, sign, body] = /^([-+]?)(.*)$/s.exec(text)!;
  if (body === '0') return 0n;
  if (body === '') refuse();
  let total = 0n;
  SEGMENT.lastIndex = 0;
  while (SEGMENT.lastIndex < body!.length) {
    const [, whole, fraction = '', unit] = SEGMENT.exec(body!) ?? refuse();
    if (whole === '' && fraction === '') refuse();
    const scale = UNITS_NS[unit!]!;
    total += BigInt(whole || 0) * scale + (BigInt(fraction || 0) * scale) / 10n ** BigInt(fraction.length);
  }
  const signed = sign === '-' ? -total : total;
  return BigInt.asIntN(64, signed) === signed ? signed : refuse();
}
