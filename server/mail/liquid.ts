/**
 * Templates of tenants, in Liquid: bounded in length, time and memory, without files and without what they are not given. The
 * library is loaded with the first one: most servers have none.
 */
import { createRequire } from 'node:module';
import type { Liquid, Template } from 'liquidjs';
import { limits } from '../core/limits.ts';
import { TemplateError } from './template-error.ts';
import { withTimeLimit } from './time-limit.ts';

const load = createRequire(import.meta.url);

/** Of HTML, or of text: values are escaped for it. */
export type Part = 'html' | 'text';

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
    ...(part === 'html' ? { outputEscape: 'escape' as const } : {}),
    ...{ parseLimit: limits.mailTemplateCharsMax, memoryLimit: MEMORY_LIMIT },
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
  for (const [name, filter] of Object.entries(made.filters)) made.registerFilter(name, boundedFilter(filter));
  return made;
}

type Filter = Liquid['filters'][string];
type Handler = Extract<Filter, (...args: never[]) => unknown>;

/** The filter, which begins with no more than a mail can hold. */
function boundedFilter(filter: Filter): Filter {
  const handler = typeof filter === 'function' ? filter : filter.handler;
  const bounded: Handler = function (this, value, ...args) {
    for (const one of [value, ...args]) checkSize(one);
    return handler.call(this, value, ...args);
  };
  return typeof filter === 'function' ? bounded : { ...filter, handler: bounded };
}

function checkSize(value: unknown): void {
  const { mailRenderBytesMax: chars, mailFilterItemsMax: items } = limits;
  if (typeof value === 'string' && value.length > chars) throw new Error(`a text has more than ${chars} characters`);
  if (Array.isArray(value) && value.length > items) throw new Error(`a list has more than ${items} items`);
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
  const made = engine(part);
  return guarded(() => {
    const text = withTimeLimit(
      () => made.renderSync(made.parse(source), variables, { strictVariables: !isLenient }) as string,
    );
    if (Buffer.byteLength(text) > limits.mailRenderBytesMax)
      throw new TemplateError(`what it renders has more than ${limits.mailRenderBytesMax} bytes`);
    return text;
  });
}

type Root = { name: string; line: number; column: number };

/** The variables that a template reads and does not set itself, each where it stands first. @throws TemplateError */
export function variablesOf(part: Part, source: string): Root[] {
  return guarded(() => {
    checkTags(source);
    const made = engine(part);
    const { globals } = withTimeLimit(() => {
      const templates: Template[] = made.parse(source);
      return made.analyzeSync(templates, { partials: false });
    });
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
