/**
 * The parity corpus: the manifests in corpus/, those in good/ to be accepted and those in bad/ refused. corpus.test.ts asks
 * checkManifest, test/kubernetes/crds.test.ts a real API server.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { type Document, parseAllDocuments } from 'yaml';
import { type Checked, checkManifest, wordsReadDifferently } from '../../crds/index.ts';

const directory = new URL('./corpus/', import.meta.url);

/**
 * One document is created; of two, which the file announces with `# update`, the second replaces the first.
 * @property name with its folder: bad/unknown-kind.yaml
 */
export type Case = { name: string; folder: 'good' | 'bad'; text: string; texts: string[]; documents: object[] };

function read(folder: 'good' | 'bad', file: string): Case {
  const name = `${folder}/${file}`;
  const text = readFileSync(new URL(name, directory), 'utf8');
  const parsed = parseAllDocuments(text) as Document.Parsed[];
  const faults = parsed.flatMap((document) => [...document.errors, ...wordsReadDifferently(document)]);
  if (faults.length > 0) throw new Error(`${name} is not YAML that both read alike: ${faults.join(', ')}`);
  const expected = /^# update$/m.test(text) ? 2 : 1;
  if (parsed.length !== expected) throw new Error(`${name} has ${parsed.length} documents instead of ${expected}`);
  const texts = text.split(/^---$/m).slice(-expected);
  return { name, folder, text, texts, documents: parsed.map((document) => document.toJS() as object) };
}

const cases = (folder: 'good' | 'bad') =>
  readdirSync(new URL(folder, directory))
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => read(folder, file));

export const good = cases('good');
export const bad = cases('bad');
export const corpus = [...good, ...bad];

/** What checkManifest says of the manifest, or of the change. */
export function verdict({ name, documents: [created, changed] }: Case): Checked {
  const first = checkManifest(created);
  if (changed === undefined) return first;
  if (!first.ok) throw new Error(`${name}: the stored manifest is itself refused: ${JSON.stringify(first.errors)}`);
  return checkManifest(changed, first.manifest);
}
