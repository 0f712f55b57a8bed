/** Templates whose values are escaped, unless they are templates themselves. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Value = Html | string | number | undefined | false | readonly Value[];

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function textOf(value: Value): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(textOf).join('');
  return String(value).replace(/[&<>"']/g, (one) => entities[one] as string);
}

export function html(strings: TemplateStringsArray, ...values: Value[]): Html {
  return new Html(strings.map((one, index) => one + (index < values.length ? textOf(values[index]) : '')).join(''));
}
