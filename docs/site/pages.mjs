/** Which pages the site has: those of docs/, and a few of other folders, which stay where they are too. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export const root = join(import.meta.dirname, '../..');
/** A copy of the pages under their names in the site: VitePress takes every page of a folder. */
export const staged = join(import.meta.dirname, '.pages');
export const built = join(import.meta.dirname, 'dist');

/** Path in the repository → path in the site. */
const outside = {
  'CHANGELOG.md': 'changelog.md',
  'bench/README.md': 'benchmarks.md',
  'bench/RESULTS.md': 'results.md',
  'charts/accord/README.md': 'chart.md',
  'examples/README.md': 'examples.md',
  'examples/spa/README.md': 'example-spa.md',
  'examples/token-enrichment/README.md': 'example-token-enrichment.md',
  'packages/client/README.md': 'typescript-client.md',
};

const ofDocs = readdirSync(join(root, 'docs'));
const pages = {
  ...Object.fromEntries(
    ofDocs
      .filter((name) => name.endsWith('.md'))
      .map((name) => [`docs/${name}`, name === 'README.md' ? 'index.md' : name]),
  ),
  ...outside,
};
/** References that are no pages; the site has them as files. */
const files = ofDocs.filter((name) => /\.(json|txt|graphql)$/.test(name));

export function stage() {
  rmSync(staged, { recursive: true, force: true });
  mkdirSync(staged);
  for (const [page, name] of Object.entries(pages)) {
    const text = readFileSync(join(root, page), 'utf8');
    writeFileSync(join(staged, name), text.replace(/<!--[\s\S]*?-->\n*/g, ''));
  }
  cpSync(join(root, 'docs/images'), join(staged, 'images'), { recursive: true });
  for (const name of files) cpSync(join(root, 'docs', name), join(staged, 'public', name));
}

/** All files of the repository that the site is made of. */
export function sources() {
  const pictures = readdirSync(join(root, 'docs/images')).map((name) => `docs/images/${name}`);
  return [...Object.keys(pages), ...files.map((name) => `docs/${name}`), ...pictures];
}

/** The path in the repository of what a page refers to. @param page in the site */
export function sourceOf(page, reference) {
  const [source = ''] = Object.entries(pages).find(([, name]) => name === page) ?? [];
  return join(dirname(source), decodeURIComponent(reference.split(/[?#]/)[0]));
}

/** Where the site has a file of the repository, from the site's root; undefined when it has not. */
export function placeOf(file) {
  if (file in pages) return `/${pages[file]}`;
  const isFile = dirname(file) === 'docs' && files.includes(basename(file));
  return isFile ? `/${basename(file)}` : undefined;
}

/** The navigation is the table of contents of docs/README.md, in its order. @throws Error for a page that it does not name */
export function sidebar() {
  const [, ...sections] = readFileSync(join(root, 'docs/README.md'), 'utf8').split(/^## /m);
  const navigation = sections.map((section) => ({
    text: section.slice(0, section.indexOf('\n')),
    items: [...section.matchAll(/^- \[([^\]]+)\]\(([\w-]+)\.md(#[\w-]+)?\)/gm)].map(
      ([, text = '', page = '', anchor = '']) => ({ text, link: `/${page}${anchor}` }),
    ),
  }));
  navigation.at(-1)?.items.push({ text: 'Measurements', link: '/results' });
  const named = new Set(
    navigation.flatMap(({ items }) => items.map(({ link }) => `${link.slice(1).split('#')[0]}.md`)),
  );
  const missing = ofDocs.filter((name) => name.endsWith('.md') && name !== 'README.md' && !named.has(name));
  if (missing.length > 0) throw new Error(`docs/README.md does not name ${missing.join(', ')}`);
  return navigation;
}
