/** docs/ as a site. The pages stay where they are; what is special to the site is made while it is built. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { inlineSvg, repositoryLinks } from '../markdown.mjs';
import { built, sidebar, staged } from '../pages.mjs';
import { withoutInlineScripts } from '../scripts.mjs';

const { version } = createRequire(import.meta.url)('../../../package.json');

export default {
  title: 'Accord',
  description: 'Authorization, sharing by invitation, and consent: guides and references.',
  lang: 'en',
  base: '/docs/guide/',
  srcDir: staged,
  outDir: built,
  cacheDir: join(import.meta.dirname, '../node_modules/.cache'),
  // Without a style sheet in the page for the moment of the change.
  appearance: { disableTransition: false },
  // A link to nowhere fails the build. Addresses of examples are no links to follow.
  ignoreDeadLinks: [/^https?:\/\/(localhost|127\.0\.0\.1)/],
  // What a page loads is a file: the policy of the server allows no script in a page.
  metaChunk: true,
  transformHtml: withoutInlineScripts,
  markdown: {
    // Pages are Markdown for a code host too: what looks like HTML in them (<name>) is text.
    html: false,
    // Shiki has no grammar of Rego; its keywords, strings and comments are nearly those of Python.
    languageAlias: { rego: 'python', promql: 'sql' },
    config(md) {
      repositoryLinks(md);
      inlineSvg(md);
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: sidebar(),
    outline: { level: [2, 3] },
    nav: [
      { text: 'Start', link: '/share-a-car' },
      { text: 'How to', link: '/how-to' },
      { text: 'Security', link: '/security' },
      { text: version, link: '/changelog' },
    ],
  },
};
