import { existsSync, readFileSync } from 'node:fs';
import { digestFile, digestOfSources } from '../../docs/site/sources.mjs';

export const howToBuildSite = 'npm run docs -- --build';

/** Why the built site cannot be tested; undefined when it can. */
export function whyNoSite(): string | undefined {
  if (!existsSync(digestFile)) return 'the site is not built';
  return readFileSync(digestFile, 'utf8') === digestOfSources() ? undefined : 'the site was built of other pages';
}

/** With TEST_DOCS_SITE=required the tests run, and fail where the site is not built of the pages as they are. */
export const skipsSite = () => process.env.TEST_DOCS_SITE !== 'required' && whyNoSite() !== undefined;
