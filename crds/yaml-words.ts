/**
 * Finds the bare words of a YAML file that kubectl reads differently: it reads YAML 1.1, everything here YAML 1.2. A
 * manifest that holds one means one thing in a directory of files and another in a cluster, so it is refused here.
 */
import { type Document, Scalar, visit } from 'yaml';

const booleans = /^(?:y|n|yes|no|on|off)$/i;
const numbers = /^[-+]?(?:0[0-9_]+|0b[01_]+|[0-9][0-9.]*_[0-9_.]*)$/;

/** @returns for each such word, as a key or a value, its offset in the text and what to write instead */
export function wordsReadDifferently(document: Document): { offset: number; detail: string }[] {
  const found: { offset: number; detail: string }[] = [];
  visit(document, {
    Scalar(_, node) {
      if (node.type !== Scalar.PLAIN || node.source === undefined) return;
      const other = booleans.test(node.source) ? 'a boolean' : numbers.test(node.source) ? 'another number' : undefined;
      if (other === undefined) return;
      found.push({
        offset: node.range?.[0] ?? 0,
        detail: `a bare ${node.source} is ${other} to kubectl, which reads YAML 1.1: write "${node.source}"`,
      });
    },
  });
  return found;
}
