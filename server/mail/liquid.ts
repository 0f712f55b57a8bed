/**
 * Templates of tenants, in Liquid: bounded in length, time and memory, without files and without what they are not given. The
 * library is loaded with the first one: most servers have none.
 */
import { createRequire } from 'node:module';
import type { Liquid, LiquidOptions, Template } from 'liquidjs';
import { limits } from '../core/limits.ts';
import type { ProblemPlace } from '../core/problems.ts';

const load = createRequire(import.meta.url);

/** Of HTML, or of text: values are escaped for it. */
export type Part = 'html' | 'text';

/** Why a template cannot be used. `line` and `column` begin with 1. `variable`: the one that it reads and was not given. */
export class TemplateError extends Error {
  readonly line: number | undefined;
  readonly column: number | undefined;
  readonly variable: string | undefined;
  constructor(message: string, line?: number, column?: number) {
    super(message);
    this.line = line;
    this.column = column;
    this.variable = /^undefined variable: ([\w-]+)/.exec(message)?.[1];
  }
}

const REFUSED_TAGS = ['include', 'render', 'layout', 'block', 'tablerow', 'increment', 'decrement'];

const engines: Partial<Record<Part, Liquid>> = {};

function engine(part: Part): Liquid {
  engines[part] ??= createEngine(part);
  return engines[part];
}

function createEngine(part: Part): Liquid {
  const library = load('liquidjs') as typeof import('liquidjs');
  const refuse = () => {
    throw new Error('templates cannot read files');
  };
  const no = async () => false;
  const made = new library.Liquid({
    ...{ strictVariables: true, strictFilters: true, ownPropertyOnly: true, relativeReference: false, cache: false },
    operators: { ...library.defaultOperators, contains: boundedContains(library) },
    ...(part === 'html' ? { outputEscape: 'escape' as const } : {}),
    ...{ parseLimit: limits.mailTemplateCharsMax, renderLimit: limits.mailRenderMsMax, memoryLimit: MEMORY_LIMIT },
    fs: {
      ...{ readFileSync: refuse, readFile: refuse, existsSync: () => false, exists: no, contains: no },
      ...{ containsSync: () => false, resolve: (_root: string, file: string) => file },
    },
  });
  for (const tag of REFUSED_TAGS) {
    made.registerTag(tag, {
      parse(token) {
        throw new library.TokenizationError(`the tag ${tag} is not available`, token);
      },
      render: () => '',
    });
  }
  // Each would take a value to the HTML as it stands.
  made.registerFilter('raw', {
    raw: false,
    handler() {
      throw new Error('the filter raw is not available');
    },
  });
  for (const [name, filter] of Object.entries(made.filters)) made.registerFilter(name, boundedFilter(name, filter));
  return made;
}

/** The library looks at the time between tags only; filters in a row are one of them. */
type Timed = { readonly renderLimit: { check(at: number): void } };

/** What searches a text for its first argument, which takes the product of both lengths. */
const SEARCHING = new Set([
  'replace',
  'replace_first',
  'replace_last',
  'remove',
  'remove_first',
  'remove_last',
  'split',
]);

type Filter = Liquid['filters'][string];
type Handler = Extract<Filter, (...args: never[]) => unknown>;
type Operator = Extract<NonNullable<LiquidOptions['operators']>[string], (...args: [never, never, never]) => unknown>;

/** The filter, which begins neither late nor with more than a mail can hold. */
function boundedFilter(name: string, filter: Filter): Filter {
  const handler = typeof filter === 'function' ? filter : filter.handler;
  const bounded: Handler = function (this, value, ...args) {
    this.context.renderLimit.check(performance.now());
    for (const one of [value, ...args]) checkSize(one);
    if (SEARCHING.has(name)) checkSearched(args[0]);
    return handler.call(this, value, ...args);
  };
  return typeof filter === 'function' ? bounded : { ...filter, handler: bounded };
}

function checkSize(value: unknown): void {
  const { mailRenderBytesMax: chars, mailFilterItemsMax: items } = limits;
  if (typeof value === 'string' && value.length > chars) throw new Error(`a text has more than ${chars} characters`);
  if (Array.isArray(value) && value.length > items) throw new Error(`a list has more than ${items} items`);
}

function checkSearched(text: unknown): void {
  const { mailSearchedCharsMax: chars } = limits;
  if (typeof text === 'string' && text.length > chars)
    throw new Error(`a text that is searched for has more than ${chars} characters`);
}

/** What `contains` is, bounded like a filter. */
function boundedContains({ defaultOperators }: typeof import('liquidjs')): Operator {
  const contains = defaultOperators.contains as Operator;
  return (left, right, context) => {
    (context as Timed).renderLimit.check(performance.now());
    checkSize(left);
    checkSearched(right);
    return contains(left, right, context);
  };
}

/** liquidjs counts characters and elements, roughly. */
const MEMORY_LIMIT = 1_000_000;

/** @param isLenient a variable that is missing is empty @throws TemplateError */
export function renderLiquid(
  part: Part,
  source: string,
  variables: Readonly<Record<string, unknown>>,
  { isLenient = false } = {},
): string {
  checkTags(source);
  const render = () => {
    const made = engine(part);
    return made.renderSync(made.parse(source), variables, { strictVariables: !isLenient }) as string;
  };
  return guarded(() => {
    const text = twiceWhenSlow(render);
    if (Buffer.byteLength(text) > limits.mailRenderBytesMax)
      throw new TemplateError(`what it renders has more than ${limits.mailRenderBytesMax} bytes`);
    return text;
  });
}

/** The limit is of time that passes, not of CPU: on a busy machine a template that takes 1 ms may be interrupted for longer. */
function twiceWhenSlow<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error as Error).message.startsWith('template render limit exceeded')) throw error;
    return work();
  }
}

type Root = { name: string; line: number; column: number };

/** The variables that a template reads and does not set itself, each where it stands first. @throws TemplateError */
export function variablesOf(part: Part, source: string): Root[] {
  return guarded(() => {
    checkTags(source);
    const made = engine(part);
    const templates: Template[] = made.parse(source);
    const { globals } = made.analyzeSync(templates, { partials: false });
    return Object.entries(globals).map(([name, uses]) => {
      const { row = 1, col = 1 } = uses[0]?.location ?? {};
      return { name, line: row, column: col };
    });
  });
}

/** @throws TemplateError */
function checkTags(source: string): void {
  const { mailTemplateTagsMax: max } = limits;
  if ((source.match(/\{[{%]/g) ?? []).length > max) throw new TemplateError(`it has more than ${max} tags and outputs`);
}

/** Whatever the library throws is the template's fault: also a stack that is exhausted by what nests too deeply. */
function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof TemplateError) throw error;
    if (error instanceof RangeError) throw new TemplateError('it nests too deeply');
    const { message, token } = error as Error & { token?: { getPosition?(): number[] } };
    const [line, column] = token?.getPosition?.() ?? [];
    const first = (message.split('\n', 1)[0] as string).replace(/, line:\d+, col:\d+$/, '');
    throw new TemplateError(first, line, column);
  }
}

/** The place of a template's error, for a problem. */
export function placeOf(pointer: string, { message, line, column }: TemplateError): ProblemPlace {
  const at = line === undefined || column === undefined ? {} : { line, column };
  const where = line === undefined ? '' : `Line ${line}, column ${column}: `;
  return { pointer, detail: `${where}${message}`, ...at };
}
