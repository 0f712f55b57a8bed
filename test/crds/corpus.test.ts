/** The parity corpus: every manifest in corpus/ gets the verdict that it states. The API server runs the same files. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Document, parseAllDocuments } from 'yaml';
import { type Checked, checkManifest, kinds, wordsReadDifferently } from '../../crds/index.ts';

const corpus = new URL('./corpus/', import.meta.url);
const files = (folder: 'good' | 'bad') => readdirSync(new URL(folder, corpus)).filter((name) => name.endsWith('.yaml'));

/** One document is created; of two, which the file announces with `# update`, the second replaces the first. */
function verdict(folder: 'good' | 'bad', name: string): { text: string; checked: Checked } {
  const text = readFileSync(new URL(`${folder}/${name}`, corpus), 'utf8');
  const documents = parseAllDocuments(text) as Document.Parsed[];
  expect(documents.flatMap((document) => [...document.errors, ...wordsReadDifferently(document)])).toEqual([]);
  expect(documents).toHaveLength(/^# update$/m.test(text) ? 2 : 1);
  const first = checkManifest(documents[0]?.toJS());
  if (documents.length === 1) return { text, checked: first };
  if (!first.ok) throw new Error(`${name}: the stored manifest is itself refused: ${JSON.stringify(first.errors)}`);
  return { text, checked: checkManifest(documents[1]?.toJS(), first.manifest) };
}

test('the corpus is there', () => {
  expect(files('good').length).toBeGreaterThanOrEqual(40);
  expect(files('bad').length).toBeGreaterThanOrEqual(150);
});

test.each(files('good'))('accepts %s', (name) => {
  expect(verdict('good', name).checked).toMatchObject({ ok: true });
});

test.each(files('bad'))('refuses %s', (name) => {
  const { text, checked } = verdict('bad', name);
  const [, pointer, part] = /^# refused: (\S*) (.+)$/m.exec(text) ?? [];
  if (pointer === undefined || part === undefined) throw new Error(`${name} does not say what is refused`);
  if (checked.ok) throw new Error(`${name} was accepted`);
  expect(checked.errors[0]).toEqual({ pointer, detail: expect.stringContaining(part) });
  expect(checked.errors.filter((error) => error.pointer !== pointer)).toEqual([]);
});

test('every rule refuses something in the corpus', () => {
  const details = files('bad').flatMap((name) => {
    const { checked } = verdict('bad', name);
    return checked.ok ? [] : checked.errors.map(({ detail }) => detail);
  });
  const messages = kinds.flatMap(({ rules }) => rules.map(({ message }) => message));
  expect(messages.filter((message) => !details.includes(message))).toEqual([]);
});
