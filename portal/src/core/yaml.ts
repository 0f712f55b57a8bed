/** Texts in manifests. JSON is YAML; what has lines is easier to read as a block. */

/** A block of YAML that holds a text as it is. What no block can hold is quoted, as JSON is. */
export function block(text: string, indent: string): string {
  const isPlain = /^\S/.test(text) && !/\n\n$/.test(text) && !/[^\n\t\P{C}]/u.test(text);
  if (!isPlain) return JSON.stringify(text);
  const lines = text.replace(/\n$/, '').split('\n');
  return `|${text.endsWith('\n') ? '' : '-'}\n${lines.map((line) => (line === '' ? '' : indent + line)).join('\n')}`;
}
