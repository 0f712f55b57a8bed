/** Writing an instant by a Go layout. */
import type { Fields } from './time-fields.ts';
import { chunksOf, type Element, MONTHS, WEEKDAYS } from './time-layout.ts';

/** As Go's Time.Format. Linear in the layout. */
export function formatTime(fields: Fields, layout: string): string {
  let out = '';
  for (const chunk of chunksOf(layout)) {
    if ('literal' in chunk) out += chunk.literal;
    else out += element(fields, chunk);
  }
  return out;
}

function element(fields: Fields, { element: name, digits, separator }: Element): string {
  if (name[0] === '-' || name[0] === 'Z') return offsetText(fields.offset, name);
  switch (name) {
    case 'January':
      return MONTHS[fields.month - 1]!;
    case 'Jan':
      return MONTHS[fields.month - 1]!.slice(0, 3);
    case 'Monday':
      return WEEKDAYS[fields.weekday]!;
    case 'Mon':
      return WEEKDAYS[fields.weekday]!.slice(0, 3);
    case 'MST':
      return fields.abbreviation();
    case 'PM':
      return fields.hour >= 12 ? 'PM' : 'AM';
    case 'pm':
      return fields.hour >= 12 ? 'pm' : 'am';
    case 'fraction':
      return separator + fraction(fields, digits);
    case 'fraction?': {
      const kept = fraction(fields, digits).replace(/0+$/, '');
      return kept === '' ? '' : separator + kept;
    }
    default:
      return numeric(fields, name);
  }
}

function numeric(fields: Fields, name: string): string {
  const { year, month, day, hour, minute, second, yearDay } = fields;
  const hour12 = hour % 12 || 12;
  switch (name) {
    case '2006':
      return (year < 0 ? '-' : '') + String(Math.abs(year)).padStart(4, '0');
    case '06':
      return two(year % 100);
    case '01':
      return two(month);
    case '1':
      return String(month);
    case '02':
      return two(day);
    case '_2':
      return String(day).padStart(2);
    case '2':
      return String(day);
    case '002':
      return String(yearDay).padStart(3, '0');
    case '__2':
      return String(yearDay).padStart(3);
    case '15':
      return two(hour);
    case '03':
      return two(hour12);
    case '3':
      return String(hour12);
    case '04':
      return two(minute);
    case '4':
      return String(minute);
    case '05':
      return two(second);
    default:
      return String(second); // '5'
  }
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

function fraction({ nanosecond }: Fields, digits: number): string {
  return String(nanosecond).padStart(9, '0').padEnd(digits, '0').slice(0, digits);
}

/** "Z…" forms write Z for UTC; the rest of the form says which parts and whether colons. */
function offsetText(offset: number, form: string): string {
  if (form[0] === 'Z' && offset === 0) return 'Z';
  const size = Math.abs(offset);
  const parts = [two(Math.floor(size / 3600)), two(Math.floor(size / 60) % 60), two(size % 60)];
  const count = (form.replaceAll(':', '').length - 1) / 2;
  return (offset < 0 ? '-' : '+') + parts.slice(0, count).join(form.includes(':') ? ':' : '');
}
