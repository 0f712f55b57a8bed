/** Manifests in YAML. JSON is YAML; texts of many lines are easier to read as blocks. */

/** A block of YAML that holds a text as it is. What no block can hold is quoted, as JSON is. */
export function block(text: string, indent: string): string {
  const isPlain = /^\S/.test(text) && !/\n\n$/.test(text) && !/[^\n\t\P{C}]/u.test(text);
  if (!isPlain) return JSON.stringify(text);
  const lines = text.replace(/\n$/, '').split('\n');
  return `|${text.endsWith('\n') ? '' : '-'}\n${lines.map((line) => (line === '' ? '' : indent + line)).join('\n')}`;
}

/** A document of JSON values: strings are quoted, texts of many lines stand as blocks, and what is undefined is left out. */
export const yaml = (document: object): string => `${written(document, '').trimStart()}\n`;

function written(value: unknown, indent: string): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return ' []';
    return value.map((one) => `\n${indent}- ${written(one, `${indent}  `).trimStart()}`).join('');
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, one]) => one !== undefined);
    if (entries.length === 0) return ' {}';
    return entries.map(([name, one]) => `\n${indent}${key(name)}:${written(one, `${indent}  `)}`).join('');
  }
  return typeof value === 'string' && value.includes('\n') ? ` ${block(value, indent)}` : ` ${JSON.stringify(value)}`;
}

const key = (name: string) => (/^[A-Za-z]\w*$/.test(name) ? name : JSON.stringify(name));

/** What the object of a manifest is called in Kubernetes. */
export const objectName = (name: string, otherwise: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '') || otherwise;
