/** Where a statement takes some rows of many, and by which order. */

type Token = { text: string; at: number; depth: number };
/**
 * `order`: columns, or '?' for an expression. `pinned`: columns that have one value. `from`: the table, where it is one. `told`: what
 * tells the rows apart, where they are groups, or all that is read.
 */
export type Cut = {
  at: number;
  what: string;
  order: readonly string[] | undefined;
  pinned: ReadonlySet<string>;
  from: readonly string[];
  told: readonly (readonly string[])[];
};

const TOKEN = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"[^"]+"|\$\d*|[a-z_][a-z_0-9]*|\d+|[^\s]/gi;

function tokensOf(text: string): Token[] {
  let depth = 0;
  return [...text.matchAll(TOKEN)].flatMap(({ 0: word, index: at }) => {
    if (word.startsWith('--') || word.startsWith('/*')) return [];
    if (word === ')' || word === ']') depth--;
    const token = { text: /^['"]/.test(word) ? word : word.toLowerCase(), at, depth };
    if (word === '(' || word === '[') depth++;
    return [token];
  });
}

const ends = new Set(['limit', 'offset', 'fetch', 'for', 'rows', 'range', 'groups', 'window', ';']);
const apart = new Set(['union', 'intersect', 'except', ';']);
const ranks = new Set([
  'row_number',
  'rank',
  'dense_rank',
  'first_value',
  'last_value',
  'nth_value',
  'lag',
  'lead',
  'ntile',
]);

/** The tokens of the parentheses that a token is in, without those of deeper ones, on one side of what joins selects. */
function levelOf(tokens: readonly Token[], n: number): { all: Token[]; before: Token[] } {
  const depth = (tokens[n] as Token).depth;
  let [first, last] = [n, n];
  while (first > 0 && (tokens[first - 1] as Token).depth >= depth) first--;
  while (last < tokens.length - 1 && (tokens[last + 1] as Token).depth >= depth) last++;
  return { all: tokens.slice(first, last + 1), before: tokens.slice(first, n) };
}

const flat = (tokens: readonly Token[], depth: number) => tokens.filter((one) => one.depth === depth);

/** The columns of a list, by their last names; an expression is '?'. */
function columnsOf(list: readonly Token[], depth: number): string[] {
  const parts: Token[][] = [[]];
  for (const token of list) {
    if (token.depth === depth && token.text === ',') parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts.map((part) => {
    const words = part.map(({ text }) => text);
    const cut = words.findIndex((word) => ['asc', 'desc', 'nulls', 'collate'].includes(word));
    const name = words.slice(0, cut < 0 ? undefined : cut);
    const plain = name.length === 1 || (name.length === 3 && name[1] === '.');
    return plain && /^[a-z_"]|^\$$|^\d+$/.test(name.at(-1) as string)
      ? (name.at(-1) as string).replaceAll('"', '')
      : '?';
  });
}

/** What follows the last `order by` of a list of tokens. */
function orderIn(tokens: readonly Token[], depth: number): string[] | undefined {
  const n = tokens.findLastIndex(
    (one, i) => one.depth === depth && one.text === 'order' && tokens[i + 1]?.text === 'by',
  );
  if (n < 0) return undefined;
  const rest = tokens.slice(n + 2);
  const end = rest.findIndex((one) => one.depth === depth && ends.has(one.text));
  const list = rest.slice(0, end < 0 ? undefined : end);
  const left = rest.slice(list.length).filter((one) => one.depth === depth);
  return left.some((one) => ['select', 'from', 'where'].includes(one.text)) ? undefined : columnsOf(list, depth);
}

const clauses = new Set(['where', 'group', 'having', 'order', 'limit', 'offset', 'fetch', 'for', 'window']);

/** The tables that a select reads, and the columns that its conditions set to one value. */
function selectOf(level: readonly Token[], depth: number) {
  const start = level.findLastIndex((one) => one.depth === depth && one.text === 'select');
  const core = level.slice(Math.max(start, 0));
  const at = (word: string) => core.findIndex((one) => one.depth === depth && one.text === word);
  const clause = (word: string) => {
    const first = at(word);
    if (first < 0) return [];
    const rest = core.slice(first + 1);
    const end = rest.findIndex((one) => one.depth === depth && (clauses.has(one.text) || apart.has(one.text)));
    return rest.slice(0, end < 0 ? undefined : end);
  };
  const from = clause('from');
  const isMany = from.some((one) => one.depth === depth && ['join', ','].includes(one.text)) || start < 0;
  const tables = from.flatMap((one, i) =>
    one.text === 'accord' && from[i + 1]?.text === '.' ? [from[i + 2]?.text ?? '$'] : [],
  );
  const isDerived = from[0]?.text === '(' || from[0]?.text !== 'accord';
  const to = at('from');
  const read = columnsOf(withoutNames(core.slice(1, to < 0 ? 1 : to), depth), depth);
  const group = at('group') < 0 ? [] : columnsOf(clause('group').slice(1), depth);
  const told = [group, read].filter((one) => one.length > 0 && !one.includes('?') && !one.includes(''));
  return { from: isMany || isDerived ? [] : tables, pinned: pinnedBy(flat(clause('where'), depth)), told };
}

/** What is read without `as name`, and not as `*`. */
function withoutNames(list: readonly Token[], depth: number): Token[] {
  return list.filter((one, i) => one.depth !== depth || (one.text !== 'as' && list[i - 1]?.text !== 'as'));
}

/** Columns that are equal to something of outside. */
function pinnedBy(where: readonly Token[]): Set<string> {
  if (where.some((one) => one.text === 'or')) return new Set();
  return new Set(
    where.flatMap((one, i) => {
      const [before, after] = [where[i - 1]?.text, where[i + 1]?.text];
      const isEquality = one.text === '=' && !['<', '>', '!'].includes(before ?? '') && after !== 'any';
      return isEquality && before !== undefined ? [before] : [];
    }),
  );
}

export function cutsOf(text: string): Cut[] {
  const tokens = tokensOf(text);
  return tokens.flatMap((token, n): Cut[] => {
    const next = tokens[n + 1]?.text;
    const { depth, at } = token;
    const isWord = tokens[n - 1]?.text !== '.' && next !== undefined && ![',', ')', '=', '.'].includes(next);
    // `offset 0` keeps the planner from merging a query, and takes all rows.
    const isCut = token.text === 'limit' ? tokens[n - 2]?.text !== 'offset' : token.text === 'offset' && next !== '0';
    if (isCut && isWord) return [cutAt(tokens, n, token.text)];
    // One that takes what is equal, too, is the same each time.
    if (token.text === 'fetch' && /^(first|next)$/.test(next ?? '')) {
      const rest = tokens
        .slice(n)
        .filter((one) => one.depth === depth)
        .slice(0, 8);
      return rest.some((one) => one.text === 'ties') ? [] : [cutAt(tokens, n, 'fetch first')];
    }
    if (token.text === 'distinct' && next === 'on') return [cutAt(tokens, n, 'distinct on')];
    if (ranks.has(token.text) && next === '(') return [windowAt(tokens, n, at)];
    if (/^(array|string|json|jsonb)_agg$/.test(token.text) && next === '(') return sliceAt(tokens, n);
    return [];
  });
}

function cutAt(tokens: readonly Token[], n: number, what: string): Cut {
  const { depth, at } = tokens[n] as Token;
  const { all, before } = levelOf(tokens, n);
  const order = orderIn(what === 'distinct on' ? all : before, depth);
  return { at, what, order, ...selectOf(what === 'distinct on' ? all : before, depth) };
}

/** What stands in the parentheses that open behind a token. */
function inside(tokens: readonly Token[], n: number): Token[] {
  const open = tokens.findIndex((one, i) => i >= n && one.text === '(');
  const close = tokens.findIndex((one, i) => i > open && one.text === ')' && one.depth === tokens[open]?.depth);
  return tokens.slice(open + 1, close);
}

function windowAt(tokens: readonly Token[], n: number, at: number): Cut {
  const over = tokens.findIndex((one, i) => i > n && one.text === 'over');
  const window = inside(tokens, over);
  const depth = (tokens[n] as Token).depth;
  const part = window.findIndex((one) => one.text === 'partition');
  const until = window.findIndex((one) => one.text === 'order');
  const by = part < 0 ? [] : columnsOf(window.slice(part + 2, until < 0 ? undefined : until), depth + 1);
  const { from, pinned } = selectOf(levelOf(tokens, n).all, depth);
  const order = orderIn(window, depth + 1);
  return { at, what: (tokens[n] as Token).text, order, from, pinned: new Set([...pinned, ...by]), told: [] };
}

/** An aggregate of which an element is taken. */
function sliceAt(tokens: readonly Token[], n: number): Cut[] {
  const { depth, at, text } = tokens[n] as Token;
  const list = inside(tokens, n);
  const behind = tokens.slice(n + list.length + 3, n + list.length + 5).map((one) => one.text);
  if (!behind.join('').startsWith('[') && !behind.join('').startsWith(')[')) return [];
  const level = levelOf(tokens, n);
  return [{ at, what: `${text}[]`, order: orderIn(list, depth + 1), ...selectOf(level.all, depth), told: [] }];
}
