/** The page charts/accord/VALUES.md: every value with its default, and the sentence that stands before it in values.yaml. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml';
import { chart } from './helm.ts';

const SENTENCE = /^ -- (.+)$/;

/** @throws naming a value that has no sentence */
export function documentation(): string {
  const { contents } = parseDocument(readFileSync(join(chart, 'values.yaml'), 'utf8'));
  const rows = rowsOf(contents as YAMLMap, '').map((row) => `| ${row.join(' | ')} |`);
  const lines = [
    '# Values',
    '',
    '<!-- Made from values.yaml by test/kubernetes/chart/values.test.ts: do not edit. -->',
    '',
  ];
  return [...lines, '| Value | Default | Meaning |', '| --- | --- | --- |', ...rows, ''].join('\n');
}

function rowsOf(map: YAMLMap, path: string): string[][] {
  return (map.items as Pair[]).flatMap((pair, index) => {
    const { key, value } = pair;
    if (!isScalar(key)) throw new Error(`a key below ${path} is no text`);
    // The parser gives what stands before the first key of a map to the map.
    const before = index === 0 && path !== '' ? map.commentBefore : key.commentBefore;
    const sentence = before
      ?.split('\n')
      .map((line) => SENTENCE.exec(line)?.[1])
      .filter(Boolean)
      .at(-1);
    const name = path === '' ? String(key.value) : `${path}.${key.value}`;
    if (sentence !== undefined)
      return [[`\`${name}\``, `\`${JSON.stringify(plain(value))}\``, sentence.replaceAll('|', '\\|')]];
    if (!isMap(value) || value.items.length === 0) throw new Error(`${name} has no sentence in values.yaml`);
    return rowsOf(value, name);
  });
}

function plain(node: unknown): unknown {
  return (node as { toJSON(): unknown }).toJSON();
}
