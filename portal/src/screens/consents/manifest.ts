/** A definition as a ConsentDefinition manifest in YAML. */
import type { Tree } from './tree.ts';

/** YAML of JSON values: strings are quoted, texts of many lines stand as blocks. */
function yaml(value: unknown, indent: string): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return ' []';
    return value.map((one) => `\n${indent}- ${yaml(one, `${indent}  `).trimStart()}`).join('');
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, one]) => one !== undefined);
    if (entries.length === 0) return ' {}';
    return entries.map(([name, one]) => `\n${indent}${key(name)}:${yaml(one, `${indent}  `)}`).join('');
  }
  return typeof value === 'string' ? ` ${text(value, indent)}` : ` ${JSON.stringify(value)}`;
}
const key = (name: string) => (/^[A-Za-z]\w*$/.test(name) ? name : JSON.stringify(name));

function text(value: string, indent: string): string {
  const isBlock = value.includes('\n') && /^\S/.test(value) && !/\n\n$/.test(value) && !/[^\n\t\P{C}]/u.test(value);
  if (!isBlock) return JSON.stringify(value);
  const lines = value.replace(/\n$/, '').split('\n');
  return `|${value.endsWith('\n') ? '' : '-'}\n${lines.map((line) => (line === '' ? '' : indent + line)).join('\n')}`;
}

/** @param tree with texts (withTexts) */
export function manifestOf(tenant: string, { config, versions, managedBy }: Tree): string {
  const { archived: _, languageFallback, name, ...attributes } = config;
  const owner = managedBy.split(' ')[1]?.split('/') ?? [];
  const own =
    name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '') || 'consent';
  const manifest = {
    apiVersion: 'accord.dev/v1alpha1',
    kind: 'ConsentDefinition',
    metadata: { name: owner.at(-1) ?? own, namespace: owner.length > 1 ? owner[0] : tenant },
    spec: {
      ...{ tenantRef: { name: tenant }, name, ...attributes },
      versions: versions.map(({ config: { endOfLife, ...version }, documents }) => ({
        ...{ ...version, optInConfig: { type: 'direct' }, endOfLife },
        documents: documents.map((one) => ({ ...one.config, content: contentOf(one.config.content) })),
      })),
      languageFallback,
    },
  };
  return `${yaml(manifest, '').trimStart()}\n`;
}

/** The digest goes with a url only: that of a body is computed. */
const contentOf = (content: Tree['versions'][number]['documents'][number]['config']['content']) =>
  content === undefined || content.url !== undefined ? content : { ...content, digest: undefined };
