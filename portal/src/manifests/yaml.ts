/** Manifests in YAML, as `accord export` writes them. */
import { type Alias, type Document, isNode, LineCounter, parseDocument, stringify, visit } from 'yaml';
import type { Manifest } from './manifest.ts';

/** Words that YAML 1.1, which kubectl reads, takes for something else are quoted; texts of many lines stand as blocks. */
export const yamlOf = (value: unknown, comments: readonly string[] = []): string =>
  comments.map((comment) => `# ${comment}\n`).join('') +
  stringify(value, { version: '1.1', lineWidth: 0, blockQuote: 'literal', aliasDuplicateObjects: false });

export const yamlOfAll = (manifests: readonly Manifest[]): string => manifests.map((one) => yamlOf(one)).join('---\n');

type LineProblem = { line: number; column?: number; detail: string };
export type Refusal = { pointer: string; detail: string };
type Parsed = { value: unknown; problems: LineProblem[]; placed(refusals: readonly Refusal[]): LineProblem[] };

/** What somebody typed, with the lines of what is wrong. */
export function parseYaml(text: string): Parsed {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const problems = document.errors.map(({ message, pos: [at] }) => ({
    ...{ line: lines.linePos(at).line, column: lines.linePos(at).col },
    detail: message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? '',
  }));
  let value: unknown;
  try {
    if (problems.length === 0) value = document.toJS();
  } catch (error) {
    // An alias without its anchor, or more of them than anybody writes.
    const at = lines.linePos(wrongAlias(document)?.range?.[0] ?? 0);
    problems.push({ line: at.line, column: at.col, detail: error instanceof Error ? error.message : String(error) });
  }
  /** The line of the innermost part of a pointer that is there. */
  const lineOf = (pointer: string): number => {
    const steps = pointer
      .split('/')
      .slice(1)
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    for (let depth = steps.length; depth > 0; depth--) {
      const path = steps.slice(0, depth).map((step) => (/^\d+$/.test(step) ? Number(step) : step));
      const node = document.getIn(path, true);
      if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
    }
    return 1;
  };
  return {
    value,
    problems,
    placed: (refusals) =>
      refusals.map(({ pointer, detail }) => ({ line: lineOf(pointer), detail: `${pointer} ${detail}` })),
  };
}

/** The first alias of nothing, or else the first one. */
function wrongAlias(document: Document): Alias | undefined {
  const all: Alias[] = [];
  visit(document, { Alias: (_, alias) => void all.push(alias) });
  return all.find((one) => one.resolve(document) === undefined) ?? all[0];
}
